import OpBenchModel
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite struct RunPlanTests {
    private func plan(_ options: RunOptions, backends: [String] = ["engine", "dispatch", "serial"]) throws -> RunPlan {
        try RunPlan(
            specs: [
                Fixture.spec("independent", #"{"items": [10, 20, 30]}"#, name: "a", backends: backends),
                Fixture.spec("chain", #"{"depth": [2, 3]}"#, name: "b", backends: backends),
            ], options: options)
    }

    @Test func `the seed orders the samples`() throws {
        let first = try plan(RunOptions(seed: 5)).samples
        #expect(try plan(RunOptions(seed: 5)).samples == first)
        let other = try plan(RunOptions(seed: 6)).samples
        #expect(other != first)
        func content(_ samples: [PlannedSample]) -> Set<String> {
            Set(samples.map { "\($0.cell.id) \($0.backend.rawValue) \($0.flavour) \($0.block)" })
        }
        #expect(content(other) == content(first))
    }

    @Test func `the default blocks are 7, 3, 2 and 1, the serial loop has no latency`() throws {
        let samples = try plan(RunOptions()).samples
        let cell = try #require(samples.first?.cell)
        func count(_ backend: BackendID, _ flavour: SampleFlavour) -> Int {
            samples.count { $0.cell == cell && $0.backend == backend && $0.flavour == flavour }
        }
        #expect(SampleFlavour.allCases.map { count(.engine, $0) } == [7, 3, 2, 2, 2, 0, 0, 1])
        #expect(SampleFlavour.allCases.map { count(.serial, $0) } == [7, 0, 2, 2, 2, 0, 0, 0])
    }

    @Test func `main figures have seven blocks, latency if there is no throughput`() throws {
        func counts(_ shape: String, _ options: RunOptions = RunOptions()) throws -> [SampleFlavour: Int] {
            let spec = try Fixture.spec(shape, backends: ["engine"])
            let samples = try RunPlan(specs: [spec], options: options).samples
            return Dictionary(grouping: samples, by: \.flavour).mapValues(\.count)
        }
        #expect(try counts("open_loop") == [.latency: 7, .check: 1])
        #expect(try counts("wakeup") == [.throughput: 7, .latency: 3, .check: 1])
        #expect(try counts("wakeup", RunOptions(kinds: [.latency])) == [.latency: 7, .check: 1])
        #expect(try counts("open_loop", RunOptions(isQuick: true)) == [.latency: 1, .check: 1])
        #expect(try counts("open_loop", RunOptions(blocks: 2)) == [.latency: 2, .check: 2])
        var budgeted = RunOptions()
        budgeted.budget = TimeBudget(seconds: 1) { _ in [:] }
        #expect(try counts("open_loop", budgeted) == [.latency: 7, .check: 1])
    }

    @Test func `counters and instructions are taken on request, instructions as often as their counts need`() throws {
        func plan(_ kinds: Set<SampleKind>) throws -> RunPlan {
            try RunPlan(
                specs: [Fixture.spec("independent", backends: ["engine", "serial"])], options: RunOptions(kinds: kinds))
        }
        let all = try plan(Set(SampleKind.allCases))
        #expect([SampleKind.counters, .instructions].map { kind in all.samples.count { $0.kind == kind } } == [6, 4])
        #expect(try plan([.counters]).samples.count { $0.kind == .counters } == 14)
        let reserve = Dictionary(grouping: try plan([.memory, .instructions]).reserve, by: \.flavour)
        #expect(reserve.mapValues { $0.map(\.block).max() } == [.allocations: 6, .instructions: 6])
        #expect(reserve.mapValues(\.count) == [.allocations: 10, .instructions: 10])
    }

    @Test func `cells of one run may have different numbers of blocks`() throws {
        let specs = try ["open_loop", "independent"].map { try Fixture.spec($0, name: $0, backends: ["engine"]) }
        let samples = try RunPlan(specs: specs, options: RunOptions()).samples.filter { $0.kind == .latency }
        #expect(specs.map { spec in samples.count { $0.cell.workload == spec.name } } == [7, 3])
    }

    @Test func `a block is never split, and its samples take the positions from 0`() throws {
        let samples = try plan(RunOptions()).samples
        var seen: Set<String> = []
        var current = ""
        var position = 0
        for sample in samples {
            let block = "\(sample.cell.id) \(sample.kind) \(sample.block)"
            if block != current {
                #expect(seen.insert(block).inserted, "\(block) occurs twice")
                current = block
                position = 0
            }
            #expect(sample.position == position)
            position += 1
        }
    }

    @Test func `ids are unique and end in the flavour`() throws {
        let samples = try plan(RunOptions()).samples
        #expect(Set(samples.map(\.id)).count == samples.count)
        #expect(samples[0].id.hasPrefix("00000-"))
        #expect(samples.allSatisfy { $0.id.hasSuffix("-\($0.flavour.rawValue)") })
        #expect(samples.allSatisfy { $0.rerunID != $0.id })
    }

    @Test func `quick is one block of each, blocks overrides everything`() throws {
        #expect(try plan(RunOptions(isQuick: true)).samples.allSatisfy { $0.block == 0 })
        #expect(Set(try plan(RunOptions(blocks: 4)).samples.map(\.block)) == [0, 1, 2, 3])
    }

    @Test func `the check is taken whatever the metrics`() throws {
        let kinds = Set(try plan(RunOptions(kinds: [.latency])).samples.map(\.kind))
        #expect(kinds == [.latency, .check])
    }

    @Test func `skipped and unsupported backends are omitted with a reason`() throws {
        let more = #", "skip": [{"backend": "foundation", "when": {"operations": {"above": 5}}, "reason": "slow"}]"#
        let spec = try Fixture.spec(
            "suspend_resume", #"{"operations": 9}"#, backends: ["engine", "foundation", "serial"], more: more)
        let plan = try RunPlan(specs: [spec], options: RunOptions())
        #expect(Set(plan.samples.map(\.backend)) == [.engine])
        #expect(plan.omissions.map(\.status) == [.skipped, .unsupported])
        #expect(plan.omissions[0].reason == "slow" && !plan.omissions[1].reason.isEmpty)
    }

    @Test func `only selected cells run, and there must be one`() throws {
        var specs = try plan(RunOptions()).specs
        for index in specs.indices { specs[index].cells.removeAll { !$0.id.hasPrefix("b") } }
        let kept = try RunPlan(specs: specs, options: RunOptions())
        #expect(Set(kept.samples.map(\.cell.workload)) == ["b"])
        for index in specs.indices { specs[index].cells = [] }
        #expect(throws: InputError.self) { try RunPlan(specs: specs, options: RunOptions()) }
    }

    @Test func `parameter names are the sorted union`() throws {
        let names = try plan(RunOptions()).parameterNames
        #expect(names == names.sorted())
        #expect(names.contains("depth") && names.contains("items"))
    }

    @Test func `the estimate grows with the blocks`() throws {
        #expect(try plan(RunOptions(blocks: 2)).estimate() > plan(RunOptions(blocks: 1)).estimate())
    }

    @Test(arguments: [
        // Waves of the greatest number of blocked operations, each half a second longer.
        ("engine", #""operations": 100, "max_concurrent": 4"#, 12.5), ("engine", #""operations": 128"#, 1),
        ("engine", #""operations": 20, "kind": "wait", "max_concurrent": 2"#, 5),
        ("serial", #""operations": 100, "max_concurrent": 4"#, 50),
    ]) func `the estimate accounts for operations that block`(
        _ backend: String, _ parameters: String, _ seconds: Double
    )
        throws
    {
        func estimate(_ milliseconds: Int) throws -> Double {
            let spec = try Fixture.spec(
                "blocking", #"{"block_ns": \#(milliseconds * 1_000_000), \#(parameters)}"#, backends: [backend])
            let options = RunOptions(kinds: [.throughput], blocks: 1)
            return try RunPlan(specs: [spec], options: options).samples.filter { $0.kind == .throughput }
                .reduce(0) { $0 + options.estimate(of: $1) }
        }
        #expect(abs(try estimate(1000) - estimate(500) - seconds) < seconds / 100)
    }

    @Test(arguments: [
        // A round's planned seconds.
        ("open_loop", #"{"duration_ns": 50000000000}"#, 50.0), ("wakeup", #"{"pause_ns": 100000000}"#, 100),
        ("wakeup", #"{"operations": 1, "stall_ns": 10000000000}"#, 10),
        ("independent", #"{"items": 100, "work_ns": 1000000000}"#, 50),
        ("blocking", #"{"operations": 100, "block_ns": 1000000000, "max_concurrent": 1}"#, 100),
        ("replay", #"{"speed": 0.01}"#, 1), ("chain", #"{"depth": 10}"#, 0),
    ]) func `a sample has several times as long as its rounds are planned to take, unless the user sets the limit`(
        shape: String, parameters: String, seconds: Double
    ) throws {
        let spec = try Fixture.spec(shape, parameters)
        var options = RunOptions()
        let samples = try RunPlan(specs: [spec], options: options).samples
        for sample in samples {
            let limit = options.timeLimit(of: sample.cell, on: sample.backend, sample.flavour)
            #expect(limit >= max(30, 4 * seconds) && limit <= max(30, 30 * seconds), "\(sample.id): \(limit)")
        }
        options.timeoutSeconds = 0.5
        #expect(!samples.isEmpty)
        #expect(samples.allSatisfy { options.timeLimit(of: $0.cell, on: $0.backend, $0.flavour) == 0.5 })
    }

    @Test func `raw Dispatch has no five levels under a limit`() throws {
        let spec = try Fixture.spec("priority_mix", #"{"max_concurrent": [1, "default"]}"#, backends: ["dispatch"])
        let plan = try RunPlan(specs: [spec], options: RunOptions())
        #expect(plan.omissions.map(\.cell.maxConcurrent) == [1])
    }

    @Test func `the runner has the backends that the model knows, except oneTBB in a program without it`() {
        let peers = BackendID.known.filter { $0.family == "tbb" }
        let missing = OneTBBBackend.version == nil ? peers : []
        #expect(!peers.isEmpty && BackendID.available == BackendID.known.filter { !missing.contains($0) })
        #expect(Set(BackendFactory.all.map(\.id)) == Set(BackendID.available))
    }
}
