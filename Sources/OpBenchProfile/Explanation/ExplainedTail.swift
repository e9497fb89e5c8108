import OpBenchModel

/// The change of the slowest 1 % of the operations of one class, from the traces of both sides.
///
/// Times are in nanoseconds per slow operation; see `Tails`.
public struct ExplainedTail: Sendable {
    /// The group; empty if there is one alone.
    public let name: String
    /// From submission to end.
    public let latency: Change
    /// The reasons that changed significantly, first those that changed most in the latency's direction.
    public private(set) var reasons: [Change]
    /// The first culprit of most turns on the side with the longer latency; nil if they have none in common.
    public private(set) var culprit: CommonCulprit?

    /// A culprit that several turns have in common.
    public struct CommonCulprit: Equatable, Sendable {
        public var name: String
        /// The median of its delays, in nanoseconds per slow operation.
        public var delay: Double
        /// The number of turns in which it is the first.
        public var turns: Int
        /// The number of all turns.
        public var allTurns: Int
    }

    /// The least part of the latency's change that is reported of a reason.
    private static let leastShare = 0.05

    /// The groups whose slow operations changed significantly, the greatest change first.
    ///
    /// - Parameters:
    ///   - base: the tails of each turn; empty for a turn without a trace.
    static func changes(_ base: [[Tail]], _ head: [[Tail]], by test: ChanceTest) -> [ExplainedTail] {
        var names: [String] = []
        for name in (base + head).joined().map(\.name) where !names.contains(name) { names.append(name) }
        let pairs = names.compactMap { name -> (base: [Tail], head: [Tail])? in
            func own(_ side: [[Tail]]) -> [Tail] { side.compactMap { $0.first { $0.name == name } } }
            let pair = (base: own(base), head: own(head))
            return pair.base.isEmpty || pair.head.isEmpty ? nil : pair
        }
        let latencies = pairs.map { pair in
            Change(
                Tail.words(of: pair.base[0].name), base: pair.base.map(\.mean), head: pair.head.map(\.mean),
                by: test)
        }
        return zip(pairs, test.tested(latencies)).filter { $1.isSure }
            .map { ExplainedTail($0.base, $0.head, $1, by: test) }
            .sorted { $0.latency.difference.magnitude > $1.latency.difference.magnitude }
    }

    private init(_ base: [Tail], _ head: [Tail], _ latency: Change, by test: ChanceTest) {
        name = base[0].name
        self.latency = latency
        let least = latency.difference.magnitude * Self.leastShare
        let names = WaitReason.allCases.map(\.words) + [Tails.body]
        let changes = names.compactMap { name in
            Change(
                name, base: base.map { $0.mean(of: name) }, head: head.map { $0.mean(of: name) }, from: least, by: test)
        }
        let sign = latency.difference >= 0 ? 1.0 : -1.0
        reasons = test.tested(changes).filter { $0.isSure(of: least) }
            .sorted { (-sign * $0.difference, $0.name) < (-sign * $1.difference, $1.name) }
        culprit = Self.culprit(of: sign > 0 ? head : base)
    }

    private static func culprit(of turns: [Tail]) -> CommonCulprit? {
        let first = Dictionary(
            grouping: turns.compactMap { tail in tail.culprits.first.map { ($0.name, $0.time, tail.slow) } }, by: \.0)
        let most = first.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
        guard let most, 2 * most.value.count >= turns.count else { return nil }
        return CommonCulprit(
            name: most.key, delay: median(most.value.map { Double($0.1) / Double(max(1, $0.2)) }) ?? 0,
            turns: most.value.count, allTurns: turns.count)
    }
}

extension Tail {
    /// Nanoseconds per slow operation.
    var mean: Double { Double(slowLatency) / Double(max(1, slow)) }

    fileprivate func mean(of reason: String) -> Double {
        Double(reasons.first { $0.name == reason }?.time ?? 0) / Double(max(1, slow))
    }
}

extension ExplainedTail {
    /// The culprit in words; nil without one.
    var culpritWords: String? {
        culprit.map {
            "\($0.name), \(Quantities.time($0.delay)), in \($0.turns) of \(counted($0.allTurns, "turn"))"
        }
    }
}
