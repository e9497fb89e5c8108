/// When workers went from one operation to the next without a pause.
struct WorkerGaps {
    /// For each operation, when its worker began the next one, if it went on at once; else its own end.
    let heldUntil: [TraceTime]
    /// Of each operation, the end of the one that its worker executed before; the smallest number if there is none.
    private let previousEnds: [TraceTime]

    /// Of a worker whose sleep is not traced, a gap up to this long is taken for the way to the next operation, in
    /// nanoseconds: waking a thread takes longer.
    static let longestGap: Int64 = 10_000

    init(_ trace: SampleTrace) {
        var heldUntil = trace.operations.map(\.end)
        var previousEnds = [TraceTime](repeating: .min, count: trace.operations.count)
        let parks = Dictionary(
            grouping: trace.threadEvents.lazy.filter { $0.kind == .park }, by: \.thread
        ).mapValues { $0.map(\.time).sorted() }
        let executed = trace.operations.indices.filter {
            trace.operations[$0].wasExecuted && trace.operations[$0].worker != TracedOperation.unknown
        }
        for (worker, indices) in Dictionary(grouping: executed, by: { trace.operations[$0].worker }) {
            let order = indices.sorted {
                (trace.operations[$0].start, trace.operations[$0].end, $0)
                    < (trace.operations[$1].start, trace.operations[$1].end, $1)
            }
            for (before, next) in zip(order, order.dropFirst()) {
                let (end, start) = (trace.operations[before].end, trace.operations[next].start)
                // Operations that end elsewhere overlap on a worker.
                guard end <= start else { continue }
                previousEnds[next] = end
                let goesOn =
                    trace.threadEvents.isEmpty
                    ? start - end <= Self.longestGap : !Self.has(parks[worker] ?? [], from: end, to: start)
                if goesOn { heldUntil[before] = start }
            }
        }
        self.heldUntil = heldUntil
        self.previousEnds = previousEnds
    }

    func previousEnd(of operation: Int) -> TraceTime { previousEnds[operation] }

    /// - Parameter times: sorted.
    private static func has(_ times: [TraceTime], from start: TraceTime, to end: TraceTime) -> Bool {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < start { low = middle + 1 } else { high = middle }
        }
        return low < times.count && times[low] <= end
    }
}
