import Foundation
import Glibc

/// The opbench that a program was built with: its version and, if known, its commit.
public struct OpBenchFacts: Codable, Sendable, Equatable {
    /// The version of these sources.
    public static let number = "0.1.0"

    /// The name of the program built from these sources.
    public static let program = "opbench"

    public var version = number
    public var commit: String?

    /// The facts about this program. A program of another package finds the commit in that package's
    /// `Package.resolved`; a package that depends on opbench by path records none.
    public static let own = OpBenchFacts(
        commit: OwnProgram.name == program
            ? BuildDescription.own.commit : OwnProgram.path.flatMap { pinnedCommit(above: $0) })

    /// Maximum depth of a program's file below its package's folder: `.build/refs/programs/<commit>/mine`.
    private static let mostFolders = 6

    /// The commit of opbench in the nearest `Package.resolved` above a file.
    static func pinnedCommit(above path: String) -> String? {
        var folder = URL(filePath: path)
        for _ in 0..<mostFolders {
            folder.deleteLastPathComponent()
            guard let data = try? Data(contentsOf: folder.appending(path: "Package.resolved")) else { continue }
            let pins = (try? JSONDecoder().decode(ResolvedPackages.self, from: data))?.pins
            return pins?.first { $0.identity == program }?.state.revision
        }
        return nil
    }
}

/// SwiftPM's record of a package's dependencies.
private struct ResolvedPackages: Decodable {
    struct Pin: Decodable {
        struct State: Decodable { var revision: String? }

        var identity: String
        var state: State
    }

    var pins: [Pin]
}

/// The program that this process executes.
public enum OwnProgram {
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
    public static let name = path.flatMap { name(ofFile: $0) } ?? OpBenchFacts.program

    /// This process's command line, beginning with the program's name, as recorded in `run.json`.
    public static var arguments: [String] { [name] + CommandLine.arguments.dropFirst() }

    /// - Parameter path: from the system, which appends ` (deleted)` for a removed file.
    static func name(ofFile path: String) -> String? {
        let gone = " (deleted)"
        return path.split(separator: "/").last.map { String($0.hasSuffix(gone) ? $0.dropLast(gone.count) : $0) }
    }
}
