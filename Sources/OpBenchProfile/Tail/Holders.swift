import Foundation

/// Operations whose bodies were blocked until another one's ended, as by a lock: an inference from times alone.
///
/// A body counts if it was blocked for three times as long as half of its group are, at least. The other body was there
/// for half of that wait or more, and ended when the wait may have ended, or up to a tenth of it earlier, since a lock is
/// handed from one to the next. Such ends also come by chance. So a group's bodies hold nothing unless they ended so in
/// three cases at least, and three times as often as ends at random moments would. A body that waits so holds nothing.
struct Holders {
    /// For each operation, the one that its body likely waited for: the first of those that waited for one another.
    private(set) var holder: [UInt32]

    static let none = UInt32.max
    /// A body that is blocked for a shorter time waits for nobody, in nanoseconds.
    private static let leastWait: Int64 = 100_000
    private static let unusual: Int64 = 3
    private static let leastCases = 3.0
    private static let leastExcess = 3.0

    private let operations: [TracedOperation]
    private let groups: [Int]
    /// Bodies that take long enough, by their ends.
    private let byEnd: [(end: TraceTime, index: Int)]
    /// For each operation, whether its body was blocked for unusually long.
    private(set) var isLate: [Bool] = []

    /// - Parameters:
    ///   - groups: the group of each operation.
    ///   - members: the executed operations of each group.
    init(_ trace: SampleTrace, groups: [Int], members: [[Int]]) {
        (operations, self.groups) = (trace.operations, groups)
        holder = [UInt32](repeating: Self.none, count: groups.count)
        byEnd = trace.operations.enumerated()
            .filter { $0.element.wasExecuted && $0.element.elapsed >= Self.leastWait / 2 }
            .map { (end: $0.element.end, index: $0.offset) }.sorted { ($0.end, $0.index) < ($1.end, $1.index) }
        let usual = members.map { median(of: $0.map { trace.operations[$0].blocked }) }
        isLate = trace.operations.enumerated().map {
            $1.wasExecuted && $1.blocked >= max(Self.leastWait, Self.unusual * usual[groups[$0]])
        }
        let waiting = byEnd.map(\.index).filter { isLate[$0] && !candidates(for: $0).isEmpty }
        // Those that wait themselves are no culprits.
        var waits = [Bool](repeating: false, count: groups.count)
        for index in waiting { waits[index] = true }
        let lengths = members.map { $0.filter { !waits[$0] }.map { trace.operations[$0].elapsed }.sorted() }
        let elapsed = Double(max(1, trace.elapsed))
        var (cases, byChance) = (members.map { _ in 0.0 }, members.map { _ in 0.0 })
        for index in waiting {
            for group in Set(candidates(for: index).filter { !waits[$0] }.map { groups[$0] }) { cases[group] += 1 }
            for (group, lengths) in lengths.enumerated() {
                let long = lengths.count - lengths.partition { 2 * $0 >= trace.operations[index].blocked }
                byChance[group] += 1 - exp(-Double(long) / elapsed * Double(2 * slack(of: index)))
            }
        }
        let isLikely = members.indices.map { cases[$0] >= max(Self.leastCases, Self.leastExcess * byChance[$0]) }
        for index in waiting {
            let first = candidates(for: index).filter {
                waits[$0] ? holder[$0] != Self.none : isLikely[groups[$0]]
            }.min { (operations[$0].start, $0) < (operations[$1].start, $1) }
            // It ended before this one, so its own holder is known.
            if let first { holder[index] = waits[first] ? holder[first] : UInt32(first) }
        }
    }

    /// The part of a body before its end in which its wait may have ended: it runs on, perhaps by way of the run queue.
    private func slack(of index: Int) -> Int64 {
        operations[index].ownTime + operations[index].knownProcessorWait
            + max(Self.leastWait, operations[index].blocked / 10)
    }

    private func candidates(for index: Int) -> [Int] {
        let body = operations[index]
        let latest = body.end + max(Self.leastWait, body.blocked / 10)
        var found: [Int] = []
        var place = byEnd.partition { $0.end >= body.end - slack(of: index) }
        while place < byEnd.count, byEnd[place].end <= latest {
            let candidate = byEnd[place].index
            let other = operations[candidate]
            // The one that it wakes may end before it.
            let isFirst =
                (other.end, other.start) < (body.end, body.start)
                || other.end - body.end <= other.knownProcessorWait + Self.leastWait
                    && (!isLate[candidate] || other.start < body.start)
            let overlap = min(other.end, body.end) - max(other.start, body.start)
            if candidate != index, isFirst, 2 * overlap >= body.blocked { found.append(candidate) }
            place += 1
        }
        return found
    }
}

/// The lower median; 0 of nothing.
func median(of values: [Int64]) -> Int64 { values.isEmpty ? 0 : values.sorted()[(values.count - 1) / 2] }
