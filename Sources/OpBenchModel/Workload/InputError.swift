/// Bad input from the user: a workload file, a command-line value, a CSV file. Carries what a person needs to put it
/// right. `opbench` prints it and exits 64.
public struct InputError: Error, Sendable, Hashable {
    /// The file as the user named it, or the option (`--set`).
    public var file: String
    /// The line in that file, from 1; nil where no line is to blame.
    public var line: Int?
    /// The JSON path (`$.parameters.depth[2]`), or `column <name>` in a CSV file; empty where there is none.
    public var path: String
    /// What is wrong.
    public var message: String
    /// What is allowed, or what to do about it.
    public var remedy: String

    public init(file: String, line: Int? = nil, path: String = "", message: String, remedy: String) {
        self.file = file
        self.line = line
        self.path = path
        self.message = message
        self.remedy = remedy
    }
}

extension InputError: CustomStringConvertible {
    /// One line: `file:line: path: message; remedy`.
    public var description: String {
        var place = file
        if let line { place += ":\(line)" }
        if !path.isEmpty { place += ": \(path)" }
        return "\(place): \(message); \(remedy)"
    }
}
