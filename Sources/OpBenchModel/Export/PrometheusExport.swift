/// A run in the text format of Prometheus, version 0.0.4: for node_exporter's textfile collector or a push gateway.
/// Names and units follow Prometheus: seconds and bytes. The run is a metric of its own, so a new run continues the
/// series of the last one.
public enum PrometheusExport {
    public static func text(_ run: ExportedRun) -> String {
        let info = [("run_id", run.runID), ("commit", run.commit), ("started", run.startedUTC)]
        var text = family("run_info", "The run that reported the figures.", [sample("run_info", info, 1)])
        // Two series with the same name and labels would make the whole file invalid.
        var names: Set<String> = []
        let rows = run.summary.filter { names.insert($0.exportedName).inserted }
        for figure in Figure.tabled where figure.exportedName != nil {
            let estimates = rows.compactMap { row in
                row.exportedFigures.first { $0.figure == figure }.map { (row, $0.estimate) }
            }
            text += part("", figure, estimates) { $0.value }
            text += part(Figure.lowSuffix, figure, estimates) { $0.low }
            text += part(Figure.highSuffix, figure, estimates) { $0.high }
        }
        return text
    }

    /// The figures, or one end of their intervals. Each end is a family of its own, with the samples that have an
    /// interval.
    private static func part(
        _ suffix: String, _ figure: Figure, _ estimates: [(SummaryRow, Estimate)], _ value: (Estimate) -> Double?
    ) -> String {
        let name = figure.exportedName! + suffix
        let scale = figure.unit == .nanoseconds ? 1e-9 : 1
        let samples = estimates.compactMap { row, estimate in
            value(estimate).map { sample(name, labels(of: row), $0 * scale) }
        }
        let end = suffix.isEmpty ? "" : " One end of the 95 % interval."
        return samples.isEmpty ? "" : family(name, figure.meaning + end, samples)
    }

    private static func family(_ name: String, _ help: String, _ samples: [String]) -> String {
        "# HELP opbench_\(name) \(help)\n# TYPE opbench_\(name) gauge\n" + samples.joined()
    }

    private static func labels(of row: SummaryRow) -> [(String, String)] {
        [
            ("workload", row.workload), ("cell", row.cellID), ("backend", row.backend.rawValue),
            ("class", row.operationClass),
        ]
    }

    private static func sample(_ name: String, _ labels: [(String, String)], _ value: Double) -> String {
        let text = labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
        return "opbench_\(name){\(text)} \(FigureText.write(value))\n"
    }

    /// Escapes the three characters that a label's value cannot hold as they are.
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
