import OpBenchAnalysis
import OpBenchModel

/// Notes for readers of the summary's tables: a line for each note that the rows require.
struct SummaryNotes {
    let rows: [SummaryRow]
    let context: SummaryContext

    /// A warning that applies to nearly all rows, printed above the tables; nil if there is none.
    var warning: String? {
        let qualities = rows.filter(\.operationClass.isEmpty).compactMap(\.quality)
        return Disturbance.sentence(
            noisy: qualities.reduce(0) { $0 + $1.noisy }, of: qualities.reduce(0) { $0 + $1.samples })
    }

    /// Lines with their ends, after an empty one; empty if there is no table.
    var text: String {
        guard !rows.isEmpty else { return "" }
        return "\n" + DefinitionList(entries: entries).text(width: nil) + TableText.pointer
    }

    typealias Entry = (term: String, meaning: String)

    /// The notes that the rows require.
    var entries: [Entry] {
        [axis, unlike, interval, backlog, unresolved, serial].compactMap(\.self) + marks
    }

    private var axis: Entry? {
        guard rows.contains(where: { Axis($0.flags) != nil }) else { return nil }
        return (
            "axis",
            "declared: the queue knows the order; by hand: bodies submit what follows. A ratio is to the baseline's form "
                + "on the row's axis"
        )
    }

    private var unlike: Entry? {
        guard rows.contains(where: \.isRatioUnlike) else { return nil }
        return (
            SummaryColumns.unlike,
            "not comparable: one of the two does not promise what the shape measures, or is on the other axis"
        )
    }

    private var interval: Entry? {
        let figures = Figure.tabled.filter { !$0.isRatio }
        guard rows.contains(where: { row in figures.contains { row[$0].low != nil } }) else { return nil }
        return ("interval", "95 %; its ends have the unit of the figure before it")
    }

    private var backlog: Entry? {
        let figures = [Figure.startLatencyP50, .startLatencyP99]
        guard rows.contains(where: { row in figures.contains { row[$0].value != nil } }) else { return nil }
        return ("start", "from ready to the operation's first line, including the wait behind other ready operations")
    }

    private var unresolved: Entry? {
        let figures = Figure.tabled.filter { $0.unit == .nanoseconds && $0.basis == .sample }
        let times = rows.lazy.flatMap { row in figures.compactMap { row[$0].value } }
        guard times.contains(where: { $0 < context.clockResolution }) else { return nil }
        return (
            Quantities.time(0, resolution: context.clockResolution),
            "below the clock's resolution, or started before the submitting call returned"
        )
    }

    private var serial: Entry? {
        guard rows.contains(where: { $0.backend == .serial && $0[.timeRatio].value ?? 0 > 1 }) else { return nil }
        return ("serial", "one thread; above 1× if the others share the work among the cores")
    }

    private var marks: [Entry] {
        let present = Set(rows.flatMap { RowMark.marks(of: $0, isQuick: context.isQuick) })
        return RowMark.allCases.filter(present.contains).map { (String($0.rawValue), $0.meaning) }
    }
}
