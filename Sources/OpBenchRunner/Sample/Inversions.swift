/// One operation as it went through a queue, for the judgement of the order.
struct OperationTrace: Sendable {
    /// Nanoseconds of one clock.
    var ready: Int64
    var start: Int64
    var end: Int64
    /// Higher starts first.
    var level: Int
}

/// Finds the operations that started although a more urgent one was waiting.
///
/// Each start takes the earliest end not yet taken by an earlier start as the instant at which its slot became free; if
/// there is none, or the slot had been free before the operation was ready, its own ready time is the instant. The start
/// is an inversion if an operation of a higher level was ready before that instant and had not started. Operations are
/// counted, not pairs.
enum Inversions {
    /// For each operation whether it started past a more urgent one. Costs O(n log n).
    static func find(in traces: [OperationTrace]) -> [Bool] {
        let byStart = traces.indices.sorted { traces[$0].start < traces[$1].start }
        let ends = traces.map(\.end).sorted()
        var waiting = WaitingByLevel(traces)
        var nextEnd = 0
        var result = [Bool](repeating: false, count: traces.count)
        for index in byStart {
            let trace = traces[index]
            var slotFree = min(trace.ready, trace.start)
            if nextEnd < ends.count, ends[nextEnd] <= trace.start {
                slotFree = max(slotFree, ends[nextEnd])
                nextEnd += 1
            }
            waiting.hasStarted(index)
            if let earliest = waiting.earliestReady(above: trace.level) { result[index] = earliest < slotFree }
        }
        return result
    }
}

/// The operations that have not started, by level and in order of becoming ready.
private struct WaitingByLevel {
    private let traces: [OperationTrace]
    private var queues: [(level: Int, operations: [Int], next: Int)]
    private var started: [Bool]

    init(_ traces: [OperationTrace]) {
        self.traces = traces
        started = [Bool](repeating: false, count: traces.count)
        queues = Dictionary(grouping: traces.indices) { traces[$0].level }
            .map { ($0.key, $0.value.sorted { traces[$0].ready < traces[$1].ready }, 0) }
            .sorted { $0.level < $1.level }
    }

    mutating func hasStarted(_ index: Int) { started[index] = true }

    mutating func earliestReady(above level: Int) -> Int64? {
        var earliest: Int64?
        for position in queues.indices where queues[position].level > level {
            while queues[position].next < queues[position].operations.count,
                started[queues[position].operations[queues[position].next]]
            {
                queues[position].next += 1
            }
            guard queues[position].next < queues[position].operations.count else { continue }
            let ready = traces[queues[position].operations[queues[position].next]].ready
            earliest = min(earliest ?? ready, ready)
        }
        return earliest
    }
}
