import Foundation
import Glibc
import OpBenchModel
import Subprocess

/// Two builds of opbench whose samples are interleaved, block by block.
public struct ComparedBuilds: Sendable, Codable, Equatable {
    public let base: BuildFacts
    public let head: BuildFacts
    /// What the engine of `head` is made worse by.
    public var injected: InjectedDefect

    /// - Parameters:
    ///   - base: the path of a program.
    ///   - head: that of another, or the same once more.
    /// - Throws: `InputError` if one is no opbench that can take samples for this one, or if they differ in what makes
    ///   their figures incomparable.
    public static func examine(
        base: String, head: String, injected: InjectedDefect = InjectedDefect()
    ) async throws -> ComparedBuilds {
        let builds = ComparedBuilds(base: try await .ask(base), head: try await .ask(head), injected: injected)
        if let (what, ofBase, ofHead) = builds.base.difference(from: builds.head) {
            throw InputError(
                file: head, message: "the \(what) is \"\(ofHead)\", that of \(base) is \"\(ofBase)\"",
                remedy: "compare builds of one kind")
        }
        return builds
    }

    /// This program on both sides.
    public static func sameTwice() async throws -> ComparedBuilds {
        try await examine(base: ChildProcess.ownExecutable, head: ChildProcess.ownExecutable)
    }

    func build(of side: Side) -> BuildFacts {
        switch side {
        case .base: base
        case .head: head
        }
    }
}

/// A defect of a known size, given to the engine's samples of the side `head`: by it opbench proves on itself that what
/// got worse is noticed. None, but in such proofs.
public struct InjectedDefect: Sendable, Codable, Equatable {
    /// More work for the same `work_ns`, relative: 0.05 is 5 %.
    public var slowdown: Double
    /// More mallocs, an operation.
    public var allocations: Int

    public init(slowdown: Double = 0, allocations: Int = 0) {
        self.slowdown = slowdown
        self.allocations = allocations
    }

    /// Makes the order for a sample worse, if it is one that the defect is for.
    func spoil(_ request: inout SampleRequest, side: Side) {
        guard side == .head, request.backend == .engine else { return }
        request.kernel.iterationsPerNanosecond *= 1 + slowdown
        if allocations > 0 { request.injectedAllocations = allocations }
    }
}

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
            .path(.init(path)), arguments: .init([SampleChild.describeArgument]), input: .none,
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

/// What a build of opbench answers when another asks what it is.
public struct BuildDescription: Sendable, Codable, Equatable {
    /// Of the orders that samples' processes take, and of their answers. Builds of other versions cannot be compared.
    static let protocolVersion = 1

    var protocolVersion = Self.protocolVersion
    public let allocator: String
    /// `debug` or `release`.
    public let configuration: String
    let compiler: String

    enum CodingKeys: String, CodingKey {
        case protocolVersion = "protocol"
        case allocator, configuration, compiler
    }

    static var own: BuildDescription {
        let host = HostFacts.gather(git: nil)
        return BuildDescription(
            allocator: host.allocator, configuration: host.configuration, compiler: host.compiler)
    }
}
