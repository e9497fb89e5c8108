import CBuild
import CLinuxMeasure
import Foundation
import Glibc
import OpBenchBackends
import OpBenchLaunch
import OpBenchModel

/// A build of opbench: its own description, and its file's path, size and checksum.
public struct BuildFacts: Sendable, Codable, Equatable {
    public let path: String
    let bytes: Int
    /// Seconds since 1970.
    let modified: Int
    /// The file's SHA-256, 64 hexadecimal digits; nil if it was not computed, or `sha256sum` is missing.
    public let sha256: String?
    public let description: BuildDescription
    /// The same program linked in other layouts, whose samples these take instead; nil without.
    public internal(set) var layouts: [ProgramLayout]?

    /// The program that takes the samples of a block: the layouts take turns.
    func program(ofBlock block: Int) -> (path: String, layout: Int?) {
        guard let layouts, !layouts.isEmpty else { return (path, nil) }
        let layout = layouts[block % layouts.count]
        return (layout.path, layout.seed)
    }

    /// A name that no other program has: its checksum, or its size and time where that was not computed.
    var identity: String { sha256.map { String($0.prefix(16)) } ?? "\(bytes) bytes of \(modified)" }

    /// Runs a program and reads its description.
    ///
    /// - Parameter seconds: the time that it has to answer.
    /// - Throws: `InputError` if it is not an opbench that can take samples for this one; `CancellationError`.
    static func ask(_ program: String, seconds: Double = Program.secondsToAnswer) async throws -> BuildFacts {
        guard let (path, facts) = look(at: program) else {
            throw InputError(file: program, message: "there is no such program", remedy: "name a built opbench")
        }
        let result: Program.Printed?
        do {
            result = try await Program(path, [HiddenArgument.describe], hasOwnGroup: true)
                .printed(limit: 1 << 16, seconds: seconds)
        } catch is LaunchError {
            result = nil
        }
        guard let result, result.isSuccess,
            let description = try? JSONDecoder().decode(
                BuildDescription.self, from: AnswerRecord.json(in: result.bytes)),
            description.protocolVersion == BuildDescription.protocolVersion
        else {
            let lack = result?.ending == .timedOut ? "; it gave no answer in \(FigureText.write(seconds)) s" : ""
            throw InputError(
                file: program, message: "this is not an opbench that can take samples for this one" + lack,
                remedy: "build a version that has `opbench ab`, with scripts/opbench or swift build")
        }
        return BuildFacts(
            path: path, bytes: facts.st_size, modified: facts.st_mtim.tv_sec, sha256: await sha256(of: path),
            description: description)
    }

    /// Whether a program can take samples for this one.
    static func isOpBench(_ program: String) async throws -> Bool {
        do {
            _ = try await ask(program)
            return true
        } catch is InputError {
            return false
        }
    }

    /// This program; nil if its file is gone.
    static func own() async -> BuildFacts? {
        guard let (path, facts) = look(at: ChildProcess.ownExecutable) else { return nil }
        return BuildFacts(
            path: path, bytes: facts.st_size, modified: facts.st_mtim.tv_sec, sha256: await ownSHA256.value,
            description: .own)
    }

    /// Computed once per process, since nobody can write to a file that is being executed (`ETXTBSY` of open(2)). The
    /// path has this process's number: `sha256sum` would find itself in /proc/self.
    private static let ownSHA256 = Task { await sha256(of: "/proc/\(getpid())/exe") }

    /// Checks that the file is still the recorded one.
    ///
    /// - Throws: `InputError` if it is missing or has changed, or if that cannot be determined.
    func checkUnchanged() async throws(InputError) {
        let remedy = "rebuild the same program at this path, or measure again"
        guard let sha256 else {
            throw InputError(
                file: path, message: "the run does not record this file's checksum",
                remedy: "measure again, with sha256sum installed")
        }
        guard Self.look(at: path) != nil else {
            throw InputError(file: path, message: "the program that took the samples is missing", remedy: remedy)
        }
        guard let found = await Self.sha256(of: path) else {
            throw InputError(
                file: path, message: "its checksum cannot be computed", remedy: "install sha256sum (in coreutils)")
        }
        if found != sha256 {
            throw InputError(
                file: path, message: "the program has changed since the run: its SHA-256 was \(sha256.prefix(12))…",
                remedy: remedy)
        }
    }

    /// The path of an executable file without symbolic links, and its status.
    private static func look(at program: String) -> (path: String, facts: stat)? {
        var facts = stat()
        guard stat(program, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, access(program, X_OK) == 0,
            let resolved = realpath(program, nil)
        else { return nil }
        defer { free(resolved) }
        return (String(cString: resolved), facts)
    }

    /// Runs `sha256sum` of coreutils, because hashing in our own debug build takes seconds.
    private static func sha256(of path: String) async -> String? {
        let result = try? await Program("sha256sum", ["--", path], environment: ToolEnvironment.quiet)
            .printed(limit: 1 << 13)
        guard let result, result.isSuccess else { return nil }
        // `sha256sum` begins a line with a backslash if it escaped characters of the name.
        let digits = result.text.drop { $0 == "\\" }.prefix(64)
        return digits.utf8.count == 64 && digits.allSatisfy(\.isHexDigit) ? String(digits) : nil
    }

    /// A commit's program, with the layouts that were linked of it.
    ///
    /// - Throws: `InputError` if it is not an opbench that can take samples for this one.
    public static func examine(_ built: BuiltCommit) async throws -> BuildFacts {
        var facts = try await ask(built.program)
        facts.layouts = built.layouts.isEmpty ? nil : built.layouts
        return facts
    }

    func difference(from other: BuildFacts) -> (what: String, own: String, others: String)? {
        [
            ("allocator", description.allocator, other.description.allocator),
            ("build", description.configuration, other.description.configuration),
        ].first { $0.1 != $0.2 }
    }
}

/// The description that a build of opbench prints for another build.
public struct BuildDescription: Sendable, Codable, Equatable {
    /// Version of the requests to sample processes and of their answers. Builds with different versions cannot be
    /// compared.
    static let protocolVersion = 1

    var protocolVersion = Self.protocolVersion
    public let allocator: String
    /// `debug` or `release`.
    public let configuration: String
    public let compiler: String
    /// The commit of the sources, ending in `-dirty` if they differed from it. `scripts/opbench` and `ab --base-ref`
    /// set it at build time; nil without it.
    public var commit: String?
    /// The version of oneTBB, if the build has it.
    public var oneTBB: String?
    /// See `LoadedLibraries`; nil if the build does not report them.
    var libraries: [String: String]?

    enum CodingKeys: String, CodingKey {
        case protocolVersion = "protocol"
        case oneTBB = "onetbb"
        case allocator, configuration, compiler, commit, libraries
    }

    /// The facts around the code that belong to a build.
    public var surroundings: Surroundings {
        var facts = Surroundings([.compiler: compiler, .oneTBB: oneTBB])
        for (name, digest) in libraries ?? [:] { facts[.libraries, name] = digest }
        return facts
    }

    /// The description of this program.
    public static let own: BuildDescription = {
        let commit = String(cString: cbuild_commit())
        return BuildDescription(
            allocator: Allocator.name, configuration: ownConfiguration, compiler: ownCompiler,
            commit: commit.isEmpty ? nil : commit, oneTBB: OneTBBBackend.version, libraries: LoadedLibraries.read())
    }()

    private static var ownCompiler: String {
        #if compiler(>=6.4)
            let swift = "Swift 6.4 or later"
        #elseif compiler(>=6.3)
            let swift = "Swift 6.3"
        #else
            let swift = "Swift 6.2"
        #endif
        return "\(swift); C: \(String(cString: clinux_compiler()))"
    }

    private static var ownConfiguration: String {
        #if DEBUG
            return "debug"
        #else
            return "release"
        #endif
    }
}
