import OpBenchModel

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

    /// The commits that they were built from, by their ids; nil unless both tell and had no changes.
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

/// A defect of a known size, given to the samples of the side `head`, of the backends that the program is about: by it opbench
/// proves on itself that what got worse is noticed, and its user sees a gate fail. None, unless asked for.
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
        guard side == .head, request.backend.isOwn else { return }
        request.kernel.iterationsPerNanosecond *= 1 + slowdown
        if allocations > 0 { request.injectedAllocations = allocations }
    }
}
