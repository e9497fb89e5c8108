import CLinuxMeasure
import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel
import Synchronization
import Testing

@testable import OpBenchRunner

/// Samples of the processor's events, with scripted counters: few test machines have any.
@Suite struct CounterTests {
    private static let operations = 10

    private func report(_ source: ScriptedCounters) async throws -> SampleReport {
        var trial = Trial(
            plan: try Fixture.plan("independent", #"{"items": 10, "work_ns": 0}"#),
            factory: ScriptedBackend.factory(.none), flavour: .counters, kernel: Fixture.kernel,
            targetNanoseconds: 1000)
        trial.counterSource = source
        return await Fixture.onOwnThread { [trial] in trial.run() }
    }

    /// The figures of the total phase per operation, by metric.
    private func figures(_ report: SampleReport) throws -> [String: Double] {
        let rounds = try #require(report.figures.first { $0.metric == Metric.rounds.name }).value
        let counted = report.figures.filter { $0.phase == "total" && $0.metric != Metric.time.name }
        #expect(counted.allSatisfy { $0.operations == Int(rounds) * Self.operations && $0.stat == "total" })
        return Dictionary(uniqueKeysWithValues: counted.map { ($0.metric, $0.value / Double($0.operations)) })
    }

    private static let whole: [HardwareEvent: CounterReading] = [
        .instructions: .init(count: 3000, enabled: 70, running: 70),
        .cycles: .init(count: 900, enabled: 70, running: 70),
        .cacheMisses: .init(count: 5, enabled: 70, running: 70), .branchMisses: .init(enabled: 70, running: 70),
    ]

    @Test func `each event that is counted all the time has a row, also if it never occurs`() async throws {
        let report = try await report(ScriptedCounters(steps: Self.whole))
        #expect(report.status == .ok && report.notes.isEmpty, "\(report.notes)")
        #expect(
            try figures(report) == [
                "hardware_instructions": 300, "cycles": 90, "cache_misses": 0.5, "branch_misses": 0,
            ])
    }

    @Test func `an event that was not counted all the time has no row`() async throws {
        var steps = Self.whole
        steps[.cycles]?.running = 69
        steps[.cacheMisses]?.running = 0
        steps[.branchMisses] = nil
        let report = try await report(ScriptedCounters(steps: steps))
        #expect(report.status == .ok)
        #expect(try figures(report) == ["hardware_instructions": 300])
        #expect(["cycles", "cache_misses", "branch_misses"].allSatisfy { report.notes.contains($0) })
    }

    @Test func `events that the machine does not count have no rows`() async throws {
        let some = try await report(ScriptedCounters(failures: [.cacheMisses, .branchMisses], steps: Self.whole))
        #expect(try figures(some) == ["hardware_instructions": 300, "cycles": 90])
        let none = try await report(ScriptedCounters(failures: Set(HardwareEvent.allCases), code: EACCES, paranoia: 3))
        #expect(none.status == .ok)
        #expect(try figures(none) == [:] && !none.notes.isEmpty)
    }

    @Test(
        arguments: [
            (ENOENT, nil, "--metric instructions"), (EOPNOTSUPP, 2, "--metric instructions"),
            (EACCES, 3, "kernel.perf_event_paranoid=2"), (EPERM, 4, "kernel.perf_event_paranoid=2"),
            (EPERM, 2, "--cap-add PERFMON"), (ENOSYS, nil, "CONFIG_PERF_EVENTS"), (EMFILE, 1, "perf stat"),
        ] as [(Int32, Int?, String)])
    func `the reason for a lack has a remedy`(code: Int32, paranoia: Int?, remedy: String) throws {
        let source = ScriptedCounters(failures: Set(HardwareEvent.allCases), code: code, paranoia: paranoia)
        let answer = HardwareCounters.means(by: source)
        #expect(answer.means == nil && !answer.lack.isEmpty && answer.remedy.contains(remedy))
    }

    @Test func `finding out leaves no counter open`() {
        let source = ScriptedCounters(failures: [.cycles])
        let answer = HardwareCounters.means(by: source)
        #expect(answer.means == .counters && answer.lack.contains("cycles") && source.openCount == 0)
        #expect(HardwareCounters.means(by: ScriptedCounters()) == .init(.counters))
    }

    /// A clock is an event that the kernel counts on every machine, if it is permitted.
    @Test func `the kernel's readings are a count and two times`() async {
        await Fixture.onOwnThread {
            let counter = clinux_open_counter(PERF_TYPE_SOFTWARE.rawValue, UInt64(PERF_COUNT_SW_TASK_CLOCK.rawValue))
            guard counter >= 0 else { return #expect(counter > -4096) }
            defer { close(counter) }
            clinux_burn(100_000)
            let reading = KernelCounters().read(counter)
            #expect(reading.map { $0.count > 0 && $0.enabled > 0 && $0.running == $0.enabled } == true)
            #expect(KernelCounters().read(-1) == nil)
        }
    }
}

/// Samples under callgrind, with a scripted counter instead of callgrind.
@Suite struct InstructionTrialTests {
    private final class Script: InstructionCounter {
        private let counts: [Int64?]
        private let next = Mutex(0)
        private let begun = Mutex(0)

        init(_ counts: [Int64?]) { self.counts = counts }

        var rounds: Int { begun.withLock { $0 } }
        func begin() { begun.withLock { $0 += 1 } }
        func end() -> Int64? {
            next.withLock { next in
                defer { next += 1 }
                return next < counts.count ? counts[next] : nil
            }
        }
    }

    private func report(_ counter: Script?, items: Int = 5000) async throws -> SampleReport {
        var trial = Trial(
            plan: try Fixture.plan("independent", #"{"items": \#(items), "work_ns": 0}"#),
            factory: ScriptedBackend.factory(.none), flavour: .instructions, kernel: .nominal, targetNanoseconds: 1)
        trial.instructionCounter = counter
        return await Fixture.onOwnThread { [trial] in trial.run() }
    }

    @Test func `the round with the fewest instructions counts, of a shortened plan`() async throws {
        let script = Script([900, 700, 800, 750, 901, 902, 903, 904, 905, 906])
        let report = try await report(script)
        #expect(report.status == .ok && script.rounds == 10, "\(report.notes)")
        #expect(report.figures.map(\.metric) == ["instructions"])
        #expect(report.figures.first?.value == 700 && report.figures.first?.operations == 2000)
        #expect(report.referenceLoopNanoseconds.isEmpty)
        #expect(try await self.report(script, items: 30).figures.isEmpty, "the script has ended")
    }

    @Test func `without callgrind there is no row`() async throws {
        for counter in [nil, Script([700, nil])] {
            let report = try await report(counter, items: 10)
            #expect(report.status == .ok && report.figures.isEmpty && !report.notes.isEmpty)
        }
    }

    @Test func `work and blocking reduce the number of operations`() throws {
        func operations(_ shape: String, _ parameters: String) throws -> Int {
            InstructionTrial.operations(of: try Fixture.plan(shape, parameters))
        }
        #expect(try operations("independent", #"{"items": 5000, "work_ns": 0}"#) == 2000)
        #expect(try operations("independent", #"{"items": 5000, "work_ns": 9000}"#) == 500)
        #expect(
            try operations("independent", #"{"items": 5000, "items_per_operation": 10, "work_ns": 900}"#) == 500)
        #expect(try operations("blocking", #"{"operations": 5000, "block_ns": 1000000, "work_ns": 0}"#) == 10)
    }
}

/// Kinds of sample that the machine cannot take.
@Suite struct KindMeansTests {
    private static let lacks: @Sendable (SampleKind) -> ProfileMeans.Answer = { kind in
        kind.isOnRequest ? .init(nil, lack: "no \(kind.rawValue)", remedy: "a remedy") : .init(.hooks)
    }

    /// Takes a run of samples of counters, instructions and throughput.
    private func run(
        _ option: String?, _ means: @escaping @Sendable (SampleKind) -> ProfileMeans.Answer, in folder: String
    ) async throws -> (warnings: [String], rows: [SampleRow]) {
        let spec = try Fixture.spec(
            "independent", #"{"items": 10}"#, more: #", "sample_kinds": ["throughput", "counters", "instructions"]"#)
        var options = RunOptions(blocks: 2, directory: folder, runID: "run")
        options.optionOfKinds = option
        var warnings: [String] = []
        _ = try await PlanRunner(
            plan: try RunPlan(specs: [spec], options: options), readCovariates: { Covariates() }, means: means
        ) { request, _ in
            var report = SampleReport()
            if let metric = Metric.catalogue.first(where: { $0.kinds == [request.flavour.kind] }) {
                report.add(metric, "total", 1, phase: "total", operations: 10)
            }
            return ChildResult(ending: .exited(0), output: try AnswerRecord.bytes(of: report), diagnostics: "")
        }.run { if case .warning(let text) = $0 { warnings.append(text) } }
        return (warnings, try CSVFile.read(SampleRow.self, file: "\(folder)/run/samples.csv"))
    }

    private func statuses(_ rows: [SampleRow], _ kind: String) -> [SampleStatus] {
        rows.filter { $0.metric == "status" && $0.sampleID.hasSuffix("-\(kind)") }.map(\.status)
    }

    @Test func `samples that a workload asks for are left out, with one warning for each kind`() async throws {
        let (warnings, rows) = try await run(nil, Self.lacks, in: try Fixture.folder())
        #expect(warnings.count == 2 && warnings.allSatisfy { $0.contains("a remedy") })
        #expect(statuses(rows, "counters") == [.skipped, .skipped])
        #expect(statuses(rows, "instructions") == [.skipped, .skipped])
        #expect(statuses(rows, "throughput") == [.ok, .ok])
        #expect(!rows.contains { $0.value != nil && ($0.metric == "instructions" || $0.metric == "cycles") })
    }

    @Test func `an option that asks for them is refused, and nothing is written`() async throws {
        let folder = try Fixture.folder()
        let error = await #expect(throws: InputError.self) { try await run("--metric", Self.lacks, in: folder) }
        #expect(error?.file == "--metric" && error?.remedy == "a remedy")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test func `counters that miss an event are a warning, and the samples are taken`() async throws {
        let means: @Sendable (SampleKind) -> ProfileMeans.Answer = { kind in
            kind == .counters ? .init(.counters, lack: "without cycles", remedy: "a remedy") : .init(.hooks)
        }
        let (warnings, rows) = try await run("--metric", means, in: try Fixture.folder())
        #expect(warnings.count == 1)
        #expect(SampleKind.allCases.allSatisfy { !statuses(rows, $0.rawValue).contains(.skipped) })
        #expect(statuses(rows, "counters") == [.ok, .ok])
    }
}
