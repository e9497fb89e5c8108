/// A run in the JSON that other tools read.
public enum JSONExports {
    /// As JMH writes its results: throughput, a sample a fork.
    public static func jmh(_ run: ExportedRun) -> String {
        let rows = run.summary.filter { row in
            row.operationClass.isEmpty && row.operationsPerSecond?.isFinite == true && row.status == .ok
        }
        return JSONText.write(JSONValue(.array(rows.map { jmhResult($0, rates: run.rates($0)) })))
    }

    private static func jmhResult(_ row: SummaryRow, rates: [Double]) -> JSONValue {
        let value = row.operationsPerSecond!
        let (low, high) = (row.operationsPerSecondLow, row.operationsPerSecondHigh)
        // JMH's readers show score ± error, which must hold the interval on its longer side too.
        let error = low.flatMap { low in high.map { max($0 - value, value - low) } }
        let others = ExportedFigure.all(of: row).filter { $0.unit != "ns/op" || $0.column == "cpu_ns_per_op" }
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
                    value, error: error, bounds: (low, high), unit: "ops/s",
                    raw: rates.isEmpty ? [[value]] : rates.map { [$0] })
            ),
            (
                "secondaryMetrics",
                .members(
                    others.map {
                        (
                            $0.column,
                            metric($0.value, error: nil, bounds: ($0.low, $0.high), unit: $0.unit, raw: [[$0.value]])
                        )
                    })
            ))
    }

    /// JMH's word for "not known" is the string NaN.
    private static func metric(
        _ value: Double, error: Double?, bounds: (low: Double?, high: Double?), unit: String, raw: [[Double]]
    ) -> JSONValue {
        func number(_ figure: Double?) -> JSONValue {
            guard let figure, figure.isFinite else { return .string("NaN") }
            return JSONExports.number(figure)
        }
        return .object(
            ("score", number(value)), ("scoreError", number(error)),
            ("scoreConfidence", .list(number(bounds.low), number(bounds.high))),
            ("scorePercentiles", .object(("50.0", number(value)))), ("scoreUnit", .string(unit)),
            ("rawData", JSONValue(.array(raw.map { JSONValue(.array($0.map { JSONExports.number($0) })) }))))
    }

    /// For github-action-benchmark's tool `customSmallerIsBetter`.
    public static func githubActionBenchmark(_ run: ExportedRun) -> String {
        let entries = figures(of: run).map { row, figure -> JSONValue in
            var members: [(String, JSONValue)] = [
                ("name", .string("\(row.exportedName) \(figure.column)")), ("unit", .string(figure.unit)),
                ("value", number(figure.value)),
            ]
            if let low = figure.low, let high = figure.high {
                members.append(("range", .string("\(FigureText.write(low)) – \(FigureText.write(high))")))
            }
            members.append(("extra", .string("run \(run.runID), \(row.samples) samples")))
            return .members(members)
        }
        return JSONText.write(JSONValue(.array(entries)))
    }

    /// The Bencher Metric Format: by benchmark and measure. `latency` and `throughput` are Bencher's own measures.
    public static func bencher(_ run: ExportedRun) -> String {
        // A member is there once, whatever the names of cells and classes add up to.
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
        var measures = ExportedFigure.all(of: row).map { figure in
            (
                figure.column == "time_ns_per_op"
                    ? "latency" : figure.column.split(separator: "_").joined(separator: "-"),
                bencherMetric(figure.value, figure.low, figure.high)
            )
        }
        if let rate = row.operationsPerSecond, rate.isFinite, row.status == .ok {
            measures.append(
                ("throughput", bencherMetric(rate, row.operationsPerSecondLow, row.operationsPerSecondHigh)))
        }
        return measures
    }

    private static func bencherMetric(_ value: Double, _ low: Double?, _ high: Double?) -> JSONValue {
        let bounds = [("lower_value", low), ("upper_value", high)].compactMap { name, bound in
            bound.flatMap { $0.isFinite ? (name, number($0)) : nil }
        }
        return .members([("value", number(value))] + bounds)
    }

    private static func figures(of run: ExportedRun) -> [(SummaryRow, ExportedFigure)] {
        run.summary.flatMap { row in ExportedFigure.all(of: row).map { (row, $0) } }
    }

    private static func number(_ figure: Double) -> JSONValue {
        precondition(figure.isFinite, "JSON has no infinity")
        return JSONValue(.number(JSONNumber(text: FigureText.write(figure))))
    }
}
