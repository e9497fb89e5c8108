import OpBenchAnalysis
import Testing

@testable import OpBenchModel
@testable import OpBenchPage

/// Rows of a run, and a page made of them.
struct PageFixture {
    var samples: [SampleRow] = []

    /// Adds one throughput sample.
    mutating func add(
        _ backend: String = "engine", cell: String = "w items=10", workload: String = "w", block: Int = 0,
        rate: Double? = 1e6, side: String = "", flags: [SampleFlag] = [], status: SampleStatus = .ok,
        parameters: [String: String] = ["items": "10"]
    ) {
        func row(_ metric: Metric, _ stat: String, _ phase: String, _ value: Double?) -> SampleRow {
            SampleRow(
                runID: "r", sampleID: "\(samples.count / 3)\(side)-throughput", timestampUTC: "2026-11-23T00:00:00Z",
                workload: workload, cellID: cell, backend: BackendID(rawValue: backend), side: side, block: block,
                position: 0, phase: phase, status: status, flags: flags, metric: metric.name, stat: stat, value: value,
                operations: 1000, parameters: parameters)
        }
        samples.append(row(.operationThroughput, "rate", "total", rate))
        samples.append(row(.time, "total", "total", rate.map { 1e12 / $0 }))
        samples.append(row(.status, "", "", nil))
    }

    var run: PageRun { PageRun(name: "today", samples: samples, summary: summarize(samples)) }

    func page(verdicts: [JudgedFigures] = []) -> ReportPage { ReportPage(title: "t", verdicts: verdicts, runs: [run]) }
}

extension ReportPage {
    /// The JSON data as a browser extracts it: up to the first end tag.
    func block() throws -> String {
        let html = html(nonce: "n")
        let start = try #require(html.firstRange(of: "<script type=\"application/json\" id=\"data\">"))
        let rest = html[start.upperBound...]
        return String(rest[..<(try #require(rest.firstRange(of: "</script>")).lowerBound)])
    }
}
