import Foundation
import Glibc

/// The opbench that a program was made with: its version, and its commit as far as anything tells.
public struct OpBenchFacts: Codable, Sendable, Equatable {
    /// Of these sources.
    public static let number = "0.1.0"

    /// The name of the program that these sources make.
    public static let program = "opbench"

    public var version = number
    public var commit: String?

    /// Of this program. One of another package says in its `Package.resolved` which opbench it takes; of a package that takes
    /// opbench by path nothing is known.
    public static let own = OpBenchFacts(
        commit: OwnProgram.name == program
            ? BuildDescription.own.commit : OwnProgram.path.flatMap { pinnedCommit(above: $0) })

    /// From a program's file to its package's folder, at most: `.build/refs/programs/<commit>/mine`.
    private static let mostFolders = 6

    /// The commit of opbench in the nearest `Package.resolved` in the folders above a file.
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

/// What SwiftPM writes down of the packages that a package takes.
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
