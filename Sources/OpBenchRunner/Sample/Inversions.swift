/// One operation's way through a queue, for checking the order of starts.
struct OrderedOperation: Sendable {
    /// In nanoseconds of one clock.
    var ready: Int64
    var start: Int64
    var end: Int64
    /// Higher levels start first.
    var level: Int
}

/// Finds the operations that started although a more urgent one was waiting.
///
/// Each start takes the earliest end that no earlier start has taken as the instant at which its slot became free. If
/// there is none, or if the slot was free before the operation was ready, the instant is the operation's own ready
/// time. The start is an inversion if an operation of a higher level was ready before that instant and had not started.
/// Operations are counted, not pairs.
enum Inversions {
    /// For each operation, the index of the one that it overtook: of the highest waiting level, the first that became
    /// ready. Nil if it overtook none. Costs O(n log n).
    static func victims(in operations: [OrderedOperation]) -> [Int?] {
        let byStart = operations.indices.sorted { operations[$0].start < operations[$1].start }
        let ends = operations.map(\.end).sorted()
        var waiting = WaitingByLevel(operations)
        var nextEnd = 0
        var victims = [Int?](repeating: nil, count: operations.count)
        for index in byStart {
            let operation = operations[index]
            var slotFree = min(operation.ready, operation.start)
            if nextEnd < ends.count, ends[nextEnd] <= operation.start {
                slotFree = max(slotFree, ends[nextEnd])
                nextEnd += 1
            }
            waiting.hasStarted(index)
            victims[index] = waiting.first(above: operation.level, readyBefore: slotFree)
        }
        return victims
    }
}

/// The operations that have not started, by level and in the order in which they became ready.
private struct WaitingByLevel {
    private let operations: [OrderedOperation]
    /// The highest level first.
    private var queues: [(level: Int, operations: [Int], next: Int)]
    private var started: [Bool]

    init(_ operations: [OrderedOperation]) {
        self.operations = operations
        started = [Bool](repeating: false, count: operations.count)
        queues = Dictionary(grouping: operations.indices) { operations[$0].level }
            .map { ($0.key, $0.value.sorted { (operations[$0].ready, $0) < (operations[$1].ready, $1) }, 0) }
            .sorted { $0.level > $1.level }
    }

    mutating func hasStarted(_ index: Int) { started[index] = true }

    mutating func first(above level: Int, readyBefore instant: Int64) -> Int? {
        for position in queues.indices {
            if queues[position].level <= level { return nil }
            while queues[position].next < queues[position].operations.count,
                started[queues[position].operations[queues[position].next]]
            {
                queues[position].next += 1
            }
            guard queues[position].next < queues[position].operations.count else { continue }
            let first = queues[position].operations[queues[position].next]
            if operations[first].ready < instant { return first }
        }
        return nil
    }
}
