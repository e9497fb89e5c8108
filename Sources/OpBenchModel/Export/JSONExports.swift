/// A run in the JSON formats of other tools.
public enum JSONExports {
    /// The format of JMH's results: throughput, one sample per fork.
    public static func jmh(_ run: ExportedRun) -> String {
        let rows = run.summary.filter { row in
            row.operationClass.isEmpty && row[.operationThroughput].value?.isFinite == true && row.status == .ok
        }
        return JSONText.write(JSONValue(.array(rows.map { jmhResult($0, rates: run.rates($0)) })))
    }

    private static func jmhResult(_ row: SummaryRow, rates: [Double]) -> JSONValue {
        let throughput = row[.operationThroughput]
        let value = throughput.value!
        // JMH's readers show score ± error, so the error covers the longer side of the interval.
        let error = throughput.low.flatMap { low in throughput.high.map { max($0 - value, value - low) } }
        let others = row.exportedFigures.filter { $0.figure != .time }
        return .object(
            ("jmhVersion", .string("1.37")),
            ("benchmark", .string("opbench.\(row.workload).\(row.backend.rawValue)")),
            ("mode", .string("thrpt")), ("threads", .integer(1)), ("forks", .integer(max(1, rates.count))),
            ("warmupIterations", .integer(0)), ("warmupTime", .string("100 ms")), ("warmupBatchSize", .integer(1)),
            ("measurementIterations", .integer(1)), ("measurementTime", .string("100 ms")),
            ("measurementBatchSize", .integer(1)),
            ("params", .members(row.parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
            (
                "primaryMetric",
                metric(
                    throughput, error: error, unit: "ops/s",
                    raw: rates.isEmpty ? [[value]] : rates.map { [$0] })
            ),
            (
                "secondaryMetrics",
                .members(
                    others.map { figure, estimate in
                        (
                            figure.name,
                            metric(estimate, error: nil, unit: figure.exportedUnit, raw: [[estimate.value!]])
                        )
                    })
            ))
    }

    /// JMH writes an unknown number as the string NaN.
    private static func metric(
        _ estimate: Estimate, error: Double?, unit: String, raw: [[Double]]
    ) -> JSONValue {
        func number(_ figure: Double?) -> JSONValue {
            guard let figure, figure.isFinite else { return .string("NaN") }
            return JSONExports.number(figure)
        }
        return .object(
            ("score", number(estimate.value)), ("scoreError", number(error)),
            ("scoreConfidence", .list(number(estimate.low), number(estimate.high))),
            ("scorePercentiles", .object(("50.0", number(estimate.value)))), ("scoreUnit", .string(unit)),
            ("rawData", JSONValue(.array(raw.map { JSONValue(.array($0.map { JSONExports.number($0) })) }))))
    }

    /// The format of github-action-benchmark's tool `customSmallerIsBetter`.
    public static func githubActionBenchmark(_ run: ExportedRun) -> String {
        let entries = figures(of: run).map { row, figure, estimate -> JSONValue in
            var members: [(String, JSONValue)] = [
                ("name", .string("\(row.exportedName) \(figure.name)")), ("unit", .string(figure.exportedUnit)),
                ("value", number(estimate.value!)),
            ]
            if let low = estimate.low, let high = estimate.high {
                members.append(("range", .string("\(FigureText.write(low)) – \(FigureText.write(high))")))
            }
            members.append(("extra", .string("run \(run.runID), \(counted(row.samples, "sample"))")))
            return .members(members)
        }
        return JSONText.write(JSONValue(.array(entries)))
    }

    /// The Bencher Metric Format: by benchmark and measure. `latency` and `throughput` are Bencher's built-in measures.
    public static func bencher(_ run: ExportedRun) -> String {
        // Names of cells and classes may join to the same member name; a member appears once.
        var names: Set<String> = []
        return JSONText.write(
            .members(
                run.summary.compactMap { row in
                    let measures = bencherMeasures(of: row)
                    guard !measures.isEmpty, names.insert(row.exportedName).inserted else { return nil }
                    return (row.exportedName, .members(measures))
                }))
    }

    private static func bencherMeasures(of row: SummaryRow) -> [(String, JSONValue)] {
        var measures = row.exportedFigures.map { figure, estimate in
            (
                figure == .time ? "latency" : figure.name.split(separator: "_").joined(separator: "-"),
                bencherMetric(estimate)
            )
        }
        let throughput = row[.operationThroughput]
        if throughput.value?.isFinite == true, row.status == .ok {
            measures.append(("throughput", bencherMetric(throughput)))
        }
        return measures
    }

    private static func bencherMetric(_ estimate: Estimate) -> JSONValue {
        let bounds = [("lower_value", estimate.low), ("upper_value", estimate.high)].compactMap { name, bound in
            bound.flatMap { $0.isFinite ? (name, number($0)) : nil }
        }
        return .members([("value", number(estimate.value!))] + bounds)
    }

    private static func figures(of run: ExportedRun) -> [(SummaryRow, Figure, Estimate)] {
        run.summary.flatMap { row in row.exportedFigures.map { (row, $0.figure, $0.estimate) } }
    }

    private static func number(_ figure: Double) -> JSONValue {
        precondition(figure.isFinite, "JSON has no infinity")
        return JSONValue(.number(JSONNumber(text: FigureText.write(figure))))
    }
}
