import ArgumentParser

/// A folder that an option names.
enum FolderArgument {
    /// Nothing at all would be the root folder, once a name is put behind it.
    static func check(_ folder: String, option: String) throws {
        if folder.isEmpty { throw ValidationError("\(option) is empty; name a folder, `.` for this one.") }
    }
}
