import Foundation
import Glibc
import OpBenchModel
import Subprocess

/// A build of opbench, as it tells of itself and as its file looks.
public struct BuildFacts: Sendable, Codable, Equatable {
    public let path: String
    let bytes: Int
    /// Seconds since 1970.
    let modified: Int
    public let description: BuildDescription

    /// Asks a program what it is.
    static func ask(_ program: String) async throws -> BuildFacts {
        var facts = stat()
        guard stat(program, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, access(program, X_OK) == 0,
            let resolved = realpath(program, nil)
        else {
            throw InputError(file: program, message: "there is no such program", remedy: "name a built opbench")
        }
        defer { free(resolved) }
        let path = String(cString: resolved)
        let result = try? await Subprocess.run(
            .path(.init(path)), arguments: .init([HiddenArgument.describe]), input: .none,
            output: .string(limit: 1 << 16), error: .discarded)
        guard let result, result.terminationStatus.isSuccess,
            let description = try? JSONDecoder().decode(
                BuildDescription.self, from: Data(result.standardOutput.utf8)),
            description.protocolVersion == BuildDescription.protocolVersion
        else {
            throw InputError(
                file: program, message: "this is not an opbench that can take samples for this one",
                remedy: "build a version that has `opbench ab`, with scripts/opbench or swift build")
        }
        return BuildFacts(
            path: path, bytes: facts.st_size, modified: facts.st_mtim.tv_sec, description: description)
    }

    func difference(from other: BuildFacts) -> (what: String, own: String, others: String)? {
        [
            ("allocator", description.allocator, other.description.allocator),
            ("build", description.configuration, other.description.configuration),
        ].first { $0.1 != $0.2 }
    }
}
