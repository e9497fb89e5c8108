import CLinux
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite(.onOwnThreads) struct TrialTests {
    private func run(
        _ factory: BackendFactory, _ flavour: SampleFlavour, _ shape: String, _ parameters: String
    ) async throws -> SampleReport {
        try await Fixture.report(factory, flavour, shape, parameters)
    }

    @Test(arguments: BackendFactory.all.map(\.id))
    func `every backend passes the outcome check on every shape it supports`(_ id: BackendID) async throws {
        let factory = try #require(BackendFactory.named(id))
        for (shape, parameters, flavours) in Fixture.triedShapes(on: id) {
            let plan = try Fixture.plan(shape, parameters)
            let kinds = factory.kinds.intersection(ShapeDefinition.of(plan.shape).kinds)
            for flavour in flavours where kinds.contains(flavour.kind) {
                let report = try await run(factory, flavour, shape, parameters)
                let which = "\(flavour) of \(shape) \(parameters)"
                if case .unsupported(let reason) = factory.supports(plan) {
                    #expect(report.status == .unsupported, "\(which)")
                    #expect(report.notes == reason && !reason.isEmpty, "\(which)")
                    #expect(report.figures.isEmpty, "\(which)")
                    continue
                }
                #expect(report.status == .ok, "\(which): \(report.notes)")
                for figure in report.figures {
                    let metric = Metric.named(figure.metric)
                    #expect(figure.value.isFinite && metric != nil, "\(which): \(figure)")
                    // A gate learns from `kinds` which samples it needs. All report the length of their warm-up, which is
                    // not judged.
                    let isJudged = figure.phase != "warmup" && metric?.direction != .neutral
                    #expect(!isJudged || metric?.kinds.contains(flavour.kind) == true, "\(which): \(figure)")
                }
                if flavour == .latency, case .full = factory.supports(plan) { checkStages(report, plan, which) }
            }
        }
    }

    @Test func `total is build, submit and drain; items and operations are counted over the rounds`() async throws {
        let report = try await run(
            SerialBackend.factory, .throughput, "independent", #"{"items": 100, "items_per_operation": 7}"#)
        func time(_ phase: String) throws -> Double {
            try #require(report.figures.first { $0.metric == "time" && $0.phase == phase }).value
        }
        let parts = try time("build") + time("submit") + time("drain")
        #expect(abs(parts - (try time("total"))) < 1e-9)
        #expect(try time("makespan") <= time("total"))
        let rounds = try #require(report.figures.first { $0.metric == "rounds" })
        #expect(rounds.operations == 15 * Int(rounds.value))
        #expect(report.figures.contains { $0.metric == "probe_cost" })
        #expect(report.flags.contains(.short))
    }

    @Test func `if a queue is refilled, submit and drain are one`() async throws {
        let report = try await run(
            EngineBackend.factory, .throughput, "independent", #"{"items": 50, "submission": "refill", "window": 8}"#)
        let phases = report.figures.filter { $0.metric == "time" && $0.iteration == nil }.map(\.phase)
        #expect(phases == ["build", "drain", "teardown", "total", "makespan"])
    }

    @Test func `latency has every stage and class, and its histograms count its operations`() async throws {
        let report = try await run(
            EngineBackend.factory, .latency, "priority_mix", #"{"operations": 60, "work_ns": 0}"#)
        let starts = report.histograms.filter { $0.stage == "start" }
        #expect(starts.map(\.operationClass).first == "")
        #expect(starts.count == 6)
        let rows = report.figures.filter { $0.metric == "start_latency" && $0.operationClass.isEmpty }
        let values = rows.first?.operations ?? 0
        let percentiles = [("p50", 2), ("p90", 10), ("p99", 100), ("p99.9", 1000)].filter { values >= $0.1 }.map(\.0)
        #expect(rows.map(\.stat) == ["mean"] + percentiles + ["max"])
        #expect(starts.first?.counts.reduce(0, +) == rows.first.map { Int64($0.operations) })
        #expect(report.figures.count { $0.metric == "longest_wait" } == 5)
        #expect(report.figures.count { $0.metric == "inversions" } == 6)
    }

    /// Every backend times the same stages, except that completion blocks need a form that has one.
    private func checkStages(_ report: SampleReport, _ plan: WorkloadPlan, _ name: String) {
        let which: Comment = "\(name)"
        // If everything is cancelled, nothing needs to run.
        guard plan.cancellation?.chosenCount != plan.operationCount else { return }
        // On a stalled machine no rate holds, and none is reported.
        if plan.arrivals?.boundNanoseconds != nil, report.histograms.isEmpty {
            return #expect(!report.figures.contains { $0.metric == "sustained_rate" }, which)
        }
        var stages: Set = ["ready", "start", "run", "end", "submit"]
        if plan.hasCompletionBlocks || plan.isRefill { stages.insert("notified") }
        if plan.pacing != nil { stages.insert("service") }
        if plan.isOpenLoop { stages.formUnion(["intended", "lag"]) }
        let found = report.histograms.filter { $0.operationClass.isEmpty }.map(\.stage)
        #expect(Set(found).subtracting(["quiesce", "resume"]) == stages, which)
        for name in plan.classes.map({ classes in classes.keys.indices.map(classes.name) }) ?? [] {
            let ofClass = Set(report.histograms.filter { $0.operationClass == name }.map(\.stage))
            #expect(ofClass.union(["notified"]) == stages.union(["notified"]), which)
        }
        let rows = Set(report.figures.filter { $0.stat == "max" }.map(\.metric))
        let always = ["ready_latency", "start_latency", "run_time", "end_latency", "submit_latency"]
        #expect(rows.isSuperset(of: always), which)
        #expect(rows.contains("notify_latency") == stages.contains("notified"), which)
        #expect(report.notes.contains("notified") != stages.contains("notified"), which)
    }

    @Test func `the stages of an operation follow each other`() throws {
        let plan = try Fixture.plan("chain", #"{"depth": 2, "work_ns": 0}"#)
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .stamped)
        defer { body.deallocate() }
        let stamps: [(OperationBody.Stamp, first: Int64, second: Int64)] = [
            (.submit, 10, 26), (.submitted, 15, 30), (.start, 40, 125), (.end, 100, 130), (.notified, 130, 0),
        ]
        for (kind, first, second) in stamps {
            body.stamp(kind, 0, first)
            body.stamp(kind, 1, second)
        }
        var analysis = RoundAnalysis(plan: plan)
        analysis.add(Round(), body)
        let last = analysis.recorder.histograms.mapValues(\.maxRecorded)
        func longest(_ stage: LatencyStage) -> UInt64? { last[.init(stage: stage, operationClass: "")] }
        // The second is ready when the first ends.
        #expect(longest(.ready) == 74)
        #expect(longest(.start) == 25)
        #expect(longest(.run) == 60)
        #expect(longest(.end) == 85)
        #expect(longest(.submit) == 99)
        #expect(longest(.notified) == 30)
    }

    @Test func `a latency sample reports the cost of its stamps, and its rounds without them are checked too`()
        async throws
    {
        let report = try await run(EngineBackend.factory, .latency, "chain", #"{"depth": 40, "work_ns": 0}"#)
        let cost = try #require(report.figures.first { $0.metric == "self_perturbation" })
        #expect(cost.value > 0 && cost.operations % 40 == 0)
        var perturbation = SelfPerturbation(limitNanoseconds: 150)
        var taken = 0
        for stamped: Int64 in [300, 200, 250, 999] {
            perturbation.compare(with: Round(drained: stamped)) {
                taken += 1
                return Round(drained: 100)
            }
        }
        #expect(taken == 2)
        #expect(perturbation.ratio == 2.5)
    }

    @Test func `thread priorities report the nice value in force and the CPU share`() async throws {
        let report = try await run(
            EngineBackend.factory, .latency, "thread_priority",
            #"{"operations": 8, "mix": {"0.0": 1, "0.5": 1}, "competitors": 0, "work_ns": 10000}"#)
        let low = report.figures.first { $0.metric == "effective_nice" && $0.operationClass == "thread_priority=0.0" }
        #expect(low?.value == Double(ThreadFacts.nice(above: 19)))
        #expect(report.figures.contains { $0.metric == "cpu_share" && $0.operationClass == "thread_priority=0.5" })
    }

    @Test func `a graph with work has a scheduling efficiency, as a part of the whole`() async throws {
        let parameters = #"{"kind": "diamond", "width": 8, "layers": 3, "work_ns": 20000}"#
        for factory in [EngineBackend.factory, SerialBackend.factory] {
            let report = try await run(factory, .throughput, "graph", parameters)
            let efficiency = try #require(report.figures.first { $0.metric == "scheduling_efficiency" })
            // The kernel's speed is not calibrated here: on a machine of 5 GHz, the work takes a tenth of the planned
            // time.
            #expect(efficiency.value > 0 && efficiency.value < 20 && efficiency.phase == "makespan")
        }
        let idle = try await run(EngineBackend.factory, .throughput, "graph", #"{"kind": "fan_in", "work_ns": 0}"#)
        #expect(!idle.figures.contains { $0.metric == "scheduling_efficiency" })
    }

    @Test func `if calls cannot be counted, there is a note instead of figures`() async throws {
        let report = try await run(EngineBackend.factory, .calls, "independent", #"{"items": 10, "work_ns": 0}"#)
        #expect(report.status == .ok)
        #expect(!report.notes.isEmpty)
        #expect(!report.figures.contains { ["futex_calls", "threads_created"].contains($0.metric) })
    }

    @Test func `warm-up iterations are kept`() async throws {
        let report = try await run(SerialBackend.factory, .throughput, "independent", #"{"items": 10}"#)
        let iterations = report.figures.filter { $0.phase == "warmup" }.compactMap(\.iteration)
        #expect(iterations.count >= 5)
        #expect(iterations == Array(iterations.indices))
    }

    @Test func `a falling warm-up is detected`() {
        #expect(WarmUp.falls([100, 100, 100, 80, 80, 80]))
        #expect(!WarmUp.falls([100, 100, 100, 95, 95, 95]))
        #expect(!WarmUp.falls([100, 50]))
    }
}

/// Shows that the checks can fail.
@Suite(.serialized, .onOwnThreads) struct BrokenBackendTests {
    @Test(arguments: [
        ("suspend_resume", #"{"operations": 1, "toggles": 1, "run_ns": 1000, "hold_ns": 1000, "work_ns": 0}"#),
        ("priority_mix", #"{"operations": 2, "work_ns": 0}"#),
        ("thread_priority", #"{"operations": 2, "competitors": 1, "work_ns": 0}"#),
    ])
    func `samples of a backend without the guarantees that a shape measures are marked`(
        _ shape: String, _ parameters: String
    ) throws {
        let plan = try Fixture.plan(shape, parameters)
        #expect(!plan.concerns.isEmpty)
        for (guarantees, flagged) in [([], true), (plan.concerns, false)] as [(BackendGuarantees, Bool)] {
            let trial = Trial(
                plan: plan, factory: ScriptedBackend.factory(.none, guarantees), flavour: .throughput,
                kernel: Fixture.kernel, targetNanoseconds: 1000)
            #expect(trial.run().flags.contains(.unpromised) == flagged, "\(guarantees)")
        }
    }

    @Test(arguments: [
        ("independent", "{}", false), ("independent", #"{"body": "memory"}"#, false),
        ("independent", #"{"body": "sleep"}"#, true), ("independent", #"{"body": "lock"}"#, true),
        ("independent", #"{"body": "pipe_read"}"#, true), ("independent", #"{"body": "file_read"}"#, false),
        (
            "independent",
            #"{"body": {"mix": [{"weight": 9, "body": "cpu"}, {"weight": 1, "body": {"sleep": {"sleep_ns": 5000}}}]}}"#,
            true
        ),
        ("chain", "{}", false), ("priority_mix", "{}", false), ("blocking", #"{"operations": 2}"#, true),
        ("wakeup", #"{"operations": 2}"#, true), ("suspend_resume", #"{"operations": 2}"#, true),
        ("open_loop", #"{"duration_ns": 1000000}"#, true),
    ])
    func `a plan waits by its pace, its bodies or its suspensions`(
        _ shape: String, _ parameters: String, _ waits: Bool
    ) throws { #expect(try Fixture.plan(shape, parameters).waits == waits) }

    @Test func `samples of a plan that waits are marked`() throws {
        for (shape, waits) in [("priority_mix", false), ("suspend_resume", true)] {
            let plan = try Fixture.plan(shape, #"{"operations": 2, "work_ns": 0}"#)
            let trial = Trial(
                plan: plan, factory: ScriptedBackend.factory(.none, plan.concerns), flavour: .throughput,
                kernel: Fixture.kernel, targetNanoseconds: 1000)
            #expect(trial.run().flags.contains(.waits) == waits, "\(shape)")
        }
    }

    @Test func `shapes without such a guarantee, and thread priorities without competitors, need none`() throws {
        for (shape, parameters) in [("independent", "{}"), ("thread_priority", #"{"competitors": 0}"#)] {
            #expect(try Fixture.plan(shape, parameters).concerns.isEmpty, "\(shape)")
        }
    }

    @Test func `thread priorities at a single nice value break the guarantee, which need not be claimed`() throws {
        let plan = try Fixture.plan("thread_priority", #"{"operations": 100, "competitors": 0, "work_ns": 0}"#)
        for (guarantees, breaks) in [(.threadPriorities, true), ([], false)] as [(BackendGuarantees, Bool)] {
            let report = Trial(
                plan: plan, factory: ScriptedBackend.factory(.none, guarantees), flavour: .check,
                kernel: Fixture.kernel, targetNanoseconds: 1000
            ).run()
            // Nothing can be nicer than the greatest value.
            let isInvalid = breaks && clinux_thread_nice(0) < 19
            #expect(report.status == (isInvalid ? .invalid : .ok), "\(report.notes)")
        }
    }

    private func report(
        _ defect: ScriptedBackend.Defect, _ flavour: SampleFlavour, _ shape: String, _ parameters: String,
        _ guarantees: BackendGuarantees = ScriptedBackend.allGuarantees
    ) throws -> SampleReport {
        Trial(
            plan: try Fixture.plan(shape, parameters), factory: ScriptedBackend.factory(defect, guarantees),
            flavour: flavour, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
    }

    /// Compares the notes of a check; other samples have none.
    private func expectGolden(_ report: SampleReport, _ flavour: SampleFlavour, _ section: String) {
        if flavour == .check { Golden("trial-violations").expect(report.notes, section) }
    }

    @Test(arguments: SampleFlavour.allCases) func `a sound backend passes`(_ flavour: SampleFlavour) throws {
        #expect(try report(.none, flavour, "chain", #"{"depth": 5, "chains": 2, "work_ns": 0}"#).status == .ok)
        #expect(try report(.none, flavour, "priority_mix", #"{"operations": 40, "max_concurrent": 1}"#).status == .ok)
    }

    @Test(arguments: SampleFlavour.allCases) func `a lost operation is detected`(_ flavour: SampleFlavour) throws {
        let report = try report(.losesOne, flavour, "independent", #"{"items": 20, "work_ns": 0}"#)
        #expect(report.status == .invalid)
        expectGolden(report, flavour, "an operation lost")
    }

    @Test(arguments: SampleFlavour.allCases) func `a repeated operation is detected`(_ flavour: SampleFlavour) throws {
        let report = try report(.repeatsOne, flavour, "independent", #"{"items": 20, "work_ns": 0}"#)
        #expect(report.status == .invalid)
        expectGolden(report, flavour, "an operation repeated")
    }

    @Test(arguments: SampleFlavour.allCases) func `a broken dependency is detected`(_ flavour: SampleFlavour) throws {
        let report = try report(.ignoresPredecessors, flavour, "chain", #"{"depth": 4, "work_ns": 0}"#)
        #expect(report.status == .invalid)
        expectGolden(report, flavour, "predecessors ignored")
    }

    @Test(arguments: SampleFlavour.allCases) func `a missing one of many predecessors is detected`(
        _ flavour: SampleFlavour
    ) throws {
        let report = try report(
            .swapsLastTwo, flavour, "graph", #"{"kind": "fan_in", "width": 6, "work_ns": 0}"#)
        #expect(report.status == .invalid)
        expectGolden(report, flavour, "one of six predecessors left out")
    }

    @Test func `breaking the claimed limit makes a check invalid, unless nothing is claimed`() throws {
        let parameters = #"{"items": 4, "max_concurrent": 1, "work_ns": 20000000}"#
        let broken = try report(.ignoresLimit, .check, "independent", parameters)
        #expect(broken.status == .invalid)
        let unpromised = try report(.ignoresLimit, .check, "independent", parameters, [])
        #expect(unpromised.status == .ok)
        #expect((unpromised.figures.first { $0.metric == "high_water" }?.value ?? 0) > 1)
    }

    @Test func `breaking the claimed order makes a check at limit 1 invalid, unless nothing is claimed`() throws {
        let parameters = #"{"operations": 40, "max_concurrent": 1, "work_ns": 0}"#
        let broken = try report(.ignoresPriority, .check, "priority_mix", parameters)
        #expect(broken.status == .invalid)
        #expect(try report(.ignoresPriority, .check, "priority_mix", parameters, []).status == .ok)
        let unlimited = #"{"operations": 40, "work_ns": 0}"#
        #expect(try report(.ignoresPriority, .check, "priority_mix", unlimited).status == .ok)
    }
}
