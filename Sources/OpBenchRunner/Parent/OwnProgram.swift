import Glibc

/// The program that this process executes.
public enum OwnProgram {
    /// Names it even if its file has been replaced.
    static let link = "/proc/self/exe"

    /// Where its file lies, or lay; nil without /proc.
    public static var path: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &buffer, buffer.count - 1)
        guard length > 0 else { return nil }
        return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The name of its file; `opbench` without /proc.
    public static let name = path.flatMap { name(ofFile: $0) } ?? OpBenchFacts.program

    /// What this process was called with, after the program's name, as `run.json` keeps it.
    public static var arguments: [String] { [name] + CommandLine.arguments.dropFirst() }

    /// - Parameter path: as the system tells it, which says of a file that is gone that it is.
    static func name(ofFile path: String) -> String? {
        let gone = " (deleted)"
        return path.split(separator: "/").last.map { String($0.hasSuffix(gone) ? $0.dropLast(gone.count) : $0) }
    }
}
