import OpBenchModel

@testable import OpBenchProfile

/// Traces whose figures are computed by hand.
enum Fixture {
    static func trace(
        workers: Int, limits: [Int?] = [nil], _ operations: [TracedOperation], dependencies: [(UInt32, UInt32)] = []
    ) -> SampleTrace {
        var trace = SampleTrace(workerCount: workers)
        trace.title = "fixture"
        trace.queues = limits.enumerated().map { SampleTrace.Queue(name: "queue \($0)", limit: $1) }
        trace.classes = ["operation"]
        trace.operations = operations
        trace.dependencies = dependencies.map { TracedDependency($0, before: $1) }
        trace.stop = operations.map(\.end).filter { $0 != .absent }.max() ?? 0
        return trace
    }

    /// A, then B, then C, with 2 ns to wake up and once 1 ns to see that a dependency has ended.
    static let chain = trace(
        workers: 2,
        [
            TracedOperation(submit: 0, start: 0, end: 10),
            TracedOperation(submit: 0, ready: 10, start: 12, end: 22),
            TracedOperation(submit: 0, ready: 23, start: 25, end: 35),
        ], dependencies: [(0, 1), (1, 2)])

    /// The same with planned bodies of 10, 4 and 7 ns, the second in the run queue for 6 ns.
    static var disturbedChain: SampleTrace {
        var trace = chain
        for (index, planned) in [10, 4, 7].enumerated() { trace.operations[index].planned = Int64(planned) }
        (trace.operations[1].offProcessor, trace.operations[1].processorWait) = (6, 6)
        return trace
    }

    /// A, then B of 20 ns parallel to C of 10, then D.
    static let diamond = trace(
        workers: 2,
        [
            TracedOperation(submit: 0, start: 0, end: 10),
            TracedOperation(submit: 0, ready: 10, start: 10, end: 30),
            TracedOperation(submit: 0, ready: 10, start: 10, end: 20),
            TracedOperation(submit: 0, ready: 30, start: 30, end: 35),
        ], dependencies: [(0, 1), (0, 2), (1, 3), (2, 3)])

    /// Three operations in sequence in spite of two workers; 2 ns pass before the second.
    static let limitOne = trace(
        workers: 2, limits: [1],
        [
            TracedOperation(submit: 0, start: 0, end: 10),
            TracedOperation(submit: 0, start: 12, end: 22),
            TracedOperation(submit: 0, start: 22, end: 32),
        ])

    /// One worker, or a limit of 1: an urgent operation arrives at 1, while the first runs, and overtakes the other.
    static func twoPriorities(limit: Int?) -> SampleTrace {
        trace(
            workers: limit == nil ? 1 : 4, limits: [limit],
            [
                TracedOperation(submit: 0, start: 0, end: 10),
                TracedOperation(submit: 0, start: 20, end: 30),
                TracedOperation(submit: 1, start: 10, end: 20, priority: 4),
            ])
    }

    /// The same, but the urgent one must wait for the other.
    static let inversion = trace(
        workers: 1,
        [
            TracedOperation(submit: 0, start: 0, end: 10),
            TracedOperation(submit: 0, start: 10, end: 20),
            TracedOperation(submit: 1, start: 20, end: 30, priority: 4),
        ])

    /// One worker; the queue is suspended from 5 to 25.
    static var suspension: SampleTrace {
        var trace = trace(
            workers: 1,
            [TracedOperation(submit: 0, start: 0, end: 10), TracedOperation(submit: 0, start: 27, end: 30)])
        trace.spans = [TracedSpan(kind: .suspension, queue: 0, start: 5, end: 25)]
        return trace
    }

    /// Two operations, a barrier, and one after it.
    static var barrier: SampleTrace {
        var trace = trace(
            workers: 2,
            [
                TracedOperation(submit: 0, start: 0, end: 10),
                TracedOperation(submit: 0, start: 0, end: 20),
                TracedOperation(submit: 1, start: 21, end: 31),
                TracedOperation(submit: 2, start: 31, end: 41),
            ])
        trace.spans = [TracedSpan(kind: .barrier, queue: 0, start: 1, end: 31, operation: 2)]
        return trace
    }

    /// Each submits the next: A after 4 of its 10 ns, B in its completion block, 1 ns after its end; on one worker.
    static var refill: SampleTrace {
        var trace = trace(
            workers: 2,
            [
                TracedOperation(submit: 0, start: 0, end: 10, notified: 11, worker: 0, submitter: 1),
                TracedOperation(submit: 4, start: 12, end: 20, notified: 23, worker: 0, submitter: 0),
                TracedOperation(submit: 21, start: 25, end: 30, worker: 0, submitter: 0),
            ])
        trace.threads = [
            SampleTrace.Thread(name: "worker", role: .worker, id: 1),
            SampleTrace.Thread(name: "submitter", role: .submitter, id: 2),
        ]
        return trace
    }

    /// A small trace with every kind of record.
    static var everything: SampleTrace {
        var trace = barrier
        trace.title = "all <&\"'>"
        trace.processID = 7
        trace.threads = [
            SampleTrace.Thread(name: "engine normal 1", role: .worker, id: 11),
            SampleTrace.Thread(name: "engine normal 2", role: .worker, id: 12),
            SampleTrace.Thread(name: "submitter 1", role: .submitter, id: 13),
        ]
        trace.classes = ["small", "größer"]
        for index in trace.operations.indices {
            trace.operations[index].worker = UInt16(index % 2)
            trace.operations[index].submitter = 2
            trace.operations[index].operationClass = UInt8(index % 2)
            trace.operations[index].notified = trace.operations[index].end + 1
            trace.operations[index].offProcessor = Int64(index)
            trace.operations[index].processorWait = index == 1 ? .absent : Int64(index / 2)
            trace.operations[index].planned = 10
        }
        // Cancelled, and never started.
        trace.operations.append(TracedOperation(submit: 3, start: .absent, end: 5, submitter: 2))
        trace.spans.append(TracedSpan(kind: .suspension, queue: 0, start: 40, end: .absent))
        trace.dependencies = [TracedDependency(0, before: 2), TracedDependency(4, before: 3)]
        trace.threadEvents = [
            TracedThreadEvent(time: -5, thread: 0, kind: .begin),
            TracedThreadEvent(time: -4, thread: 1, kind: .begin),
            TracedThreadEvent(time: 0, thread: 0, kind: .leaseTaken, other: 0),
            TracedThreadEvent(time: 11, thread: 0, kind: .park),
            TracedThreadEvent(time: 20, thread: 1, kind: .wake, other: 0),
            TracedThreadEvent(time: 21, thread: 0, kind: .unpark, other: 1),
            TracedThreadEvent(time: 22, thread: 0, kind: .growth),
            TracedThreadEvent(time: 24, thread: 0, kind: .shrinkage),
            TracedThreadEvent(time: 25, thread: 2, kind: .wake, other: 1),
            TracedThreadEvent(time: 32, thread: 0, kind: .leaseGivenUp, other: 0),
            TracedThreadEvent(time: 33, thread: 0, kind: .park),
            TracedThreadEvent(time: 45, thread: 1, kind: .end),
        ]
        trace.waits = [TracedWait(start: 19, end: 21, thread: 0), TracedWait(start: 30, end: 31, thread: 1)]
        trace.stop = 45
        return trace
    }
}

extension WaitSplit {
    /// The nonzero parts.
    var parts: [WaitReason: Int64] {
        WaitReason.allCases.reduce(into: [:]) { parts, reason in
            if self[reason] != 0 { parts[reason] = self[reason] }
        }
    }
}

/// Collects bytes in memory.
final class ByteCollector: ByteSink {
    private(set) var bytes: [UInt8] = []

    func write(_ bytes: [UInt8]) { self.bytes += bytes }

    /// The bytes as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
