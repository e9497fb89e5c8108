/// A run in the text format of Prometheus, version 0.0.4: for a file that node_exporter's textfile collector reads, or for a
/// push gateway. Names and units are as Prometheus has them: seconds and bytes, and the run itself in a metric of its own,
/// so that a new run continues the series of the last one.
public enum PrometheusExport {
    private struct Family {
        var name: String
        var help: String
        /// From the exported figure's unit to the family's.
        var scale = 1.0
    }

    /// By the exported figure.
    private static let families: [(column: String, family: Family)] = [
        ("time_ns_per_op", Family(name: "operation_time_seconds", help: "Wall time per operation.", scale: 1e-9)),
        ("time_ratio", Family(name: "time_ratio", help: "Wall time per operation, next to Dispatch's.")),
        ("cpu_ns_per_op", Family(name: "operation_cpu_seconds", help: "CPU time per operation.", scale: 1e-9)),
        (
            "start_latency_p99_ns",
            Family(name: "start_latency_p99_seconds", help: "From ready to start, 99th percentile.", scale: 1e-9)
        ),
        ("allocations_per_op", Family(name: "operation_allocations", help: "Mallocs per operation.")),
        (
            "retained_bytes_per_pending_op",
            Family(name: "pending_operation_bytes", help: "Memory that a waiting operation holds.")
        ),
    ]

    public static func text(_ run: ExportedRun) -> String {
        let info = [("run_id", run.runID), ("commit", run.commit), ("started", run.startedUTC)]
        var text = family("run_info", "The run that the figures are of.", [sample("run_info", info, 1)])
        // Series of one name and the same labels are an error of the whole file.
        var names: Set<String> = []
        let rows = run.summary.filter { names.insert($0.exportedName).inserted }
        for (column, family) in families {
            let figures = rows.compactMap { row in
                ExportedFigure.all(of: row).first { $0.column == column }.map { (row, $0) }
            }
            text += part("", family, figures) { $0.value }
            text += part("_ci_low", family, figures) { $0.low }
            text += part("_ci_high", family, figures) { $0.high }
        }
        return text
    }

    /// The figures themselves, or one end of their intervals, of which a family of their own has those that there are.
    private static func part(
        _ suffix: String, _ whole: Family, _ figures: [(SummaryRow, ExportedFigure)],
        _ value: (ExportedFigure) -> Double?
    ) -> String {
        let samples = figures.compactMap { row, figure in
            value(figure).map { sample(whole.name + suffix, labels(of: row), $0 * whole.scale) }
        }
        let end = suffix.isEmpty ? "" : " One end of the 95 % interval."
        return samples.isEmpty ? "" : family(whole.name + suffix, whole.help + end, samples)
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

    /// A label's value may hold anything; these three have to be written otherwise.
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
