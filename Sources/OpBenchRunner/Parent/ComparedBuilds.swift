import OpBenchModel

/// Two builds of opbench, whose samples are interleaved, block by block.
public struct ComparedBuilds: Sendable, Codable, Equatable {
    public internal(set) var base: BuildFacts
    public internal(set) var head: BuildFacts
    /// The defect injected into the engine of `head`.
    public var injected: InjectedDefect

    /// - Parameters:
    ///   - base: the path of a program.
    ///   - head: the path of another program, or of the same.
    /// - Throws: `InputError` if a program is not an opbench that can take samples for this one, or if the builds are
    ///   not comparable.
    public static func examine(
        base: String, head: String, injected: InjectedDefect = InjectedDefect()
    ) async throws -> ComparedBuilds {
        try checked(ComparedBuilds(base: try await .ask(base), head: try await .ask(head), injected: injected))
    }

    /// Two commits' programs, with their layouts.
    ///
    /// - Throws: as the other.
    public static func examine(
        base: BuiltCommit, head: BuiltCommit, injected: InjectedDefect = InjectedDefect()
    ) async throws -> ComparedBuilds {
        try checked(
            ComparedBuilds(base: try await .examine(base), head: try await .examine(head), injected: injected))
    }

    private static func checked(_ builds: ComparedBuilds) throws(InputError) -> ComparedBuilds {
        if let (what, ofBase, ofHead) = builds.base.difference(from: builds.head) {
            throw InputError(
                file: builds.head.path,
                message: "the \(what) is \"\(ofHead)\", but \(builds.base.path) has \"\(ofBase)\"",
                remedy: "compare builds of one kind")
        }
        return builds
    }

    /// The ids of the commits that they were built from; nil unless both builds record one and had no changes.
    public var commits: (base: String, head: String)? {
        guard let base = base.description.commit, let head = head.description.commit,
            [base, head].allSatisfy({ $0.utf8.count >= 40 && $0.allSatisfy(\.isHexDigit) })
        else { return nil }
        return (base, head)
    }

    func build(of side: Side) -> BuildFacts {
        switch side {
        case .base: base
        case .head: head
        }
    }
}

/// The names of the commits that two builds were made from, as the user gave them.
public struct ComparedRefs: Codable, Sendable {
    public let base: String
    public let head: String

    public init(base: String, head: String) { (self.base, self.head) = (base, head) }
}

/// A defect of a known size, injected into the `head` samples of the backends under test. opbench proves with it that a
/// regression is noticed, and users can see a gate fail. By default there is no defect.
public struct InjectedDefect: Sendable, Codable, Equatable {
    /// Relative increase of the work for the same `work_ns`: 0.05 is 5 %.
    public var slowdown: Double
    /// Additional mallocs per operation.
    public var allocations: Int

    public init(slowdown: Double = 0, allocations: Int = 0) {
        self.slowdown = slowdown
        self.allocations = allocations
    }

    /// Adds the defect to the request of a sample that it applies to.
    func spoil(_ request: inout SampleRequest, side: Side) {
        guard side == .head, request.backend.isOwn else { return }
        request.kernel.iterationsPerNanosecond *= 1 + slowdown
        if allocations > 0 { request.injectedAllocations = allocations }
    }
}
