/// What a column of a CSV file holds.
public struct ColumnMeaning: Sendable, Equatable {
    public let name: String
    /// `ns`, `B`, `1/s`, `count`, `1` for ratios; empty for text.
    public let unit: String
    public let meaning: String

    init(name: String, unit: String, meaning: String) { (self.name, self.unit, self.meaning) = (name, unit, meaning) }

    fileprivate init(_ name: String, _ unit: String, _ meaning: String) {
        self.init(name: name, unit: unit, meaning: meaning)
    }
}

/// A row whose columns are explained, every one.
public protocol DescribedRow: CSVRow {
    /// In any order.
    static var meanings: [ColumnMeaning] { get }
}

extension DescribedRow {
    /// In the order of the columns, those of parameters last. A column that nothing explains has no meaning.
    public static var columnMeanings: [ColumnMeaning] {
        let fixed = columns.map { name in
            meanings.first { $0.name == name } ?? ColumnMeaning(name: name, unit: "", meaning: "")
        }
        guard hasParameters else { return fixed }
        return fixed + [
            ColumnMeaning(
                name: CSVFile.parameterPrefix + "NAME", unit: "",
                meaning: "The cell's parameter of that name; empty where the shape has none of that name.")
        ]
    }
}

/// What both files say of a cell and its samples.
private let commonMeanings: [ColumnMeaning] = [
    .init("schema_version", "", "The version of the columns and of what they mean."),
    .init("run_id", "", "The run's name, and its folder's."),
    .init("workload", "", "The workload's name."),
    .init("cell_id", "", "The workload's name and the parameters that differ from their defaults."),
    .init("backend", "", "Who executed the cell."),
    .init("side", "", "`base` or `head` where two builds are compared, else empty."),
    .init("operation_class", "", "Empty for the whole, or what the figures are restricted to: `priority=high`."),
]

extension SampleRow: DescribedRow {
    public static let meanings =
        commonMeanings + [
            .init("sample_id", "", "The process's number and the kind of its sample; r marks a repetition."),
            .init("timestamp_utc", "", "When the sample was taken: ISO 8601, UTC."),
            .init("host", "", "The machine that took the sample: OPBENCH_HOST, or its host name."),
            .init("block", "", "The block that the sample belongs to, from 0 within its cell and kind."),
            .init("position", "", "Its place in the block's random order, from 0."),
            .init(
                "phase", "",
                "`build`, `submit`, `drain`, `teardown`, `total`, `makespan`, `warmup`, `mark:NAME`; empty where a figure "
                    + "belongs to none."
            ),
            .init("iteration", "", "The iteration of the warm-up; empty outside of it."),
            .init(
                "status", "", "How the sample ended: `ok`, `invalid`, `timeout`, `crashed`, `unsupported`, `skipped`."),
            .init(
                "sample_flags", "",
                "`noisy`, `short`, `slope`, `unsteady`, `unpromised`, `overloaded`, `rerun`, joined by `;`: read it with care. "
                    + "`declared` and `by_hand` are the axis."
            ),
            .init("metric", "", "What was measured, by its name in the catalogue; `status` in a row without a figure."),
            .init("stat", "", "`total`, `rate`, `mean`, `p50`, `p90`, `p99`, `p99.9` or `max`."),
            .init("value", "", "The figure, in the unit of the column `unit`; empty in a row without one."),
            .init("unit", "", "The metric's unit."),
            .init("direction", "", "Whether `higher` or `lower` is better, or neither (`neutral`)."),
            .init("deterministic", "", "`true` for counts that barely vary from sample to sample."),
            .init("operations", "count", "Operations of all rounds of the sample."),
            .init("notes", "", "What else is to be known: a reason, a signal, a substitute."),
        ]
}

extension SummaryRow: DescribedRow {
    public static let meanings =
        commonMeanings + [
            .init("status", "", "The gravest status of the backend's samples on the cell."),
            .init("sample_flags", "", "The flags of the backend's samples, each once, joined by `;`."),
            .init(
                "axis", "",
                "Where operations follow one another: `declared` if the queue was told, `by_hand` if bodies submit what follows."
            ),
            .init(
                "samples", "count",
                "Throughput samples behind the row, one a block; without any, the most of another kind."),
            .init(
                "ratio_to", "",
                "The backend that the ratio is to: the baseline or, if that is on the other axis, its form on the row's."
            ),
        ]
        + Figure.catalogue.flatMap(\.columns)
}
