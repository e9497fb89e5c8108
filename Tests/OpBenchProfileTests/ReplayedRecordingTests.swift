import TestSupport
import Testing

@testable import OpBenchModel
@testable import OpBenchProfile

/// Recordings that become loads.
@Suite struct ReplayedRecordingTests {
    /// A recording of those operations, in two queues, the second of which has a limit.
    private func recording(
        _ operations: [(TracedOperation, RecordedOperation)], dependencies: [TracedDependency] = []
    ) -> Recording {
        var trace = SampleTrace(workerCount: 2)
        trace.queues = [SampleTrace.Queue(name: "secret"), SampleTrace.Queue(name: "downloads", limit: 600)]
        trace.operations = operations.map(\.0)
        trace.dependencies = dependencies
        return Recording(
            trace: trace, details: operations.map(\.1), program: "server", startDate: 0, clockStart: 0,
            lostEvents: 0, partialOperations: 0, missingParts: 0, isCut: false, unreadBytes: 0)
    }

    private func operation(
        at submit: TraceTime, from start: TraceTime = .absent, to end: TraceTime = .absent, cpu: Int64 = .absent,
        processorWait: Int64 = 0, queue: UInt16 = 0, priority: Int8 = 0, cancelledAt: TraceTime? = nil
    ) -> (TracedOperation, RecordedOperation) {
        var detail = RecordedOperation()
        detail.processorTime = cpu
        detail.isCancelled = cancelledAt != nil
        detail.cancelTime = cancelledAt ?? .absent
        return (
            TracedOperation(
                submit: submit, start: start, end: end, offProcessor: processorWait, processorWait: processorWait,
                queue: queue, priority: priority),
            detail
        )
    }

    @Test func `each operation has its gap, its work and its wait`() throws {
        let replayed = try ReplayedRecording(
            recording(
                [
                    operation(at: 500, from: 600, to: 1600, cpu: 700, queue: 1, priority: 4),
                    operation(at: 900, from: 950, to: 1950, cpu: 300, processorWait: 600, priority: -7),
                    operation(at: 900, from: 3000, to: 4000, cpu: 1200),
                    operation(at: 2000, cancelledAt: 2600),
                ],
                dependencies: [TracedDependency(0, before: 2), TracedDependency(3, before: 1)]),
            path: "x")
        let load = replayed.load
        #expect(load[.gaps] == [0, 400, 0, 1100])
        #expect(load[.work] == [700, 300, 1000, 0] && load[.waits] == [300, 100, 0, 0])
        #expect(load[.queues] == [0, 1, 1, 1] && load.limits == [512, nil])
        #expect(load[.priorities] == [4, -8, 0, 0])
        #expect(load.dependencies.map { [$0.operation, $0.predecessor] } == [[1, 3], [2, 0]])
        #expect(load.cancellations.map { [$0.operation, $0.delay] } == [[3, 600]])
        #expect(replayed.queues.map(\.name) == ["downloads", "secret"])
        #expect(replayed.queues.map(\.operations) == [1, 3] && replayed.notes == [])
        #expect(replayed.groups.map(\.name) == ["operation in downloads", "operation in secret"])
        #expect(replayed.groups.map(\.operations) == [1, 3] && load[.groups] == [0, 1, 1, 1])
        #expect(load[.latencies] == [1100, 1050, 3100, 0])
    }

    @Test func `a load has no name, and is valid in a workload`() throws {
        let replayed = try ReplayedRecording(
            recording([operation(at: 5, from: 6, to: 9, cpu: 3, queue: 1)]), path: "x")
        let template = WorkloadTemplate(
            .of(.replay), file: "r.json", backends: [.engine], values: ["recording": .recording(replayed.load)])
        #expect(!template.text.contains("downloads") && !template.text.contains("server"))
        let spec = try WorkloadSpec.decode(text: template.text, file: "r.json")
        #expect(spec.cells.map { $0.parameters["recording"] } == [.recording(replayed.load)])
    }

    @Test func `the first operations are taken, and their dependencies on one another`() throws {
        let all = (0..<10).map { operation(at: $0 * 100, from: $0 * 100, to: $0 * 100 + 10, cpu: 10) }
        let dependencies = [TracedDependency(0, before: 2), TracedDependency(2, before: 7)]
        let replayed = try ReplayedRecording(recording(all, dependencies: dependencies), path: "x", limit: 5)
        #expect(replayed.load.operationCount == 5 && replayed.load.dependencies.count == 1)
        #expect(replayed.notes.count == 1 && replayed.notes[0].hasPrefix("5 "))
        let late = try ReplayedRecording(
            recording([operation(at: 0), operation(at: 600_000_000_001)]), path: "x")
        #expect(late.load.operationCount == 1)
    }

    @Test func `what a load lacks is counted`() throws {
        let replayed = try ReplayedRecording(
            recording([operation(at: 0, from: 1, to: 9), operation(at: 1, from: 2), operation(at: 2)]), path: "x")
        #expect(replayed.load[.work] == [0, 0, 0] && replayed.load[.waits] == [8, 0, 0])
        #expect(replayed.notes.map { $0.prefix(2) } == ["2 ", "1 "])
    }

    @Test func `nothing, or a circle, cannot be replayed`() {
        #expect(throws: InputError.self) { try ReplayedRecording(recording([]), path: "x") }
        #expect(throws: InputError.self) {
            try ReplayedRecording(
                recording(
                    [operation(at: 0), operation(at: 1)],
                    dependencies: [TracedDependency(0, before: 1), TracedDependency(1, before: 0)]), path: "x")
        }
    }
}
