import Foundation

/// The opbench that a program was built with: its version and, if known, its commit.
public struct OpBenchFacts: Codable, Sendable, Equatable {
    /// The version of these sources.
    public static let number = "0.1.0"

    public var version = number
    public var commit: String?

    /// The facts about this program. A program of another package finds the commit in that package's
    /// `Package.resolved`; a package that depends on opbench by path records none.
    public static let own = OpBenchFacts(
        commit: OwnProgram.name == OwnProgram.usualName
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
            return pins?.first { $0.identity == OwnProgram.usualName }?.state.revision
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
