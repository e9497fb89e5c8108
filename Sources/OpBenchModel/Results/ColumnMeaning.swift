/// The meaning of a column of a CSV file.
public struct ColumnMeaning: Sendable, Equatable {
    public let name: String
    /// `ns`, `B`, `1/s`, `count`, `1` for ratios; empty for text.
    public let unit: String
    public let meaning: String

    package init(name: String, unit: String = "", meaning: String) {
        (self.name, self.unit, self.meaning) = (name, unit, meaning)
    }

    fileprivate init(_ name: String, _ unit: String, _ meaning: String) {
        self.init(name: name, unit: unit, meaning: meaning)
    }
}

/// A row that explains all its columns.
public protocol DescribedRow: CSVRow {
    /// In any order.
    static var meanings: [ColumnMeaning] { get }
}

extension DescribedRow {
    /// The meanings in the order of the columns, parameters last. A column without an explanation has an empty meaning.
    public static var columnMeanings: [ColumnMeaning] {
        let fixed = columns.map { name in
            meanings.first { $0.name == name } ?? ColumnMeaning(name: name, unit: "", meaning: "")
        }
        guard hasParameters else { return fixed }
        return fixed + [
            ColumnMeaning(
                name: CSVFile.parameterPrefix + "NAME", unit: "",
                meaning: "The cell's parameter of that name; empty if the shape has no such parameter.")
        ]
    }
}

/// The meanings of the columns that both files share.
private let commonMeanings: [ColumnMeaning] = [
    .init("schema_version", "", "The version of the columns and their meanings."),
    .init("run_id", "", "The name of the run and of its folder."),
    .init("workload", "", "The workload's name."),
    .init("cell_id", "", "The workload's name and the parameters that differ from their defaults."),
    .init("backend", "", "The backend that executed the cell."),
    .init("side", "", "`base` or `head` if two builds are compared, else empty."),
    .init("operation_class", "", "The class of operations in the row, as `priority=high`; empty for all."),
]

extension SampleRow: DescribedRow {
    public static let meanings =
        commonMeanings + [
            .init("sample_id", "", "The number of the sample's process and the kind of sample; r marks a repetition."),
            .init("timestamp_utc", "", "The time at which the sample was taken: ISO 8601, UTC."),
            .init("host", "", "The machine that took the sample: OPBENCH_HOST, or the host name."),
            .init(
                "layout", "",
                "The seed by which the sample's program was linked; empty for the linker's own order of the code."),
            .init("block", "", "The block that the sample belongs to, from 0 within its cell and kind."),
            .init("position", "", "The sample's place in the random order of its block, from 0."),
            .init(
                "phase", "",
                "`build`, `submit`, `drain`, `teardown`, `total`, `makespan`, `warmup`, `mark:NAME`; empty for "
                    + "figures without a phase."
            ),
            .init("iteration", "", "The iteration of the warm-up; empty for other rows."),
            .init(
                "status", "", "The sample's outcome: `ok`, `invalid`, `timeout`, `crashed`, `unsupported`, `skipped`."),
            .init(
                "sample_flags", "",
                "`noisy`, `short`, `slope`, `unsteady`, `unpromised`, `overloaded`, joined by `;`: interpret the sample "
                    + "with care. `rerun`: the sample repeats a noisy one of its block, and replaces it. `waits`: "
                    + "the cell is about waiting. `declared` and `by_hand` name the axis."
            ),
            .init("metric", "", "The metric's name in the catalogue; `status` in a row without a figure."),
            .init("stat", "", "`total`, `rate`, `mean`, `p50`, `p90`, `p99`, `p99.9` or `max`."),
            .init("value", "", "The figure, in the unit of the column `unit`; empty if the row has no figure."),
            .init("unit", "", "The unit of the column `value`."),
            .init("direction", "", "Which is better, `higher` or `lower`, or neither (`neutral`)."),
            .init("deterministic", "", "`true` for counts that barely vary from sample to sample."),
            .init("operations", "count", "The number of operations in all rounds of the sample."),
            .init("notes", "", "Further information: a reason, a signal, a substitute."),
        ]
}

extension SummaryRow: DescribedRow {
    public static let meanings =
        commonMeanings + [
            .init("status", "", "The worst status among the backend's samples on the cell."),
            .init("sample_flags", "", "All flags of the backend's samples, joined by `;`."),
            .init(
                "axis", "",
                "What keeps operations in order: `declared` for the queue, `by_hand` for bodies that submit successors."
            ),
            .init(
                "samples", "count",
                "Throughput samples behind the row, one per block; if none, the most samples of another kind."),
            .init("low_mode_ns_per_op", "ns", modes("lower")), .init("high_mode_ns_per_op", "ns", modes("upper")),
            .init("high_mode_samples", "count", "The number of samples in the upper group; empty for a single group."),
            .init(
                "ratio_to", "",
                "The denominator of `time_ratio`: the baseline or, if that is on the other axis, its form on this axis."
            ),
        ]
        + Figure.catalogue.flatMap(\.columns)

    private static func modes(_ which: String) -> String {
        "If the times per operation fall into two groups (bimodal), the median of the \(which); else empty."
    }
}
