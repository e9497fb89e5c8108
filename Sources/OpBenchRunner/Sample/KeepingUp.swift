/// Whether a backend kept up with the arrivals of an open loop. If it does not, operations wait for as long as the
/// round lasts: their latency is the round's length and says nothing about the backend.
struct KeepingUp: Sendable, Equatable {
    private(set) var rounds = 1
    private(set) var overloadedRounds: Int
    /// The time from the first arrival to the last, in nanoseconds, over all rounds, and the operations that arrived
    /// and ended in it.
    private(set) var window: Int64
    private(set) var arrived: Int
    private(set) var ended: Int

    /// The backlog at the end that counts: this part of the operations, and at least this many, since a queue that
    /// keeps up has some now and then, when arrivals come in clusters. Half of it must be there in the middle already,
    /// so that a single stall does not count.
    static let backlogPart = 0.05
    static let leastBacklog = 20.0

    /// - Parameters:
    ///   - arrivals: the instants of arrival, ascending, in nanoseconds from the first.
    ///   - ends: the instants at which the operations ended, from the same origin.
    init(arrivals: [Int64], ends: [Int64]) {
        let last = arrivals.last ?? 0
        func count(until instant: Int64) -> (arrived: Int, ended: Int) {
            (arrivals.count { $0 < instant }, ends.count { $0 <= instant })
        }
        let (middle, end) = (count(until: last / 2), count(until: last))
        let bound = max(Self.backlogPart * Double(arrivals.count), Self.leastBacklog)
        let isOverloaded =
            Double(end.arrived - end.ended) > bound && Double(middle.arrived - middle.ended) > bound / 2
        overloadedRounds = isOverloaded ? 1 : 0
        (window, arrived, ended) = (last, end.arrived, end.ended)
    }

    func merged(with other: KeepingUp) -> KeepingUp {
        var sum = self
        sum.rounds += other.rounds
        sum.overloadedRounds += other.overloadedRounds
        sum.window += other.window
        sum.arrived += other.arrived
        sum.ended += other.ended
        return sum
    }

    /// Whether most rounds were overloaded.
    var isOverloaded: Bool { 2 * overloadedRounds > rounds }

    /// Reports two rates, and a flag if most rounds were overloaded.
    func report(into report: inout SampleReport) {
        guard window > 0 else { return }
        func perSecond(_ count: Int) -> Double { Double(count) * 1e9 / Double(window) }
        report.add(.arrivalRate, "rate", perSecond(arrived), operations: arrived)
        report.add(.completionRate, "rate", perSecond(ended), operations: ended)
        if isOverloaded { report.flags.append("overloaded") }
    }
}
