/// The version of a run's files: which columns they have, and in which units. `run.json` and every CSV file name it as
/// `schema_version`. Files of another version are refused.
public enum SchemaVersion {
    public static let current = "1"

    /// - Throws: `InputError` for a file of another version.
    public static func check(_ text: String, file: String, line: Int? = nil, path: String) throws(InputError) {
        guard text != current else { return }
        throw InputError(
            file: file, line: line, path: path,
            message: "\(JSONText.excerpt(text)) is not the version that this opbench reads, which is \(current)",
            remedy: "read the file with the opbench that wrote it")
    }
}
