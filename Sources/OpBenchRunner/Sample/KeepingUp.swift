/// Whether a backend kept up with the arrivals of an open loop. Where it does not, operations wait for as long as the round
/// goes on: their latency is the round's length, and nothing of the backend.
struct KeepingUp: Sendable, Equatable {
    private(set) var rounds = 1
    private(set) var overloadedRounds: Int
    /// From the first arrival to the last, in nanoseconds, all rounds together, and what arrived and ended in it.
    private(set) var window: Int64
    private(set) var arrived: Int
    private(set) var ended: Int

    /// A backlog at the end is one of so great a part of the operations, or else of so many: what a queue that keeps up has
    /// now and then, as arrivals come in clusters. Half of it must be there in the middle already, so that a single
    /// stall is none.
    static let backlogPart = 0.05
    static let leastBacklog = 20.0

    /// - Parameters:
    ///   - arrivals: their instants, ascending, in nanoseconds from the first.
    ///   - ends: when the operations ended, from the same instant.
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

    /// Two rates and, where the second stays behind, a flag.
    func report(into report: inout SampleReport) {
        guard window > 0 else { return }
        func perSecond(_ count: Int) -> Double { Double(count) * 1e9 / Double(window) }
        report.add(.arrivalRate, "rate", perSecond(arrived), operations: arrived)
        report.add(.completionRate, "rate", perSecond(ended), operations: ended)
        if isOverloaded { report.flags.append("overloaded") }
    }
}
