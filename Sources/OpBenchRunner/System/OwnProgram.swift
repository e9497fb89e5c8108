import Foundation
import Glibc

/// The program that this process executes.
public enum OwnProgram {
    /// The name of the program built from these sources.
    public static let usualName = "opbench"

    /// A link to the program, valid even if its file has been replaced.
    static let link = "/proc/self/exe"

    /// The path of its file, which may have been removed; nil without /proc.
    public static var path: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &buffer, buffer.count - 1)
        guard length > 0 else { return nil }
        return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The name of its file; `opbench` without /proc.
    public static let name = path.flatMap { name(ofFile: $0) } ?? usualName

    /// This process's command line, beginning with the program's name, as recorded in `run.json`.
    public static var arguments: [String] { [name] + CommandLine.arguments.dropFirst() }

    /// - Parameter path: from the system, which appends ` (deleted)` for a removed file.
    static func name(ofFile path: String) -> String? {
        let gone = " (deleted)"
        return path.split(separator: "/").last.map { String($0.hasSuffix(gone) ? $0.dropLast(gone.count) : $0) }
    }
}
