import Foundation
import OpBenchModel
import TestSupport
import Testing

/// `opbench export`: its output for other tools.
@Suite("Exports")
struct ExportTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// A run of one cell whose operations take this many nanoseconds, and twice as many on Dispatch. The last sample of
    /// each backend repeats a noisy one.
    private func writeRun(_ name: String, day: Int, nanoseconds: Double, allocations: Double? = 2) throws {
        var rows: [SampleRow] = []
        func add(
            _ backend: BackendID, _ kind: String, _ block: Int, _ metric: Metric, _ stat: String, _ value: Double,
            _ flags: [SampleFlag] = []
        ) {
            rows.append(
                SampleRow(
                    runID: name, sampleID: "\(rows.count)-\(kind)",
                    timestampUTC: "2026-0\(1 + day / 28)-\(day % 28 < 9 ? "0" : "")\(1 + day % 28)T00:00:00.000Z",
                    workload: "w", cellID: "w items=10", backend: backend, block: block, position: 0, phase: "total",
                    status: .ok, flags: flags, metric: metric.name, stat: stat, value: value, operations: 1000,
                    parameters: ["items": "10"]))
        }
        for block in 0..<7 {
            for backend in [BackendID.engine, .dispatch] {
                let noise = 1 + Double((block * 7 + day * 3) % 11) / 1000
                let time = nanoseconds * noise * (backend == .engine ? 1 : 2)
                let samples: [(flags: [SampleFlag], slowdown: Double)] =
                    block == 6 ? [([.noisy], 3), ([.rerun], 1)] : [([], 1)]
                for (flags, slowdown) in samples {
                    add(backend, "throughput", block, .time, "total", time * slowdown * 1000, flags)
                    add(backend, "throughput", block, .operationThroughput, "rate", 1e9 / time / slowdown, flags)
                }
            }
        }
        if let allocations { add(.engine, "allocations", 0, .allocations, "total", allocations * 1000) }
        try folder.write(CSVFile.text(of: rows), to: "results/\(name)/samples.csv")
    }

    private func export(_ format: String, _ runs: [String]) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.runHere(["export", "--format", format] + runs, in: folder)
    }

    private func json(_ format: String) async throws -> Any {
        let result = try await export(format, ["one"])
        #expect(result.status == 0, "\(result.errors)")
        return try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    }

    @Test("JMH: throughput with its interval, one sample per fork")
    func jmh() async throws {
        try writeRun("one", day: 0, nanoseconds: 500)
        let results = try #require(try await json("jmh") as? [[String: Any]])
        #expect(results.map { $0["benchmark"] as? String } == ["opbench.w.engine", "opbench.w.dispatch"])
        #expect(results[0]["mode"] as? String == "thrpt")
        #expect(results[0]["params"] as? [String: String] == ["items": "10"])
        let metric = try #require(results[0]["primaryMetric"] as? [String: Any])
        let raw = try #require(metric["rawData"] as? [[Double]])
        #expect(raw.count == 7 && results[0]["forks"] as? Int == 7)
        let score = try #require(metric["score"] as? Double)
        #expect(score == raw.map { $0[0] }.sorted()[3])
        let bounds = try #require(metric["scoreConfidence"] as? [Double])
        #expect(bounds[0] <= score && score <= bounds[1])
        let error = try #require(metric["scoreError"] as? Double)
        #expect(abs(error / max(score - bounds[0], bounds[1] - score) - 1) < 1e-9)
        let others = try #require(results[0]["secondaryMetrics"] as? [String: [String: Any]])
        #expect(others["allocations_per_op"]?["score"] as? Double == 2)
        #expect(others["allocations_per_op"]?["scoreError"] as? String == "NaN")
    }

    @Test("github-action-benchmark: smaller is better in every entry")
    func githubActionBenchmark() async throws {
        try writeRun("one", day: 0, nanoseconds: 500)
        let entries = try #require(try await json("github-action-benchmark") as? [[String: Any]])
        let time = try #require(entries.first { $0["name"] as? String == "w items=10 engine time_ns_per_op" })
        #expect(time["unit"] as? String == "ns/op")
        #expect((500...506).contains(try #require(time["value"] as? Double)))
        #expect((time["range"] as? String)?.contains(" – ") == true)
        #expect(!entries.contains { ($0["name"] as? String)?.contains("throughput") == true })
    }

    @Test("Bencher: a benchmark for each cell and backend, with custom measures under their names")
    func bencher() async throws {
        try writeRun("one", day: 0, nanoseconds: 500)
        let benchmarks = try #require(try await json("bencher") as? [String: [String: [String: Double]]])
        #expect(Set(benchmarks.keys) == ["w items=10 engine", "w items=10 dispatch"])
        let engine = try #require(benchmarks["w items=10 engine"])
        #expect(Set(engine.keys) == ["latency", "throughput", "time-ratio", "allocations-per-op"])
        let latency = try #require(engine["latency"])
        let (low, value, high) = (latency["lower_value"]!, latency["value"]!, latency["upper_value"]!)
        #expect(low <= value && value <= high && (500...506).contains(value))
        #expect(engine["allocations-per-op"] == ["value": 2])
    }

    @Test(
        "bad usage is rejected",
        arguments: [
            ("jmh", ["one", "one"], "one"), ("jmh", ["none"], "none:"), ("xml", ["one"], "'xml' --format jmh"),
        ])
    func refusals(format: String, runs: [String], names: String) async throws {
        try writeRun("one", day: 0, nanoseconds: 500)
        try await OpBenchProcess.expectRefusal(
            of: ["export", "--format", format] + runs, naming: names, in: folder, Golden("exports"))
    }
}
