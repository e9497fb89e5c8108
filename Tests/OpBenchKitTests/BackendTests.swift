import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchKit
@testable import OpBenchRunner

/// Declared backends, measured as the built-in ones are.
@Suite(.onOwnThreads) struct BackendTests {
    static let bare = Backend("bare", "Can run closures.") { _ in BareQueue() }.declared.factory
    static let full = Backend("full", "Can all.", limits: 1...64, guarantees: [.limit, .priorityOrder, .suspension]) {
        FullQueue(limit: $0.limit)
    }.declared.factory

    @Test(arguments: [bare, full].map(\.id))
    func `a declared queue passes the outcome check on every shape that it can express`(_ id: BackendID) async throws {
        let factory = id == Self.bare.id ? Self.bare : Self.full
        for (shape, parameters, flavours) in Fixture.triedShapes(on: id) {
            let plan = try Fixture.plan(shape, parameters)
            for flavour in flavours where ShapeDefinition.of(plan.shape).kinds.contains(flavour.kind) {
                let report = try await Fixture.report(factory, flavour, shape, parameters)
                let which = "\(flavour) of \(shape) \(parameters)"
                if case .unsupported(let reason) = factory.supports(plan) {
                    #expect(report.status == .unsupported, "\(which)")
                    #expect(report.notes == reason && !reason.isEmpty, "\(which)")
                } else {
                    #expect(report.status == .ok, "\(which): \(report.notes)")
                    // Nothing counts instructions here.
                    #expect(!report.figures.isEmpty || flavour == .instructions, "\(which)")
                }
            }
        }
    }

    @Test func `a queue of every capability expresses all but starts by hand and recorded priorities`() throws {
        var said: Set<String> = []
        for (shape, parameters) in Fixture.shapes {
            switch Self.full.supports(try Fixture.plan(shape, parameters)) {
            case .full(note: ""): break
            case .full(let note): said.insert("\(shape), but \(note)")
            case .unsupported(let reason): said.insert("\(shape) not: \(reason)")
            }
        }
        Golden("kit-backends").expect(said.sorted().joined(separator: "\n"), "a queue of every capability")
    }

    @Test(
        arguments: [
            ("independent", "{}", nil), ("chain", "{}", nil), ("chain", #"{"queues": 2, "order": "reverse"}"#, nil),
            ("graph", "{}", nil), ("wakeup", "{}", nil), ("open_loop", "{}", nil), ("blocking", "{}", nil),
            ("observers", "{}", nil), ("block_groups", "{}", nil), ("asynchronous", "{}", nil),
            ("cancel_storm", #"{"enqueue": "live"}"#, nil),
            ("independent", #"{"max_concurrent": 2}"#, "limits"), ("suspend_resume", "{}", "SuspendableQueue"),
            ("memory_fence", "{}", "SuspendableQueue"), ("cancel_storm", "{}", "SuspendableQueue"),
            ("priority_mix", #"{"enqueue": "live"}"#, "PrioritizedQueue"),
            ("thread_priority", "{}", "ThreadPriorityQueue"),
            ("barriers", "{}", "BarrierQueue"), ("manual_start", "{}", "queue"),
        ] as [(String, String, String?)])
    func `what a queue of closures lacks for a shape has a name`(
        _ shape: String, _ parameters: String, _ lacking: String?
    ) throws {
        switch Self.bare.supports(try Fixture.plan(shape, parameters)) {
        case .full: #expect(lacking == nil)
        case .unsupported(let reason): #expect(reason.contains(try #require(lacking)))
        }
    }

    @Test func `a limit is one of those that were declared`() throws {
        let some = Backend("some", "", limits: 2...4) { FullQueue(limit: $0.limit) }.declared.factory
        func support(_ limit: String) throws -> Support {
            some.supports(try Fixture.plan("independent", #"{"max_concurrent": \#(limit)}"#))
        }
        #expect(try support("2") == .full())
        #expect(try support("4") == .full())
        #expect(try support(#""default""#) == .full())
        func reason(_ support: Support) -> String {
            if case .unsupported(let reason) = support { reason } else { "none" }
        }
        let serial = Backend("serial-one", "", limits: 1...1) { FullQueue(limit: $0.limit) }.declared.factory
        let pairs = try Fixture.plan("blocking", #"{"kind": "wait"}"#)
        let reasons = try [support("5"), support("1"), serial.supports(pairs)].map(reason)
        #expect(!reasons.contains("none"))
        Golden("kit-backends").expect(reasons.joined(separator: "\n"), "limits")
        let ended = try Fixture.plan("asynchronous", #"{"max_concurrent": 1}"#)
        #expect(serial.supports(ended) == .full())
    }

    @Test func `work that runs twice is found`() async throws {
        let twice = Backend("twice", "") { _ in HastyQueue(times: 2) }.declared.factory
        let once = Backend("once", "") { _ in HastyQueue(times: 1) }.declared.factory
        let parameters = #"{"items": 20, "work_ns": 0}"#
        let broken = try await Fixture.report(twice, .check, "independent", parameters)
        #expect(broken.status == .invalid)
        #expect(!broken.notes.isEmpty)
        #expect(try await Fixture.report(once, .check, "independent", parameters).status == .ok)
    }

    @Test(
        arguments: [
            ("independent", #"{"items": 20, "work_ns": 0}"#),
            ("independent", #"{"items": 20, "submission": "refill", "window": 7, "work_ns": 0}"#),
            ("chain", #"{"depth": 6, "work_ns": 0}"#), ("graph", #"{"kind": "diamond", "width": 3, "layers": 3}"#),
            ("asynchronous", #"{"operations": 10}"#), ("asynchronous", #"{"operations": 10, "ended_by": "itself"}"#),
            ("cancel_storm", #"{"operations": 10, "enqueue": "live"}"#), ("observers", #"{"operations": 10}"#),
            ("block_groups", #"{"groups": 3}"#),
        ])
    func `work that runs again when its round is over is found, and finds nothing freed`(
        _ shape: String, _ parameters: String
    ) throws {
        let log = BelatedQueue.Log()
        let factory = Backend("belated", "") { _ in BelatedQueue(log) }.declared.factory
        let plan = try Fixture.plan(shape, parameters)
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
        let producers = Producers(plan)
        for _ in 0..<3 {
            _ = Round.run(plan, by: factory, body, producers: producers)
            #expect(plan.violations(of: body.traces).isEmpty)
            body.reset()
        }
        producers.dismiss()
        let found = BrokenRound.findings.count
        log.runAgain()
        #expect(BrokenRound.findings.count >= found + 3)
        body.deallocate()
    }

    @Test func `a round of which work was lost or ran twice keeps its queue, which may still be at work`() throws {
        let log = CountedQueue.Log()
        for times in [0, 1, 2] {
            let factory = Backend("counted", "") { _ in CountedQueue(log, times: times) }.declared.factory
            // The round would wait for the lost operation, if no other ran twice.
            let plan = try Fixture.plan("independent", #"{"items": 4, "work_ns": 0}"#)
            let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
            let producers = Producers(plan)
            _ = Round.run(plan, by: factory, body, producers: producers)
            producers.dismiss()
            #expect(plan.violations(of: body.traces).isEmpty == (times == 1))
            #expect(log.shutDown.exchange(0, ordering: .relaxed) == (times == 1 ? 1 : 0))
            // Where one ran twice, the round is over before its last operation is.
            if times < 2 { body.deallocate() }
        }
    }

    @Test func `a broken guarantee makes a check invalid, and without it there is none`() async throws {
        let parameters = #"{"operations": 4, "max_concurrent": 1, "work_ns": 0}"#
        let broken = Backend("broken", "", limits: 1...9, guarantees: .limit) { _ in BoundlessQueue(operations: 4) }
        let report = try await Fixture.report(broken.declared.factory, .check, "asynchronous", parameters)
        #expect(report.status == .invalid)
        #expect(report.notes.contains(" 1"))
        let modest = Backend("modest", "", limits: 1...9) { _ in BoundlessQueue(operations: 4) }
        #expect(try await Fixture.report(modest.declared.factory, .check, "asynchronous", parameters).status == .ok)
    }

    @Test(arguments: [
        ("independent", #"{"items": 5}"#, 1), ("chain", #"{"depth": 6, "queues": 3}"#, 3),
    ])
    func `every queue is shut down once`(
        _ shape: String, _ parameters: String, _ perRound: Int
    ) throws {
        let log = CountedQueue.Log()
        let factory = Backend("counted", "") { _ in CountedQueue(log) }.declared.factory
        let plan = try Fixture.plan(shape, parameters)
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
        let producers = Producers(plan)
        _ = Round.run(plan, by: factory, body, producers: producers)
        #expect(plan.violations(of: body.traces).isEmpty)
        producers.dismiss()
        body.deallocate()
        #expect(log.made.load(ordering: .relaxed) == perRound)
        #expect(log.shutDown.load(ordering: .relaxed) == perRound)
    }
}

struct NameTests {
    private func refusal(of names: [String]) -> InputError? {
        do {
            try DeclaredBackends.declare(
                names.map { BackendDefinition(declared: BackendID(rawValue: $0), summary: "", module: "") })
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "", "Mine", "1st", "my queue", "a,b", "a:b:c", "a:", ":a", "a/b", "ä", "a\n", String(repeating: "a", count: 41),
    ])
    func `a name that files and lists cannot contain is rejected`(_ name: String) throws {
        #expect(try #require(refusal(of: [name])).remedy.contains("a-z"))
        #expect(!BackendID(rawValue: name).isWellFormed)
    }

    @Test func `a name that another backend has is refused, and nothing is declared`() throws {
        let errors = try [["engine"], ["mine", "mine"], ["dispatch:mine"], ["Mine"]].map { names in
            try #require(refusal(of: names))
        }
        Golden("backend-names").expect(errors.map(\.description).joined(separator: "\n"), "refusals")
        #expect(DeclaredBackends.definitions.isEmpty)
    }

    @Test(arguments: ["mine", "my-queue.2", "mine:fast", "q_1:x"]) func `plain names are good`(_ name: String) {
        #expect(BackendID(rawValue: name).isWellFormed)
    }
}

struct RecordedNameTests {
    private let text = """
        {"name": "w", "summary": "a test", "shape": "independent", "parameters": {}, "backends": ["mine", "engine"],
         "skip": [{"backend": "mine", "reason": "why not"}]}
        """

    @Test func `a recorded workload may name a backend of another program, a new one may not`() throws {
        let recorded = try WorkloadSpec.decode(text: text, file: "w.json", backends: .recorded)
        #expect(recorded.backends.map(\.rawValue) == ["mine", "engine"])
        #expect(recorded.skips.flatMap(\.backends).map(\.rawValue) == ["mine"])
        #expect(throws: InputErrors.self) { try WorkloadSpec.decode(text: text, file: "w.json") }
        let bad = text.replacing("mine", with: "M ine")
        #expect(throws: InputErrors.self) { try WorkloadSpec.decode(text: bad, file: "w.json", backends: .recorded) }
    }
}
