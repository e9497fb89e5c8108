@testable import OpBenchAnalysis
@testable import OpBenchModel

/// Rows as a run would write them, for one cell by default.
struct Rows {
    var rows: [SampleRow] = []
    private var count = 0

    /// Adds one sample: its figures, and the row that ends it.
    mutating func add(
        _ backend: BackendID = .engine, kind: String, block: Int, cell: String = "w",
        parameters: [String: String] = ["items": "10"], run: String = "r",
        side: String = "", layout: Int? = nil, status: SampleStatus = .ok, flags: [SampleFlag] = [],
        repeats: Bool = false,
        figures: [(Metric, stat: String, phase: String, class: String, value: Double, operations: Int)] = []
    ) {
        let sampleID = "\(count)\(repeats ? "r" : "")-\(kind)"
        count += 1
        func row(
            _ metric: Metric, _ stat: String, _ phase: String, _ operationClass: String,
            _ value: Double?, _ n: Int
        ) -> SampleRow {
            SampleRow(
                runID: run, sampleID: sampleID, timestampUTC: "", workload: "w", cellID: cell, backend: backend,
                side: side, layout: layout, block: block, position: 0, phase: phase, operationClass: operationClass,
                status: status, flags: flags, metric: metric.name, stat: stat, value: value, operations: n,
                parameters: parameters)
        }
        rows += figures.map { row($0.0, $0.stat, $0.phase, $0.class, $0.value, $0.operations) }
        rows.append(row(.status, "", "", "", nil, 0))
    }

    /// A throughput sample with that total time in seconds.
    mutating func addThroughput(
        _ backend: BackendID = .engine, block: Int, seconds: Double, operations: Int = 1000, rounds: Double = 1,
        cell: String = "w", parameters: [String: String] = ["items": "10"], run: String = "r", side: String = "",
        layout: Int? = nil, spread: Double? = nil, flags: [SampleFlag] = [], repeats: Bool = false,
        change: Double? = nil
    ) {
        add(
            backend, kind: "throughput", block: block, cell: cell, parameters: parameters, run: run, side: side,
            layout: layout, flags: flags, repeats: repeats,
            figures: [
                (.time, "total", "total", "", 1e9 * seconds, operations),
                (.time, "total", "makespan", "", 1e9 * seconds / 2, operations),
                (.operationThroughput, "rate", "total", "", Double(operations) / seconds, operations),
                (.itemThroughput, "rate", "total", "", 10 * Double(operations) / seconds, operations),
                (.rounds, "total", "", "", rounds, operations),
                (.cpuTime, "total", "total", "", 2e9 * seconds, operations),
                (.voluntarySwitches, "total", "total", "", 50, operations),
                (.involuntarySwitches, "total", "total", "", 5, operations),
            ] + (spread.map { [(.roundSpread, "mean", "total", "", $0, operations)] } ?? [])
                + (change.map { [(.roundChange, "mean", "total", "", $0, operations)] } ?? []))
    }
}

extension Comparison.Question {
    /// One rule for all figures, or for those of some metrics.
    init(_ rule: FigureRule, for metrics: [String] = ["*"], phase: String = "*") {
        self.init(
            GatePolicy(
                rules: metrics.map { metric in
                    var selector = GatePolicy.Selector()
                    (selector.metric, selector.phase) = (metric, phase)
                    return .init(selector, rule)
                }))
    }
}
