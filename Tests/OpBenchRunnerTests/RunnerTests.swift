import Foundation
import OpBenchModel
import Synchronization
import TestSupport
import Testing

@testable import OpBenchRunner

@Suite struct RunnerTests {
    /// A runner in a quiet world whose samples are answered by `answer`, by the number of the request.
    private func runner(
        _ plan: RunPlan, _ answer: @escaping @Sendable (Int, SampleRequest) throws -> ChildResult = { try ok($0, $1) }
    ) -> PlanRunner {
        let count = Atomic<Int>(0)
        let box = Counter(count)
        return PlanRunner(
            plan: plan, readCovariates: { Covariates() }, take: { request, _ in try answer(box.next(), request) })
    }

    private final class Counter: Sendable {
        private let value: Atomic<Int>
        init(_ value: consuming Atomic<Int>) { self.value = value }
        func next() -> Int { value.add(1, ordering: .relaxed).oldValue }
    }

    @Sendable private static func ok(_ number: Int, _ request: SampleRequest) throws -> ChildResult {
        var report = SampleReport()
        report.add(.time, "total", Double(number) + 1, phase: "total", operations: 10)
        report.referenceLoopNanoseconds = [1]
        report.histograms = [.init(stage: "start", operationClass: "", upperBounds: [10, 20], counts: [1, 2])]
        return ChildResult(ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
    }

    private func plan(
        _ folder: String, blocks: Int = 2, resume: Bool = false, seed: UInt64 = 1,
        backends: [String] = ["engine", "serial"],
        parameters: String = #"{"items": 10}"#, runID: String = "run"
    ) throws -> RunPlan {
        let spec = try Fixture.spec("independent", parameters, backends: backends)
        return try RunPlan(
            specs: [spec],
            options: RunOptions(blocks: blocks, seed: seed, directory: folder, runID: runID, resume: resume))
    }

    private func samples(_ folder: String) throws -> [SampleRow] {
        try CSVFile.read(SampleRow.self, file: "\(folder)/run/samples.csv")
    }

    @Test func `a run saves rows, histograms and its description`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder)
        var events: [String] = []
        let outcome = try await runner(plan).run { event in
            switch event {
            case .started(let total, _, _, _, _): events.append("started \(total)")
            case .calibrating: events.append("calibrating")
            case .finished: events.append("finished")
            default: break
            }
        }
        #expect(events == ["calibrating", "started \(plan.samples.count)", "finished"])
        #expect(outcome.folder == "\(folder)/run" && outcome.samplesTaken == plan.samples.count)
        let rows = try samples(folder)
        #expect(outcome.samples == rows && outcome.facts?.isFinished == true)
        #expect(rows.filter { $0.metric == "status" }.map(\.sampleID) == plan.samples.map(\.id))
        let times = rows.filter { $0.metric == "time" }.map(\.value)
        #expect(times == (1...plan.samples.count).map { Double($0) })
        #expect(rows.allSatisfy { $0.parameters["items"] == "10" && $0.runID == "run" })
        let histograms = try CSVFile.read(HistogramRow.self, file: "\(folder)/run/histograms.csv")
        #expect(histograms.count == plan.samples.count)
        let facts = try RunFacts.decode("\(folder)/run/run.json")
        #expect(facts.identity == RunFacts.identity(of: plan))
        #expect(facts.calibration.iterationsPerNanosecond > 0 && facts.calibration.meanSlowdown ?? 0 >= 1)
        #expect(facts.identity.workloads.map(\.sha256) == plan.specs.map(\.sha256))
    }

    @Test func `crashes and timeouts are results, and after two nothing more is tried`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder, blocks: 2, backends: ["engine"])
        _ = try await runner(plan) { number, request in
            switch number {
            case 0: ChildResult(ending: .signaled(11), output: [], diagnostics: "\nFatal error: oh, no\nmore")
            case 1: ChildResult(ending: .timedOut, output: [], diagnostics: "")
            default: try Self.ok(number, request)
            }
        }.run { _ in }
        let rows = try samples(folder)
        #expect(rows.first?.status == .crashed)
        let ends = rows.filter { $0.metric == "status" }
        #expect(ends.count == plan.samples.count)
        #expect(ends[0].notes == "SIGSEGV; Fatal error: oh, no")
        #expect(ends[1].status == .timeout && ends[1].notes.contains("30 s") && ends[1].notes.contains("--timeout"))
        #expect(ends[2...].allSatisfy { $0.status == .skipped && $0.notes.contains("2") })
    }

    @Test func `the description of a long run is written periodically, and at its end`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder, blocks: 150)
        var (written, last) = (0, stat())
        _ = try await runner(plan).run { event in
            guard case .sampleFinished = event else { return }
            var facts = stat()
            stat("\(folder)/run/run.json", &facts)
            // It is replaced, so it is a different file each time.
            if facts.st_ino != last.st_ino { written += 1 }
            last = facts
        }
        let samplesPerProgress = plan.samples.count / 200
        #expect(samplesPerProgress > 1)
        #expect(written == 1 + plan.samples.count / samplesPerProgress)
        let end = try RunFacts.decode("\(folder)/run/run.json").progress
        #expect(end?.samplesDone == plan.samples.count && end?.state == .finished)
    }

    @Test func `the rest is estimated from the durations of samples`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder, blocks: 3)
        var (estimated, finished) = (0.0, 0.0)
        _ = try await runner(plan).run { event in
            switch event {
            case .started(_, _, let seconds, _, _): estimated = seconds
            case .sampleFinished(_, _, _, let seconds): finished += seconds
            default: break
            }
        }
        #expect(finished > 0 && abs(estimated - 0.1 - finished) < 1e-6)
    }

    @Test func `an invalid answer counts as a crash`() {
        let report = SampleReport(
            ChildResult(ending: .exited(0), output: [123], diagnostics: ""), timeoutSeconds: 1)
        #expect(report.status == .crashed)
        #expect(report.notes.contains("0"))
    }

    @Test func `figures that cannot have been measured are left out, with a note, so that the run can be read`()
        async throws
    {
        let folder = try Fixture.folder()
        _ = try await runner(try plan(folder, blocks: 1, backends: ["engine"])) { _, _ in
            var report = SampleReport()
            report.add(.time, "total", -1, phase: "total", operations: 10)
            report.add(.cpuTime, "total", 1, phase: "total", operations: 0)
            report.add(.pageFaults, "total", 1e61, phase: "total", operations: 10)
            report.add(.retainedBytes, "total", -1, phase: "mark:pending", operations: 10)
            return ChildResult(ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
        }.run { _ in }
        let rows = try samples(folder)
        let known: Set<Metric> = [.time, .cpuTime, .pageFaults, .retainedBytes]
        #expect(Set(rows.map(\.metric)).intersection(known.map(\.name)) == ["retained_bytes"])
        for metric in ["time", "cpu_time", "page_faults"] {
            #expect(rows.allSatisfy { $0.notes.split(separator: "; ").contains { $0.hasPrefix("\(metric) ") } })
        }
    }

    @Test func `a sample taken under interference is kept, flagged and repeated once`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder, blocks: 3, backends: ["engine"])
        var finished = 0
        let outcome = try await runner(plan) { number, request in
            var result = try Self.ok(number, request)
            if number == 0 {
                var report = try JSONDecoder().decode(SampleReport.self, from: Data(result.output))
                report.referenceLoopNanoseconds = [900_000]
                result.output = Array(try JSONEncoder().encode(report))
            }
            return result
        }.run { if case .sampleFinished = $0 { finished += 1 } }
        #expect(finished == plan.samples.count)
        #expect(outcome.samplesTaken == plan.samples.count + 1)
        let ends = try samples(folder).filter { $0.metric == "status" }
        #expect(ends[0].sampleID == plan.samples[0].id && ends[0].flags.contains(.noisy))
        #expect(ends[1].sampleID == plan.samples[0].rerunID && ends[1].flags == [.rerun])
        #expect(ends[1].block == ends[0].block && ends[1].position == ends[0].position)
    }

    /// The interference is the same, sample for sample; the reported values are drawn again.
    @Test(arguments: 1...2 as ClosedRange<UInt64>)
    func `the choice of repeated samples does not depend on their values`(seed: UInt64) async throws {
        var taken: [[String]] = []
        for results in 0..<3 as Range<UInt64> {
            let folder = try Fixture.folder()
            let plan = try plan(folder, blocks: 10, seed: seed)
            // Two readings per sample, each with some probability of stolen time before it.
            let world = ScriptedWorld(seed: seed)
            let draws = ScriptedWorld(seed: 1000 * seed + results)
            let take: @Sendable (SampleRequest, String) throws -> ChildResult = { _, _ in
                var report = SampleReport()
                let scale = draws.unit()
                report.add(.time, "total", 1e-6 / (1.000001 - scale), phase: "total", operations: 10)
                report.add(.startLatency, "p99", scale, operations: 10)
                if scale < 0.2 { report.status = .invalid }
                if scale > 0.6 { report.flags = [.short, .slope, .unsteady] }
                report.referenceLoopNanoseconds = [world.referenceLoop()]
                return ChildResult(
                    ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
            }
            let runner = PlanRunner(plan: plan, readCovariates: { world.reading() }, take: take)
            _ = try await runner.run { _ in }
            taken.append(try samples(folder).filter { $0.metric == "status" }.map(\.sampleID))
        }
        #expect(taken[0].contains { $0.contains("r-") } && taken[0].contains { !$0.contains("r-") })
        #expect(taken[1] == taken[0] && taken[2] == taken[0])
    }

    @Test func `at most a tenth of a plan is repeated, and nothing in a quick run`() async throws {
        for isQuick in [false, true] {
            let folder = try Fixture.folder()
            let plan = try plan(folder, blocks: 10)
            var options = plan.options
            options.isQuick = isQuick
            let stormy = try RunPlan(specs: plan.specs, options: options)
            let outcome = try await runner(stormy) { number, request in
                var report = SampleReport()
                report.referenceLoopNanoseconds = [900_000]
                return ChildResult(
                    ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
            }.run { _ in }
            #expect(outcome.samplesTaken - stormy.samples.count == (isQuick ? 0 : stormy.samples.count / 10))
            #expect(try samples(folder).allSatisfy { $0.flags.contains(.noisy) })
        }
    }

    @Test func `a cancelled run keeps its samples and is marked as interrupted`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder)
        let outcome = try await runner(plan) { number, request in
            if number == 3 { throw CancellationError() }
            return try Self.ok(number, request)
        }.run { _ in }
        #expect(outcome.facts?.isFinished == false)
        #expect(try samples(folder).filter { $0.metric == "status" }.count == 3)
        let text = SystemFile.text("\(folder)/run/run.json")
        #expect(text.contains(#""state" : "cancelled""#))
    }

    @Test func `a resumed run continues where it was interrupted, and drops torn rows`() async throws {
        let folder = try Fixture.folder()
        let begun = try plan(folder)
        _ = try await runner(begun) { number, request in
            if number == 4 { throw CancellationError() }
            return try Self.ok(number, request)
        }.run { _ in }
        let file = "\(folder)/run/samples.csv"
        let text = SystemFile.text(file)
        // As if killed during the last sample: its status row is missing, and the row before it is torn.
        let lines = text.split(separator: "\n")
        let torn = lines.dropLast().joined(separator: "\n").dropLast(7)
        try Data(torn.utf8).write(to: URL(fileURLWithPath: file))
        try Data((SystemFile.text("\(folder)/run/histograms.csv") + "00009-la").utf8)
            .write(to: URL(fileURLWithPath: "\(folder)/run/histograms.csv"))
        let resumed = try plan(folder, resume: true)
        var first: Int?
        let outcome = try await runner(resumed).run { event in
            if case .sampleStarted(let index, _, _, _, _, _) = event, first == nil { first = index }
        }
        #expect(first == 3)
        #expect(outcome.samplesTaken == resumed.samples.count - 3)
        let rows = try samples(folder)
        #expect(rows.filter { $0.metric == "status" }.map(\.sampleID) == resumed.samples.map(\.id))
        #expect(rows.filter { $0.metric == "time" }.count == resumed.samples.count)
        let histograms = try CSVFile.read(HistogramRow.self, file: "\(folder)/run/histograms.csv")
        #expect(histograms.count == resumed.samples.count)
    }

    /// The fact that the message names, and the change of run.json.
    @Test(arguments: [
        ("program", "\"sha256\" : \"", "\"sha256\" : \"0"), ("allocator", "\"allocator\" : \"", "\"allocator\" : \"0"),
        ("kernel", "\"kernel\" : \"", "\"kernel\" : \"0"),
        ("libswiftCore.so", "\"libswiftCore.so\" : \"", "\"libswiftCore.so\" : \"0"),
        ("LD_AUDIT", "\"environment\" : {", "\"environment\" : {\"LD_AUDIT\": \"mine.so\"}, \"rest\" : {"),
    ])
    func `a run of another program or host is not resumed, finished or not, and stays unchanged`(
        name: String, old: String, new: String
    ) async throws {
        for last in [4, Int.max] {
            let folder = try Fixture.folder()
            _ = try await runner(try plan(folder)) { number, request in
                if number == last { throw CancellationError() }
                return try Self.ok(number, request)
            }.run { _ in }
            let file = "\(folder)/run/run.json"
            let text = SystemFile.text(file).replacing(old, with: new)
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let before = try files(folder)
            let resumed = runner(try plan(folder, resume: true))
            let error = await #expect(throws: InputError.self) { try await resumed.run { _ in } }
            #expect(error?.file == file && error?.message.contains(name) == true, "\(error.debugDescription)")
            #expect(try files(folder) == before)
        }
    }

    @Test func `a finished run has nothing left to do`() async throws {
        let folder = try Fixture.folder()
        _ = try await runner(try plan(folder)).run { _ in }
        let before = try files(folder)
        var events = 0
        let outcome = try await runner(try plan(folder, resume: true)).run { event in
            events += 1
            if case .foundFinished = event { return }
            Issue.record("\(event)")
        }
        #expect(outcome.samplesTaken == 0 && events == 1)
        #expect(try outcome.samples == samples(folder) && outcome.facts?.isFinished == true)
        #expect(try files(folder) == before)
    }

    @Test func `a run of another version is not resumed, and stays unchanged`() async throws {
        let folder = try Fixture.folder()
        _ = try await runner(try plan(folder)) { number, request in
            if number == 3 { throw CancellationError() }
            return try Self.ok(number, request)
        }.run { _ in }
        let description = "\(folder)/run/run.json"
        let text = SystemFile.text(description).replacing(
            "\"schema_version\" : \"\(SchemaVersion.current)\"", with: "\"schema_version\" : \"2\"")
        try Data(text.utf8).write(to: URL(fileURLWithPath: description))
        let before = try files(folder)
        let resumed = runner(try plan(folder, resume: true))
        let error = await #expect(throws: InputError.self) { try await resumed.run { _ in } }
        let versions = ["2", SchemaVersion.current]
        #expect(versions.allSatisfy { error?.message.contains($0) == true } && error?.remedy.isEmpty == false)
        #expect(try files(folder) == before)
    }

    /// The run's files: their contents and modification times.
    private func files(_ folder: String) throws -> [String: [String]] {
        let path = "\(folder)/run"
        var files: [String: [String]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let facts = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            let changed = try #require(facts[.modificationDate] as? Date)
            files[name] = ["\(changed.timeIntervalSinceReferenceDate)", SystemFile.text("\(path)/\(name)")]
        }
        return files
    }

    @Test(arguments: ["samples.csv", "histograms.csv"])
    func `a finished run with incomplete rows is resumed`(name: String) async throws {
        let folder = try Fixture.folder()
        _ = try await runner(try plan(folder)).run { _ in }
        let whole = try samples(folder)
        let file = "\(folder)/run/\(name)"
        try Data(SystemFile.text(file).dropLast(3).utf8).write(to: URL(fileURLWithPath: file))
        let outcome = try await runner(try plan(folder, resume: true)).run { event in
            if case .foundFinished = event { Issue.record("a torn run counts as finished") }
        }
        #expect(outcome.samplesTaken == (name == "samples.csv" ? 1 : 0))
        #expect(try samples(folder).map(\.sampleID) == whole.map(\.sampleID))
        #expect(SystemFile.text(file).hasSuffix("\n"))
    }

    @Test func `a finished run's files are written before its state`() async throws {
        struct Full: Error {}
        let folder = try Fixture.folder()
        await #expect(throws: Full.self) {
            _ = try await runner(try plan(folder)).run(onEvent: { _ in }, beforeEnd: { _ in throw Full() })
        }
        #expect(SystemFile.text("\(folder)/run/run.json").contains(#""state" : "running""#))
        var isWritten = false
        let outcome = try await runner(try plan(folder, resume: true)).run(
            onEvent: { _ in }, beforeEnd: { isWritten = !$0.isEmpty })
        #expect(isWritten && outcome.samplesTaken == 0)
        #expect(SystemFile.text("\(folder)/run/run.json").contains(#""state" : "finished""#))
    }

    @Test func `a different run is not resumed`() async throws {
        let folder = try Fixture.folder()
        _ = try await runner(try plan(folder)).run { _ in }
        var (backend, metric) = (try plan(folder, resume: true).options, try plan(folder, resume: true).options)
        (backend.backends, metric.kinds) = ([.engine], [.throughput])
        let spec = try Fixture.spec("independent", #"{"items": 10}"#, backends: ["engine", "serial"])
        var cells = spec
        cells.cells = try Fixture.spec("independent", #"{"items": 11}"#).cells
        for (other, difference) in [
            (try plan(folder, resume: true, seed: 2), "--seed"), (try plan(folder, blocks: 3, resume: true), "blocks"),
            (try plan(folder, resume: true, parameters: #"{"items": 11}"#), "workloads"),
            (try RunPlan(specs: [cells], options: backend), "cells"),
            (try RunPlan(specs: [spec], options: backend), "backends"),
            (try RunPlan(specs: [spec], options: metric), "metrics"),
            (try plan(folder, resume: true, runID: "none"), "no run"),
        ] {
            let error = await #expect(throws: InputError.self) { _ = try await runner(other).run { _ in } }
            #expect(error?.message.contains(difference) == true, "\(error.debugDescription)")
        }
    }

    @Test func `an existing run is not overwritten, and an impossible folder is bad input`() async throws {
        let folder = try Fixture.folder()
        _ = try await runner(try plan(folder)).run { _ in }
        await #expect(throws: InputError.self) { _ = try await runner(try plan(folder)).run { _ in } }
        await #expect(throws: InputError.self) {
            _ = try await runner(try plan("\(folder)/run/run.json")).run { _ in }
        }
    }

    @Test(arguments: [false, true])
    func `a run that was killed before its description existed starts over`(resume: Bool) async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder, resume: resume)
        try FileManager.default.createDirectory(atPath: "\(folder)/run", withIntermediateDirectories: true)
        let torn = CSVFile.header(of: SampleRow.self, parameters: plan.parameterNames) + "1,run,0000"
        try Data(torn.utf8).write(to: URL(fileURLWithPath: "\(folder)/run/samples.csv"))
        let outcome = try await runner(plan).run { _ in }
        #expect(outcome.samplesTaken == plan.samples.count)
        #expect(try samples(folder).filter { $0.metric == "status" }.map(\.sampleID) == plan.samples.map(\.id))
    }

    @Test func `each omission has one row`() async throws {
        let folder = try Fixture.folder()
        let backends = ["engine", "concurrency"]
        let spec = try Fixture.spec("chain", #"{"depth": 3, "queues": 2}"#, backends: backends)
        for resume in [false, true] {
            let plan = try RunPlan(
                specs: [spec],
                options: RunOptions(blocks: 1, directory: folder, runID: "run", resume: resume))
            _ = try await runner(plan).run { _ in }
            let omitted = try samples(folder).filter { $0.status == .unsupported }
            #expect(omitted.count == 1 && omitted.allSatisfy { !$0.notes.isEmpty })
        }
    }
}

/// Interference drawn only from a seed.
private final class ScriptedWorld: @unchecked Sendable {
    private var generator: SplitMix64
    private var covariates = Covariates(steal: 0)

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    /// Called by one task at a time.
    func unit() -> Double { generator.unit() }

    func reading() -> Covariates {
        covariates.instant += 1_000_000_000
        if unit() < 0.05 { covariates.steal! += 5e8 }
        return covariates
    }

    func referenceLoop() -> Int64 { unit() < 0.05 ? 200_000 : 100_000 }
}

@Suite struct ChildProcessTests {
    /// A program that already exists. One written here could not be executed while another test's child, forked
    /// meanwhile, still has the file open for writing (ETXTBSY).
    private static let child = ChildProcess(
        executable: URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("child").path)

    private func run(_ script: String, timeout: Double = 3600) async throws -> ChildResult {
        try await Self.child.run(
            request: Array("hello".utf8), environment: ["CHILD_SCRIPT": script], timeoutSeconds: timeout)
    }

    @Test func `the request comes in and the answer goes out`() async throws {
        let script = #"echo "$1 $(cat) ${#CHILD_SCRIPT}"; echo trouble >&2"#
        let result = try await run(script)
        #expect(result.ending == .exited(0))
        #expect(String(decoding: result.output, as: UTF8.self) == "__sample hello \(script.count)\n")
        #expect(result.diagnostics == "trouble\n")
    }

    @Test func `exit statuses and signals are distinguished`() async throws {
        #expect(try await run("exit 7").ending == .exited(7))
        #expect(try await run("kill -SEGV $$").ending == .signaled(11))
    }

    @Test func `a child that does not end is killed`() async throws {
        // On a busy machine, the child may be slow to start.
        for timeout in [0.1, 1, 10, 100, 1000] {
            let result = try await run("echo begun; exec sleep 10000", timeout: timeout)
            #expect(result.ending == .timedOut)
            if String(decoding: result.output, as: UTF8.self) == "begun\n" { return }
            #expect(result.output == [])
        }
        Issue.record("the child never started")
    }

    @Test(
        "descendants of a child end with it, whether it ends itself or is killed",
        arguments: [("", [3600.0]), ("kill -SEGV $$", [3600]), ("exec sleep 10000", [0.3, 1, 10, 100])])
    func grandchildren(end: String, timeouts: [Double]) async throws {
        var output = ""
        // On a busy machine, the child may be slow to start.
        for timeout in timeouts where output.isEmpty {
            let result = try await run("sleep 10000 >/dev/null 2>&1 </dev/null & echo $!; \(end)", timeout: timeout)
            output = String(decoding: result.output, as: UTF8.self)
        }
        let process = try #require(Int32(output.trimmingCharacters(in: .newlines)))
        // It exists as a zombie until the inheriting process has waited for it.
        let patience = Patience()
        while !patience.isOver() {
            let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            if status.isEmpty || status.contains(") Z ") { return }
            await Task.yield()
        }
        Issue.record("the process did not end")
    }

    @Test func `a child with endless output takes limited memory, and its last output is kept`() async throws {
        let result = try await run("yes trouble >&2 2>/dev/null; exit 7")
        #expect(result.ending == .exited(7))
        #expect(result.diagnostics.utf8.count == 2000 && result.diagnostics.contains("\ntrouble\n"))
    }

    @Test func `cancelling the task ends the child`() async throws {
        let task = Task { try await run("exec sleep 10000") }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test func `a missing program is an error`() async throws {
        let child = ChildProcess(executable: "/nonexistent/opbench")
        let error = await #expect(throws: StartFailure.self) {
            _ = try await child.run(request: [], environment: [:], timeoutSeconds: 1000)
        }
        let words = error?.description ?? ""
        #expect(words.contains("/nonexistent/opbench") && words.contains("ulimit -u"))
    }
}
