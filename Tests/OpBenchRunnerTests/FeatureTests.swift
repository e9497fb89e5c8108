import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

/// A backend that does on the draining thread exactly what a test specifies.
final class DirectedBackend: RoundBackend, @unchecked Sendable {
    private let body: OperationBody
    private let direction: @Sendable (OperationBody) -> Void

    init(_ body: OperationBody, _ direction: @escaping @Sendable (OperationBody) -> Void) {
        self.body = body
        self.direction = direction
    }

    func build() {}
    func submit(_ part: Range<Int>) {}
    func release() {}
    func drain() { direction(body) }
    func teardown() {}
    func suspend() {}
    func resume() {}

    /// The report of a check sample, or another, with these events.
    static func report(
        _ shape: String, _ parameters: String, _ flavour: SampleFlavour = .throughput,
        _ direction: @escaping @Sendable (OperationBody) -> Void
    ) throws -> SampleReport {
        // The maximum number of operations in the shortened plan of a warm-up, so that the direction fits both.
        Trial(
            plan: try Fixture.plan(shape, parameters),
            factory: BackendFactory(
                id: BackendID(rawValue: "directed"), guarantees: [.limit], support: { _ in .full() },
                canHoldPending: { _ in false }, make: { DirectedBackend($1, direction) }),
            flavour: flavour, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
    }
}

@Suite(.serialized, .onOwnThreads) struct NoticeTests {
    private func report(_ direction: @escaping @Sendable (OperationBody) -> Void) throws -> SampleReport {
        try DirectedBackend.report("observers", #"{"operations": 3, "observers": 2}"#, .throughput, direction)
    }

    /// Runs every operation and notifies twice for each, changed by `change`.
    private static func notify(_ body: OperationBody, _ notices: [Int] = [2, 2, 2]) {
        for operation in 0..<3 {
            body.run(operation)
            for _ in 0..<notices[operation] { body.didNotice(operation) }
        }
    }

    @Test func `one notification per observer is right`() throws {
        #expect(try report { Self.notify($0) }.status == .ok)
    }

    @Test func `a missing or repeated notification, and an operation run twice or not at all, are detected`() throws {
        let reports = try [
            report { Self.notify($0, [2, 1, 2]) }, report { Self.notify($0, [3, 3, 2]) },
            report {
                Self.notify($0)
                $0.run(1)
            },
            report { body in for _ in 0..<2 { body.didNotice(0) } },
        ]
        expectInvalid(reports, "too seldom, too often, run twice, not run")
    }

    private func expectInvalid(_ reports: [SampleReport], _ section: String) {
        #expect(reports.allSatisfy { $0.status == .invalid })
        Golden("notice-violations").expect(reports.map(\.notes).joined(separator: "\n"), section)
    }

    @Test func `an end announced twice or not at all is detected`() throws {
        let parameters = #"{"operations": 2, "ended_by": "itself"}"#
        let twice = try DirectedBackend.report("asynchronous", parameters) { body in
            for operation in 0..<2 {
                body.run(operation)
                body.didAnnounceEnd(operation)
            }
            body.didAnnounceEnd(1)
        }
        let never = try DirectedBackend.report("asynchronous", parameters) { body in
            for operation in 0..<2 { body.run(operation) }
        }
        expectInvalid([twice, never], "an end announced too often, too seldom")
    }

    @Test func `a slot is held until the end is announced`() throws {
        let report = try DirectedBackend.report(
            "asynchronous", #"{"operations": 3, "ended_by": "itself", "max_concurrent": 2}"#, .check
        ) { body in
            for operation in 0..<3 { body.run(operation) }
            for operation in 0..<3 { body.didAnnounceEnd(operation) }
        }
        expectInvalid([report], "more at once than the limit")
    }
}

@Suite(.serialized, .onOwnThreads) struct BarrierTests {
    private func report(
        _ flavour: SampleFlavour = .throughput, _ direction: @escaping @Sendable (OperationBody) -> Void
    ) throws -> SampleReport {
        try DirectedBackend.report("barriers", #"{"operations": 5, "every": 3, "work_ns": 0}"#, flavour, direction)
    }

    @Test func `every n-th operation is a barrier, and no barrier follows the rest`() throws {
        let plan = try Fixture.plan("barriers", #"{"operations": 8, "every": 3}"#)
        let barriers = try #require(plan.barriers)
        #expect((0..<8).map { barriers.isBarrier($0) } == [false, false, true, false, false, true, false, false])
        #expect((0..<8).map { barriers.count(before: $0) } == [0, 0, 0, 1, 1, 1, 2, 2])
        #expect(plan.classes?.ofOperation == [0, 0, 1, 0, 0, 1, 0, 0])
        #expect(try Fixture.plan("barriers", #"{"operations": 8, "every": 1}"#).classes?.keys == ["barrier"])
        #expect(try Fixture.plan("barriers", #"{"operations": 8, "every": 9}"#).classes?.keys == ["operation"])
    }

    private static func run(_ body: OperationBody, _ order: [Int]) {
        for operation in order {
            if operation == 2 { body.runBarrier(operation) } else { body.runBesideOthers(operation) }
        }
    }

    @Test(arguments: [SampleFlavour.throughput, .latency, .check])
    func `in order, and out of order between barriers, is right`(_ flavour: SampleFlavour) throws {
        #expect(try report(flavour) { Self.run($0, [0, 1, 2, 3, 4]) }.status == .ok)
        #expect(try report(flavour) { Self.run($0, [1, 0, 2, 4, 3]) }.status == .ok)
    }

    @Test func `overtaking a barrier either way, running twice and not running are detected`() throws {
        let reports = try [[0, 1, 3, 2, 4], [0, 2, 1, 3, 4], [0, 1, 1, 2, 3, 4], [0, 1, 2, 3]].map { order in
            try report { Self.run($0, order) }
        }
        expectInvalid(reports, "past a barrier, behind it, twice, not at all")
    }

    private func expectInvalid(_ reports: [SampleReport], _ section: String) {
        #expect(reports.allSatisfy { $0.status == .invalid })
        Golden("barrier-violations").expect(reports.map(\.notes).joined(separator: "\n"), section)
    }

    @Test func `an operation parallel to a barrier is detected by the time stamps`() throws {
        let found = try report(.check) { body in
            Self.run(body, [0, 1, 2, 3, 4])
            // As if the first had continued into the barrier. A warm-up takes no stamps.
            if body.takesStamps { body.stamp(.end, 0, body.read(.start, 2) + 1) }
        }
        let tooSoon = try report(.check) { body in
            Self.run(body, [0, 1, 2, 3, 4])
            if body.takesStamps { body.stamp(.start, 4, body.read(.end, 2) - 1) }
        }
        expectInvalid([found, tooSoon], "beside a barrier")
    }

    @Test func `latencies are separated by role`() throws {
        let report = try report(.latency) { Self.run($0, [0, 1, 2, 3, 4]) }
        let classes = Set(report.figures.filter { $0.metric == "start_latency" }.map(\.operationClass))
        #expect(classes == ["", "role=operation", "role=barrier"])
        #expect(!report.figures.contains { $0.metric == "cpu_share" })
    }
}

@Suite(.serialized, .onOwnThreads) struct BlockGroupTests {
    @Test func `blocks are counted as operations, and a warm-up has whole groups`() throws {
        let plan = try Fixture.plan("block_groups", #"{"groups": 5, "blocks": 4}"#)
        #expect(plan.operationCount == 20)
        #expect(plan.groups(of: 0..<20).map(\.lowerBound) == [0, 4, 8, 12, 16])
        #expect(plan.shortened(to: 10).operationCount == 8)
        #expect(plan.shortened(to: 3).operationCount == 4)
    }

    @Test func `a group reported as finished before its last block is detected`() throws {
        func report(_ order: [(run: Int?, told: Int?)]) throws -> SampleReport {
            try DirectedBackend.report("block_groups", #"{"groups": 1, "blocks": 2, "work_ns": 0}"#, .check) { body in
                for step in order {
                    if let operation = step.run { body.run(operation) }
                    if let operation = step.told { body.didNotify(operation) }
                }
            }
        }
        #expect(try report([(0, nil), (1, nil), (nil, 0), (nil, 1)]).status == .ok)
        let early = try report([(0, nil), (nil, 0), (nil, 1), (1, nil)])
        #expect(early.status == .invalid)
    }

    @Test func `a lost block is detected`() throws {
        let report = try DirectedBackend.report("block_groups", #"{"groups": 1, "blocks": 2, "work_ns": 0}"#) {
            $0.run(0)
        }
        #expect(report.status == .invalid)
    }
}

@Suite(.serialized, .onOwnThreads) struct ManualStartTests {
    @Test func `nothing can be held pending, and the call is the start`() throws {
        let plan = try Fixture.plan("manual_start", #"{"operations": 10}"#)
        for factory in [EngineBackend.factory, FoundationBackend.factory, DispatchBackend.factory] {
            #expect(!factory.canHoldPending(plan))
        }
        let report = Trial(
            plan: plan, factory: EngineBackend.factory, flavour: .heap, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
        #expect(report.status == .ok)
        #expect(!report.figures.contains { $0.metric == "retained_bytes" })
    }
}
