import Foundation
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel
@testable import OpBenchRunner

/// `opbench run` from the workload file to the files of a run, with the real program and real samples.
@Suite(.serialized)
struct RunTests {
    private static let small = """
        {"name": "small", "summary": "s", "shape": "independent",
         "parameters": {"items": 200, "items_per_operation": [10, 100], "work_ns": 0},
         "backends": ["engine", "dispatch", "foundation", "serial"],
         "skip": [{"backend": "foundation", "when": {"items_per_operation": 10}, "reason": "to see a skip"}]}
        """

    /// Samples that take minutes, so that they are certainly running when something happens to them.
    private static func endless(more: String = "") -> String {
        """
        {"name": "endless", "summary": "s", "shape": "independent",
         "parameters": {"items": 500, "work_ns": 1000000000}, "backends": ["dispatch"], "sample_kinds": ["throughput"]\(more)}
        """
    }

    @Test("four files, whose rows agree with each other and with the output")
    func endToEnd() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let result = try await OpBenchProcess.run(
            ["run", "--quick", "--run-id", "first", "--format", "csv", "small.json"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains(" results/first\n") && result.errors.hasSuffix(" report results/first\n"))
        let files = ["histograms.csv", "run.json", "samples.csv", "summary.csv"]
        #expect(
            folder.contents() == ["results", "results/first"] + files.map { "results/first/\($0)" } + ["small.json"])

        let run = RunFiles(folder, "first")
        let samples = try run.samples()
        let summary = try run.summary()
        let histograms = try CSVFile.read(HistogramRow.self, file: run.path + "/histograms.csv")
        #expect(result.output == (try folder.read("results/first/summary.csv")))
        #expect(Set(samples.map(\.runID)) == ["first"])
        #expect(Set(samples.map(Key.init)).count == samples.count, "keys of rows are unique")
        #expect(Set(histograms.map(\.sampleID)).isSubset(of: samples.map(\.sampleID)))
        let owners = Set(samples.map { "\($0.sampleID) \($0.cellID) \($0.backend.rawValue) \($0.side)" })
        #expect(
            histograms.allSatisfy {
                owners.contains("\($0.sampleID) \($0.cellID) \($0.backend.rawValue) \($0.side)")
                    && $0.workload == "small"
            })
        #expect(
            summary.filter(\.operationClass.isEmpty).map { "\($0.cellID) \($0.backend.rawValue) \($0.status)" } == [
                "small items=200 items_per_operation=10 work_ns=0 engine ok",
                "small items=200 items_per_operation=10 work_ns=0 dispatch ok",
                "small items=200 items_per_operation=10 work_ns=0 foundation skipped",
                "small items=200 items_per_operation=10 work_ns=0 serial ok",
                "small items=200 items_per_operation=100 work_ns=0 engine ok",
                "small items=200 items_per_operation=100 work_ns=0 dispatch ok",
                "small items=200 items_per_operation=100 work_ns=0 foundation ok",
                "small items=200 items_per_operation=100 work_ns=0 serial ok",
            ])
        for row in summary where row.status == .ok {
            #expect(row[.operationThroughput].value ?? 0 > 0)
            #expect(row.ratioTo == .dispatch)
            #expect(row[.pageFaults].value != nil)
            if !samples.contains(where: { $0.notes.contains("ptrace(2)") }) {
                #expect(row[.futexCalls].value != nil)
                #expect(row.backend == .serial ? row[.threadsCreated].value == 0 : row[.threadsCreated].value ?? 0 > 0)
            }
        }
        let manifest = try #require(
            try JSONSerialization.jsonObject(with: Data(folder.read("results/first/run.json").utf8)) as? [String: Any])
        #expect(!manifest.isEmpty)
    }

    @Test(.slow) func `a precision is recorded, with the cells that do not reach it`() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let arguments = [
            "run", "--precision", "20%", "--time-budget", "0.1s", "--metric", "throughput", "--run-id", "r",
            "small.json",
        ]
        let result = try await OpBenchProcess.run(arguments, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        struct Facts: Decodable {
            struct Progress: Decodable {
                let impreciseCells: [String]

                enum CodingKeys: String, CodingKey { case impreciseCells = "imprecise_cells" }
            }

            let precision: Double
            let progress: Progress
        }
        let facts = try JSONDecoder().decode(Facts.self, from: Data(folder.read("results/r/run.json").utf8))
        #expect(facts.precision == 0.2 && result.errors.contains("warning: "))
        let rows = try CSVFile.read(SummaryRow.self, file: "\(folder.root)/results/r/summary.csv")
        #expect(rows.filter { $0.status == .ok }.allSatisfy { $0.samples >= 7 })
        let wide = rows.filter { row in
            guard let value = row[.timeRatio].value, let ends = row.interval(of: .timeRatio) else { return false }
            return max(ends.high - value, value - ends.low) > 0.2 * value
        }
        #expect(facts.progress.impreciseCells == Set(wide.map(\.cellID)).sorted())
        let line = result.errors.split(separator: "\n").first { $0.hasPrefix("opbench: precision: ±20 % of the ") }
        #expect(line.map { $0.hasSuffix("reached in all cells") } == facts.progress.impreciseCells.isEmpty)
    }

    @Test func `a precision is that of ratios within blocks`() throws {
        let rows = (0..<7).flatMap { block in
            // The machine gets slower with each block.
            [(BackendID.dispatch, 1.0), (.engine, 2)].map { backend, time in
                SampleRow(
                    runID: "r", sampleID: "\(block)\(backend)-throughput", timestampUTC: "", workload: "w", cellID: "w",
                    backend: backend, block: block, position: 0, phase: "total", status: .ok, metric: "time",
                    stat: "total", value: time * Double(1 + block), operations: 1, parameters: [:])
            }
        }
        func width(_ options: String...) throws -> Double {
            let command = try RunCommand.parse(options + ["w.json"])
            return try #require(command.amount.budget?.widths(rows)["w"])
        }
        #expect(try width("--precision", "2%") < 1e-9 && width("--time-budget", "1m") < 1e-9)
    }

    @Test(arguments: [
        ["--precision", "2.5"], ["--precision", "0%"], ["--precision", "-2%"], ["--precision", "2%", "--blocks", "9"],
        ["--precision", "2%", "--quick"], ["--precision", "2%", "--for-gate"],
        ["--precision", "2%", "--metric", "latency"], ["--time-budget", "soon"], ["--time-budget", "-1m"],
        ["--time-budget", "1m", "--blocks", "3"],
    ])
    func `a meaningless precision or time budget is rejected`(options: [String]) async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let result = try await OpBenchProcess.runHere(["run"] + options + ["small.json"], in: folder)
        let name = options[0] == "--time-budget" ? "--time-budget" : "--precision"
        #expect(result.status == 64 && result.errors.contains(name), "\(result.errors)")
        #expect(folder.contents() == ["small.json"])
    }

    /// Runs in a separate process: the kernel counts faults by process, and other tests cause some.
    @Test("releasing a fence's operations has fewer page faults than creating them")
    func releaseFaults() async throws {
        let folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "fence", "summary": "s", "shape": "memory_fence",
             "parameters": {"operations": 20000, "payload_bytes": 1024}, "backends": ["engine"],
             "sample_kinds": ["throughput"]}
            """, to: "fence.json")
        let result = try await OpBenchProcess.run(
            ["run", "--quick", "--blocks", "1", "--run-id", "r", "fence.json"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let row = try #require(try RunFiles(folder, "r").summary().first)
        let (whole, release) = (
            try #require(row[.pageFaults].value), try #require(row[.releaseFaults].value)
        )
        // Creating them touches 20 MB of new memory, at least once; releasing them touches little new memory.
        #expect(release >= 0 && release < whole, "\(release) of \(whole)")
    }

    @Test("a finished run is never changed: --resume prints its summary, and leaves its files alone")
    func finished() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let arguments = ["run", "--quick", "--no-progress", "--run-id", "done", "small.json"]
        let first = try await OpBenchProcess.run(arguments, in: folder)
        #expect(first.status == 0, "\(first.errors)")
        let lines = first.output.split(separator: "\n")
        #expect(lines.first == "small items=200 work_ns=0")
        #expect(lines.count { $0.hasPrefix("10 ") || $0.hasPrefix("100 ") } == 2, "\(first.output)")
        #expect(lines.contains { $0.hasPrefix("small: engine takes ") }, "\(first.output)")
        #expect(lines.allSatisfy { $0.count <= 80 })
        let notes = first.errors.split(separator: "\n").filter { !$0.contains("warning: ") }
        #expect(notes.count == 2 && notes[0].contains(" results/") && notes[1].contains(" report results/"))
        let before = try folder.states("results/done")
        #expect(before.count == 5)
        let resumed = try await OpBenchProcess.run(arguments + ["--resume"], in: folder)
        #expect(resumed.status == 0 && resumed.output == first.output)
        #expect(try folder.states("results/done") == before)

        // Lost parts of it are still restored.
        try FileManager.default.removeItem(atPath: folder.root + "/results/done/summary.csv")
        #expect(try await OpBenchProcess.run(arguments + ["--resume"], in: folder).status == 0)
        let after = try folder.states("results/done").filter { $0.key != "." && !$0.key.hasPrefix("summary") }
        #expect(after == before.filter { $0.key != "." && !$0.key.hasPrefix("summary") })
        #expect(try RunFiles(folder, "done").summary().count == 8)
    }

    @Test("a timeout is a result: exit 3, or 0 if the workload expects it")
    func timeout() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.endless(), to: "endless.json")
        let expected = #", "expect": [{"backend": "dispatch", "status": "timeout", "reason": "to see one"}]"#
        try folder.write(Self.endless(more: expected), to: "expected.json")
        for (file, status) in [("endless", 3), ("expected", 0)] {
            let result = try await OpBenchProcess.run(
                ["run", "--quick", "--timeout", "0.3", "--run-id", file, "\(file).json"], in: folder)
            #expect(result.status == status, "\(result.errors)")
            #expect(result.output.contains("timeout"))
            #expect(try RunFiles(folder, file).samples().contains { $0.status == .timeout && $0.metric == "status" })
        }
    }

    @Test("a sample that is killed is `crashed`, with the signal, and the run continues")
    func killedSample() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.endless(), to: "endless.json")
        try folder.write(Self.small, to: "small.json")
        let result = try await OpBenchProcess.run(
            [
                "run", "--quick", "--metric", "throughput", "--timeout", "80000", "--run-id", "k", "endless.json",
                "small.json",
            ], in: folder
        ) { process in
            // A sample that runs for long is one of the endless cell's.
            var killed: Set<Int32> = []
            _ = await eventuallyTrue("the endless cell's samples are killed") {
                for sample in Processes.samples(of: process) where Processes.cpuTicks(of: sample) > 100 {
                    kill(sample, SIGKILL)
                    killed.insert(sample)
                }
                return !killed.isEmpty && !Processes.isAlive(process)
            }
        }
        #expect(result.status == 3, "\(result.errors)")
        let run = RunFiles(folder, "k")
        let endless = try run.samples().filter { $0.workload == "endless" && $0.metric == "status" }
        #expect(!endless.isEmpty)
        #expect(
            result.errors.split(separator: "\n").contains { line in
                ["SIGKILL", "dispatch", "endless items=500"].allSatisfy { line.contains($0) }
            })
        #expect(endless.allSatisfy { $0.status == .crashed && $0.notes.contains("SIGKILL") })
        #expect(try run.summary().filter { $0.workload == "small" && $0.status == .ok }.count == 7)
    }

    @Test("Ctrl-C, SIGTERM and SIGHUP end the samples and keep the rows", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signal(number: Int32) async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let arguments = ["run", "--quick", "--metric", "throughput", "--blocks", "1000", "--run-id", "s", "small.json"]
        let result = try await OpBenchProcess.run(arguments, in: folder) { process in
            _ = await eventuallyTrue("some rows are saved") {
                ((try? folder.read("results/s/samples.csv"))?.utf8.count ?? 0) > 20_000
            }
            kill(process, number)
        }
        #expect(result.status == 128 + number, "\(result.errors)")
        #expect(result.errors.contains(" run --resume " + arguments.dropFirst().joined(separator: " ") + "\n"))
        let run = RunFiles(folder, "s")
        let samples = try run.samples()
        #expect(samples.contains { $0.status == .ok })
        #expect(samples.allSatisfy { $0.status == .ok || $0.status == .skipped })
        #expect(!(try run.summary().isEmpty))
        #expect(result.output.contains("engine"))
    }

    @Test("when the run is killed, its sample dies too, and the saved rows can be resumed", .slow)
    func killedRun() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.endless(), to: "endless.json")
        let arguments = ["run", "--quick", "--run-id", "k", "--timeout", "3", "endless.json"]
        let orphans = Guarded<[Int32]>([])
        let result = try await OpBenchProcess.run(arguments, in: folder) { process in
            _ = await eventuallyTrue("a sample runs") {
                let samples = Processes.samples(of: process).filter { Processes.cpuTicks(of: $0) > 20 }
                orphans.withLock { $0 = samples }
                return !samples.isEmpty
            }
            kill(process, SIGKILL)
        }
        #expect(result.status == -SIGKILL)
        _ = await eventuallyTrue("the sample is gone") { orphans.read().allSatisfy { !Processes.isAlive($0) } }
        let resumed = try await OpBenchProcess.run(arguments + ["--resume"], in: folder)
        #expect(resumed.status == 3, "\(resumed.errors)")
    }
}

/// The key of a row of samples.csv.
private struct Key: Hashable {
    let fields: [String]

    init(_ row: SampleRow) {
        fields = [
            row.sampleID, row.phase, row.operationClass, row.iteration.map(String.init) ?? "", row.metric, row.stat,
        ]
    }
}

/// The files of one run under `results/`.
private struct RunFiles {
    let path: String

    init(_ folder: ScratchFolder, _ runID: String) {
        path = folder.root + "/results/" + runID
    }

    func samples() throws -> [SampleRow] { try CSVFile.read(SampleRow.self, file: path + "/samples.csv") }
    func summary() throws -> [SummaryRow] { try CSVFile.read(SummaryRow.self, file: path + "/summary.csv") }
}

/// Processes, as listed by /proc.
private enum Processes {
    /// The processes of samples that a run has started and that have not ended.
    static func samples(of parent: Int32) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return all.filter { status(of: $0).map { $0.parent == parent && $0.state != "Z" } ?? false && isSample($0) }
    }

    /// A zombie counts as ended, because it no longer runs.
    static func isAlive(_ process: Int32) -> Bool { status(of: process).map { $0.state != "Z" } ?? false }

    /// User time in clock ticks, a hundredth of a second each.
    static func cpuTicks(of process: Int32) -> Int { status(of: process)?.userTicks ?? 0 }

    private static func isSample(_ process: Int32) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8))?.contains("__sample") ?? false
    }

    private static func status(of process: Int32) -> (state: Substring, parent: Int32, userTicks: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return nil }
        // The name, in parentheses, may contain anything.
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 12, let parent = Int32(fields[2]), let ticks = Int(fields[12]) else { return nil }
        return (fields[1], parent, ticks)
    }
}
