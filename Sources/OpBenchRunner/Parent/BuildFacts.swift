import CBuild
import Foundation
import Glibc
import OpBenchLaunch
import OpBenchModel

/// A build of opbench, as it tells of itself and as its file looks.
public struct BuildFacts: Sendable, Codable, Equatable {
    public let path: String
    let bytes: Int
    /// Seconds since 1970.
    let modified: Int
    /// The file's SHA-256, 64 hexadecimal digits; nil where it was not asked for, or `sha256sum` is missing.
    public let sha256: String?
    public let description: BuildDescription

    /// Asks a program what it is.
    static func ask(_ program: String) async throws -> BuildFacts {
        guard let (path, facts) = look(at: program) else {
            throw InputError(file: program, message: "there is no such program", remedy: "name a built opbench")
        }
        let result = try? await Program(path, [HiddenArgument.describe]).printed(limit: 1 << 16)
        guard let result, result.isSuccess,
            let description = try? JSONDecoder().decode(
                BuildDescription.self, from: AnswerRecord.json(in: result.bytes)),
            description.protocolVersion == BuildDescription.protocolVersion
        else {
            throw InputError(
                file: program, message: "this is not an opbench that can take samples for this one",
                remedy: "build a version that has `opbench ab`, with scripts/opbench or swift build")
        }
        return BuildFacts(
            path: path, bytes: facts.st_size, modified: facts.st_mtim.tv_sec, sha256: await sha256(of: path),
            description: description)
    }

    /// Whether a program can take samples for this one.
    static func isOpBench(_ program: String) async -> Bool { (try? await ask(program)) != nil }

    /// This program; nil if its file is gone.
    static func own() async -> BuildFacts? {
        guard let (path, facts) = look(at: ChildProcess.ownExecutable) else { return nil }
        return BuildFacts(
            path: path, bytes: facts.st_size, modified: facts.st_mtim.tv_sec, sha256: await ownSHA256.value,
            description: .own)
    }

    /// Taken once a process, since nobody can write to a file that is being executed (`ETXTBSY` of open(2)). By the
    /// number of this process: for the one that reads the file, /proc/self is its own.
    private static let ownSHA256 = Task { await sha256(of: "/proc/\(getpid())/exe") }

    /// Whether the file is still the one of the facts.
    ///
    /// - Throws: `InputError` if it is gone, another one, or nobody knows.
    func checkUnchanged() async throws(InputError) {
        let remedy = "build it again as it was, at its place, or measure again: `opbench ab BASE HEAD FILE…`"
        guard let sha256 else {
            throw InputError(
                file: path, message: "the run does not say which file this was",
                remedy: "measure again, with sha256sum installed")
        }
        guard Self.look(at: path) != nil else {
            throw InputError(file: path, message: "the program of the run is gone", remedy: remedy)
        }
        guard let found = await Self.sha256(of: path) else {
            throw InputError(file: path, message: "cannot be checked", remedy: "install sha256sum, of coreutils")
        }
        if found != sha256 {
            throw InputError(
                file: path, message: "the program has changed since the run: its SHA-256 was \(sha256.prefix(12))…",
                remedy: remedy)
        }
    }

    /// The path of an executable file without symbolic links, and what the system says of it.
    private static func look(at program: String) -> (path: String, facts: stat)? {
        var facts = stat()
        guard stat(program, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, access(program, X_OK) == 0,
            let resolved = realpath(program, nil)
        else { return nil }
        defer { free(resolved) }
        return (String(cString: resolved), facts)
    }

    /// By `sha256sum`, of coreutils: a debug build of our own takes seconds for it.
    private static func sha256(of path: String) async -> String? {
        let result = try? await Program("sha256sum", ["--", path], environment: ToolEnvironment.quiet)
            .printed(limit: 1 << 13)
        guard let result, result.isSuccess else { return nil }
        // A line that begins with a backslash has a name with characters that were escaped.
        let digits = result.text.drop { $0 == "\\" }.prefix(64)
        return digits.utf8.count == 64 && digits.allSatisfy(\.isHexDigit) ? String(digits) : nil
    }

    func difference(from other: BuildFacts) -> (what: String, own: String, others: String)? {
        [
            ("allocator", description.allocator, other.description.allocator),
            ("build", description.configuration, other.description.configuration),
        ].first { $0.1 != $0.2 }
    }
}

/// What a build of opbench answers when another asks what it is.
public struct BuildDescription: Sendable, Codable, Equatable {
    /// Of the orders that samples' processes take, and of their answers. Builds of other versions cannot be compared.
    static let protocolVersion = 1

    var protocolVersion = Self.protocolVersion
    public let allocator: String
    /// `debug` or `release`.
    public let configuration: String
    public let compiler: String
    /// Of the sources that it was built from, as told when it was built, ending in `-dirty` if they differed from it; nil if
    /// nobody told: `scripts/opbench` and `ab --base-ref` do.
    public var commit: String?

    enum CodingKeys: String, CodingKey {
        case protocolVersion = "protocol"
        case allocator, configuration, compiler, commit
    }

    /// Of this program.
    public static let own: BuildDescription = {
        let commit = String(cString: cbuild_commit())
        return BuildDescription(
            allocator: Allocator.name, configuration: HostFacts.configuration, compiler: HostFacts.compiler,
            commit: commit.isEmpty ? nil : commit)
    }()
}
