import OpBenchAnalysis
import OpBenchModel

/// What a reader of the summary's tables has to know of them: a line for each thing that the rows give occasion to.
struct SummaryNotes {
    let rows: [SummaryRow]
    /// Of the clock that timed them, in nanoseconds.
    let clockResolution: Double
    let isQuick: Bool
    /// The marks that appear behind ratios.
    let ratioMarks: Set<String>
    /// The titles of columns that had no room.
    let hidden: [String]

    /// What is true of nearly all rows, to be said above the tables; nil if nothing is.
    var warning: String? {
        let qualities = rows.filter(\.operationClass.isEmpty).compactMap(\.quality)
        return Disturbance.sentence(
            noisy: qualities.reduce(0) { $0 + $1.noisy }, of: qualities.reduce(0) { $0 + $1.samples })
    }

    /// Lines with their ends, after an empty one; nothing if there is no table.
    func text(width: Int?) -> String {
        guard !rows.isEmpty else { return "" }
        return "\n" + DefinitionList(entries: entries).text(width: width) + ExplainColumnsCommand.pointer
    }

    typealias Entry = (term: String, meaning: String)

    /// What the rows give occasion to.
    var entries: [Entry] {
        [axis, ratio, unlike, interval, backlog, unresolved, serial].compactMap(\.self) + marks
            + [leftOut].compactMap(\.self)
    }

    private var axis: Entry? {
        guard rows.contains(where: { Axis($0.flags) != nil }) else { return nil }
        return (
            "axis",
            "declared: the queue was told what follows what; by hand: bodies submit it. A ratio is to the baseline's form on "
                + "the row's axis"
        )
    }

    private var ratio: Entry? {
        guard ratioMarks.contains(SummaryColumn.apart) else { return nil }
        return (
            SummaryColumn.apart,
            "the median over the blocks of the ratio within each, not the quotient of the medians beside it"
        )
    }

    private var unlike: Entry? {
        guard ratioMarks.contains(SummaryColumn.unlike) else { return nil }
        return (
            SummaryColumn.unlike,
            "no comparison: one of the two does not promise what the shape is about, or is on the other axis"
        )
    }

    private var interval: Entry? {
        let figures = Figure.tabled.filter { !$0.isRatio }
        guard rows.contains(where: { row in figures.contains { row[$0].low != nil } }) else { return nil }
        return ("interval", "of 95 %; its ends are in the unit of the figure before it")
    }

    private var backlog: Entry? {
        let figures = [Figure.startLatencyP50, .startLatencyP99]
        guard rows.contains(where: { row in figures.contains { row[$0].value != nil } }) else { return nil }
        return ("start", "from ready to the operation's first line, the wait behind other ready ones included")
    }

    private var unresolved: Entry? {
        let figures = Figure.tabled.filter { $0.unit == .nanoseconds && $0.basis == .sample }
        let times = rows.lazy.flatMap { row in figures.compactMap { row[$0].value } }
        guard times.contains(where: { $0 < clockResolution }) else { return nil }
        return (
            Quantities.time(nanoseconds: 0, resolution: clockResolution),
            "less than the clock tells, or begun before the call that it is counted from had returned"
        )
    }

    private var serial: Entry? {
        guard rows.contains(where: { $0.backend == .serial && $0[.timeRatio].value ?? 0 > 1 }) else { return nil }
        return ("serial", "one thread; above 1× where the others share the work among the cores")
    }

    private var marks: [Entry] {
        let present = Set(rows.flatMap { RowMark.marks(of: $0, isQuick: isQuick) })
        return RowMark.allCases.filter(present.contains).map { (String($0.rawValue), $0.meaning) }
    }

    private var leftOut: Entry? {
        hidden.isEmpty ? nil : ("no room for", hidden.joined(separator: ", ") + "; --wide shows all columns")
    }
}
