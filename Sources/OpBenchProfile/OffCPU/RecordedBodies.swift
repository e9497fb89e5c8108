/// The bodies of operations in which a program's threads were, from its recording.
public struct RecordedBodies: Sendable {
    /// For each thread, the group of the innermost body from some time on; nil outside of bodies.
    private var changes: [Int32: [(time: TraceTime, group: Int?)]] = [:]
    private let names: [String]
    private let clockStart: Int64

    public init(_ recording: Recording) {
        let trace = recording.trace
        let groups = Groups(trace)
        (names, clockStart) = (groups.names, recording.clockStart)
        let executed = trace.operations.indices.filter {
            let operation = trace.operations[$0]
            return operation.wasExecuted && operation.start < operation.end && operation.worker < trace.threads.count
        }
        let lives = Dictionary(
            grouping: trace.threadEvents.lazy.filter { [.begin, .end].contains($0.kind) }, by: \.thread)
        for (worker, indices) in Dictionary(grouping: executed, by: { trace.operations[$0].worker }) {
            // At one time, ends come first. A body that ends on another thread may outlive the one on which it began,
            // whose id a later thread may have.
            let steps =
                indices.flatMap { index in
                    [(trace.operations[index].start, 2, index), (trace.operations[index].end, 0, index)]
                } + (lives[worker] ?? []).map { ($0.time, 1, 0) }
            var open: [Int] = []
            changes[trace.threads[Int(worker)].id] = steps.sorted { $0 < $1 }.map { time, order, index in
                switch order {
                case 0: open.removeAll { $0 == index }
                case 1: open = []
                default: open.append(index)
                }
                return (time, open.last.map { groups.ofOperation[$0] })
            }
        }
    }

    /// Whether a thread was in any body.
    func covers(_ thread: Int32) -> Bool { changes[thread] != nil }

    /// The group of the operation in whose body a thread was.
    ///
    /// - Parameter time: nanoseconds of CLOCK_MONOTONIC.
    func group(of thread: Int32, at time: Int64) -> String? {
        guard let changes = changes[thread] else { return nil }
        let next = changes.partition { $0.time > time &- clockStart }
        return next > 0 ? changes[next - 1].group.map { names[$0] } : nil
    }
}
