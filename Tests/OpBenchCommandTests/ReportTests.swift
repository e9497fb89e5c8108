import Foundation
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel

/// `opbench report`: its verdicts, and runs that cannot be shown.
@Suite("Pages of runs")
struct ReportTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// A run of one cell whose operations take this long on the engine, and another time on Dispatch.
    private func writeRun(
        _ name: String, nanoseconds: Double, dispatch: Double = 1000, blocks: Int = 15, sides: [String] = [""]
    ) throws {
        var rows: [SampleRow] = []
        func add(_ backend: BackendID, _ side: String, _ block: Int, _ metric: Metric, _ stat: String, _ value: Double)
        {
            rows.append(
                SampleRow(
                    runID: name, sampleID: "\(block)\(backend.rawValue)\(side)-throughput",
                    timestampUTC: "2026-01-01T00:00:00.000Z", workload: "w", cellID: "w items=10", backend: backend,
                    side: side, block: block, position: 0, phase: "total", status: .ok, metric: metric.name, stat: stat,
                    value: value, operations: 1000, parameters: ["items": "10"]))
        }
        for block in 0..<blocks {
            for side in sides {
                for backend in [BackendID.engine, .dispatch] {
                    let own = backend == .engine ? nanoseconds : dispatch
                    let time = own * (1 + Double(block * 7 % 11) / 1000)
                    add(backend, side, block, .time, "total", time * 1000)
                    add(backend, side, block, .operationThroughput, "rate", 1e9 / time)
                }
            }
        }
        try folder.write(CSVFile.text(of: rows), to: "results/\(name)/samples.csv")
    }

    private var file: String { "\(folder.root)/page.html" }

    /// The page that the command writes.
    private func report(_ words: String...) throws -> String {
        let arguments = ["report"] + words + ["--results", "\(folder.root)/results", "--output", file, "--open", "no"]
        var command = try OpBench.command(of: arguments)
        try command.run()
        return try String(contentsOfFile: file, encoding: .utf8)
    }

    private func outcomes(_ html: String) -> [String] {
        html.matches(of: /<article class="verdict" data-outcome="([^"]*)"/).map { String($0.1) }
    }

    @Test("list commands that would judge, if nothing was judged")
    func nothingJudged() throws {
        try writeRun("one", nanoseconds: 500)
        let html = try report("one")
        #expect(outcomes(html) == [])
        #expect(html.contains("report one --baseline RUN</code>"))
    }

    @Test("begin with the workloads, the date and the findings, of which noise is one")
    func heading() throws {
        try writeRun("one", nanoseconds: 500)
        let calm = try report("one", "--title", "Before <the> release")
        #expect(calm.contains("<h1>Before &lt;the&gt; release</h1>"))
        #expect(calm.contains("<span>2026-01-01 00:00:00 UTC</span>"))
        let samples = "results/one/samples.csv"
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder.root)/\(samples)").map { row in
            var row = row
            if row.block > 1 { row.flags = [.noisy] }
            return row
        }
        try folder.write(CSVFile.text(of: rows), to: samples)
        let noisy = try report("one")
        #expect(noisy.contains("<h1>engine compared with dispatch</h1>"))
        for (name, html) in [("calm", calm), ("noisy", noisy)] {
            let start = try #require(html.firstRange(of: "<p class=\"run\">")).lowerBound
            let end = try #require(html[start...].firstRange(of: "<noscript>")).lowerBound
            Golden("report-heading").expect(String(html[start..<end]), name)
        }
    }

    @Test("are in the run's folder by default, and the whole path is printed")
    func standardPlace() async throws {
        try writeRun("one", nanoseconds: 500)
        try writeRun("two", nanoseconds: 500)
        let made = try await OpBenchProcess.runHere(["report", "two", "one", "--open", "no"], in: folder)
        #expect(made.status == 0)
        let path = "\(folder.root)/results/two/report.html"
        #expect(made.errors.contains(path), "\(made.errors)")
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: "\(folder.root)/report.html"))
    }

    @Test("judge each run against the baseline like the gate")
    func baseline() throws {
        try writeRun("base", nanoseconds: 500)
        try writeRun("slow", nanoseconds: 500, dispatch: 900)
        #expect(outcomes(try report("slow", "base", "--baseline", "base")) == ["regression", "pass"])
    }

    @Test("judge the sides of a run of two builds, and goals")
    func sidesAndGoals() throws {
        try writeRun("sides", nanoseconds: 500, sides: ["base", "head"])
        #expect(outcomes(try report("sides")) == ["pass"])
        try writeRun("one", nanoseconds: 500)
        for (bound, outcome) in [("1000", "pass"), ("1", "missed")] {
            try folder.write(
                """
                {"version": 1, "rules": [{"backend": "engine", "metric": "time", "phase": "total", "at_most": \(bound)}]}
                """, to: "goals.json")
            #expect(outcomes(try report("one", "--policy", "\(folder.root)/goals.json")) == [outcome])
        }
    }

    @Test("name the two interleaved builds in the verdict's heading")
    func builds() throws {
        var run = WrittenRun(name: "two")
        run.refs = ("main", "HEAD")
        run.commits = (String(repeating: "0a", count: 20), String(repeating: "1b", count: 20))
        for block in 0..<7 {
            for side in ["base", "head"] { run.add(.engine, block: block, .time, 1000 + Double(block), side: side) }
        }
        try run.write(to: "\(folder.root)/results")
        let heading = try #require(try report("two").firstMatch(of: /<h3>(.*)<\/h3>/)).1
        for name in ["two", "main (0a0a0a0a0a)", "HEAD (1b1b1b1b1b)"] { #expect(heading.contains(name), "\(heading)") }
    }

    @Test("are not written for rules of two sides with one side, or without a run")
    func refusals() throws {
        try writeRun("one", nanoseconds: 500)
        try folder.write(
            #"{"version": 1, "rules": [{"backend": "engine", "metric": "time", "max_regression": 0.05}]}"#,
            to: "rules.json")
        #expect(throws: InputError.self) { try report("one", "--policy", "\(folder.root)/rules.json") }
        #expect(throws: InputError.self) { try report("none") }
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test("contain the explanations in the run's folder")
    func explanations() throws {
        try writeRun("one", nanoseconds: 500)
        try folder.write("w, engine → dispatch\n  run(): +1 ns\n", to: "results/one/why/w-explanation.txt")
        #expect(try report("one").contains("<summary>Explained: w, engine → dispatch</summary>"))
    }

    @Test("contain the slowest operations of a profile in the run's folder, and leave out what is no such file")
    func tails() throws {
        try writeRun("one", nanoseconds: 500)
        let greatest = Int64.max
        let spread = "{\"p50\": 0, \"p90\": 1, \"p99\": \(Int64.min), \"max\": \(greatest)}"
        try folder.write(
            """
            {"title": "w on <engine>", "groups": [{"group": "a<b", "operations": \(greatest), "per_second": 1e300,
              "latency_ns": \(spread), "wait_ns": \(spread), "body_ns": \(spread), "slow": 0,
              "slow_latency_ns": \(greatest), "reasons": [{"name": "limit", "ns": \(greatest)}], "culprits": []}],
             "running": 0.5, "processors": 2,
             "culprits": [{"word": "limit", "name": "the limit", "delay": \(greatest), "delayed": 9, "groups": [],
              "incidents": 0, "clearest": [{"delay": \(Int64.min), "delayed": 0, "victim": {"operation": 3,
              "group": "", "submit_ns": \(Int64.min), "ready_ns": \(greatest), "start_ns": 0, "end_ns": \(greatest),
              "reasons": []}}]}]}
            """, to: "results/one/profile/w/tail.json")
        try folder.write("[]", to: "results/one/profile/v/tail.json")
        let html = try report("one")
        #expect(html.contains("w on &lt;engine&gt;</summary>") && html.contains("a&lt;b"))
        #expect(html.components(separatedBy: "class=\"explanation\"").count == 2)
    }

    @Test("contain the latencies from histograms next to the rows, for good samples that were not repeated")
    func latencies() throws {
        try writeRun("one", nanoseconds: 500)
        let file = "\(folder.root)/results/one/samples.csv"
        let samples: [(id: String, block: Int, status: SampleStatus, flags: [SampleFlag])] = [
            ("0-latency", 0, .ok, [.noisy]), ("0r-latency", 0, .ok, [.rerun]), ("1-latency", 1, .invalid, []),
        ]
        var rows = try CSVFile.read(SampleRow.self, file: file)
        rows += samples.map { sample in
            SampleRow(
                runID: "one", sampleID: sample.id, timestampUTC: "2026-01-01T00:00:00.000Z", workload: "w",
                cellID: "w items=10", backend: .engine, block: sample.block, position: 0, status: sample.status,
                flags: sample.flags, metric: Metric.status.name, stat: "", value: nil, operations: 10,
                parameters: ["items": "10"])
        }
        try folder.write(CSVFile.text(of: rows), to: "results/one/samples.csv")
        let histograms = samples.map { sample in
            HistogramRow(
                workload: "w", cellID: "w items=10", backend: .engine, sampleID: sample.id, stage: "start",
                upperBoundsNanoseconds: sample.id == "0r-latency" ? [100, 200] : [7000, 8000], counts: [5, 5])
        }
        try folder.write(CSVFile.text(of: histograms), to: "results/one/histograms.csv")
        let html = try report("one")
        #expect(html.contains("\"latencies\":[[0,0,0,\"\",\"\",\"start\",10,[0.5,100,1,200],"))
    }
}
