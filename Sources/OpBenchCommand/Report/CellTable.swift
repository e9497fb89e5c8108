import OpBenchAnalysis
import OpBenchModel

/// The summary in short: a table per workload with a line per cell and a column per backend, then the findings.
/// `SummaryTable` has the classes of operations, the other figures, the intervals and the marks.
enum CellTable {
    /// - Parameters:
    ///   - clockResolution: resolution of the clock that timed the rows, in nanoseconds.
    ///   - isQuick: whether the rows were measured with `--quick`.
    ///   - width: nil for no limit.
    ///   - isColored: whether ratios with a verdict are coloured.
    static func text(
        of rows: [SummaryRow], clockResolution: Double, isQuick: Bool = false, width: Int? = TableWidth.ofOutput(),
        isColored: Bool = false
    ) -> String {
        let rows = rows.filter(\.operationClass.isEmpty)
        guard !rows.isEmpty else { return "" }
        // Signs distinguish ratios; if none has enough blocks, the findings say so.
        let verdicts = Set(rows.compactMap(\.ratioVerdict))
        let marked = verdicts == [.unknown] ? [] : verdicts
        let layouts = rows.byWorkload.map { rows in
            CellSection(rows, clockResolution: clockResolution, marked: marked)
                .layout(width: width, isColored: isColored)
        }
        let notes = notes(on: rows, marked: marked, hidden: layouts.flatMap(\.hidden).uniqued())
        let findings = FindingSentences(rows, isQuick: isQuick, whereMarked: nil).lines
        func paragraph(_ text: String, hanging: Int) -> String {
            let escaped = TerminalText.escaped(text, limit: TerminalText.messageLimit)
            return WrappedText.paragraph(escaped, width: width, hanging: hanging)
        }
        return layouts.map(\.text).joined(separator: "\n") + "\n" + paragraph(notes, hanging: 0)
            + (findings.isEmpty ? "" : "\n") + findings.map { paragraph($0, hanging: 2) }.joined()
    }

    /// One paragraph on the signs that the tables contain.
    private static func notes(on rows: [SummaryRow], marked: Set<RatioVerdict>, hidden: [String]) -> String {
        let baselines = rows.compactMap(\.ratioTo).uniqued().map(\.rawValue).sorted()
        var notes: [String] = []
        if !baselines.isEmpty {
            let isOneAxis = baselines.count == 1
            notes.append("× time ÷ \(baselines.joined(separator: " or "))\(isOneAxis ? "" : ", by axis")")
        }
        notes += [RatioVerdict.noDifference, .busyMachine, .incomparable, .unknown].filter(marked.contains)
            .compactMap(\.sign).map { "\($0.mark) \($0.words)" }.uniqued()
        if !hidden.isEmpty { notes.append("hidden (terminal too narrow): \(hidden.joined(separator: ", "))") }
        return (notes + ["more: --wide"]).joined(separator: "; ")
    }
}

extension RatioVerdict {
    /// The sign after a ratio, and its meaning; nil for a verdict that needs none.
    fileprivate var sign: (mark: String, words: String)? {
        switch self {
        case .faster, .slower: nil
        case .noDifference, .busyMachine: ("~", "no difference shown")
        case .incomparable: ("!", "not comparable")
        case .unknown: ("?", "too few blocks")
        }
    }

    fileprivate var style: TextStyle {
        switch self {
        case .faster: .good
        case .slower: .bad
        case .noDifference, .busyMachine, .incomparable, .unknown: .plain
        }
    }
}

/// One workload's rows, ready for layout.
private struct CellSection {
    private struct Place: Hashable {
        let cellID: String
        let backend: BackendSide
    }

    /// A figure of a cell and backend, as text.
    private struct Entry {
        var figure = ""
        var ratio = ""
        var mark = ""
        var style = TextStyle.plain

        var withoutFigure: Entry { Entry(ratio: ratio, mark: mark, style: style) }
    }

    private let rows: [SummaryRow]
    private let clockResolution: Double
    /// The verdicts that have a sign.
    private let marked: Set<RatioVerdict>
    private let names: CellNames
    private let cellIDs: [String]
    private let columns: [BackendSide]
    /// The titles of backends beyond the limits.
    private let leftOut: [String]
    private let figures: [Figure]

    /// Bounds the memory of a table with many backends in few cells each.
    private static let mostColumns = 40
    private static let mostEntries = 2_000_000

    /// - Parameter rows: at least one row, all of one workload and without classes.
    init(_ rows: [SummaryRow], clockResolution: Double, marked: Set<RatioVerdict>) {
        (self.rows, self.clockResolution, self.marked) = (rows, clockResolution, marked)
        names = CellNames(rows.map { .init(id: $0.cellID, parameters: $0.parameters) })
        cellIDs = rows.map(\.cellID).uniqued()
        let measured = Set(rows.filter { ![.skipped, .unsupported].contains($0.status) }.map(\.backendSide))
        let all = rows.backendSides.filter(measured.contains)
        columns = Array(all.prefix(min(Self.mostColumns, max(1, Self.mostEntries / cellIDs.count))))
        leftOut = all.dropFirst(columns.count).map(\.title)
        let special = Figure.special.filter { figure in rows.contains { $0[figure].value != nil } }
        let hasTimes = special.isEmpty || rows.contains { $0[.time].value != nil }
        figures = (hasTimes ? [.time] : []) + special
    }

    /// If the table is too wide, the times of all backends with ratios are left out.
    func layout(width: Int?, isColored: Bool) -> TableText {
        let heading = TerminalText.escaped(names.heading, limit: TerminalText.messageLimit)
        let title = WrappedText.paragraph(heading, width: width, hanging: 2)
        guard !columns.isEmpty else { return .init(text: title + "not measured\n", hidden: []) }
        let places: [Line] = cellIDs.flatMap { cell in figures.map { (cell, $0) } }
        let entries = entries(of: places)
        let styles = isColored ? entries.map { $0.map(\.style) } : nil
        var layout = table(places, entries, styles, width)
        if !layout.hidden.isEmpty {
            layout = table(
                places, entries.map { $0.map { $0.ratio.isEmpty ? $0 : $0.withoutFigure } }, styles, width)
        }
        return .init(text: title + layout.text, hidden: layout.hidden + leftOut)
    }

    /// A line of the table.
    private typealias Line = (cell: String, figure: Figure)

    /// The entries of each column, one for each line.
    private func entries(of lines: [Line]) -> [[Entry]] {
        let found = Dictionary(rows.map { (Place(cellID: $0.cellID, backend: $0.backendSide), $0) }) { first, _ in first
        }
        return columns.map { column in
            lines.map { entry(found[Place(cellID: $0.cell, backend: column)], $0.figure) }
        }
    }

    /// - Parameter styles: of the entries; nil for plain text.
    private func table(_ places: [Line], _ entries: [[Entry]], _ styles: [[TextStyle]]?, _ width: Int?) -> TableText {
        let texts = entries.map(Self.aligned)
        let cells = places.map { place in
            names.fields(of: place.cell).map { place.figure == figures.first ? $0 : "" }
        }
        // Breaking a title would hide a workflow command in it from its escaping.
        func escaped(_ title: String) -> String { TerminalText.escaped(title, limit: TerminalText.fieldLimit) }
        var columns = names.columns.enumerated().map { place, title in
            Table<Int>.Column(escaped(title), isText: true) { cells[$0][place] }
        }
        if figures != [.time] {
            let titles = places.map { ColumnTitle($0.figure.title).plain }
            columns.append(.init("figure", isText: true) { titles[$0] })
        }
        let plain = columns.map { _ in TextStyle.plain }
        // Forms of backends are hidden first.
        columns += zip(self.columns, texts).map { backend, texts in
            Table<Int>.Column(escaped(backend.title), rank: backend.backend.isForm ? 2 : 1) { texts[$0] }
        }
        return Table(columns, Array(places.indices)).layout(
            width: width, styles: styles.map { styles in { (line: Int) in plain + styles.map { $0[line] } } })
    }

    private func entry(_ row: SummaryRow?, _ figure: Figure) -> Entry {
        guard let row else { return Entry(figure: Quantities.absent) }
        guard let value = row[figure].value else {
            let isMissing = [.ok, .skipped, .unsupported].contains(row.status)
            let isBacklog = figure.topic == .latency && row.quality?.isOverloaded == true
            return Entry(figure: isBacklog ? "overloaded" : isMissing ? Quantities.absent : row.status.rawValue)
        }
        let text = Quantities.short(
            value, width: row.interval(of: figure).map { $0.high - $0.low }, in: figure.unit,
            resolution: figure.basis == .sample ? clockResolution : 0)
        guard figure == .time, let verdict = row.ratioVerdict, let ratio = row[.timeRatio].value else {
            return Entry(figure: text)
        }
        let width = row.interval(of: .timeRatio).map { $0.high - $0.low }
        return Entry(
            figure: text, ratio: Quantities.short(ratio, width: width, in: .ratio, resolution: 0),
            mark: marked.contains(verdict) ? verdict.sign?.mark ?? "" : "", style: verdict.style)
    }

    /// The texts of a column's entries, with figures, ratios and marks below each other.
    private static func aligned(_ entries: [Entry]) -> [String] {
        let ratioWidth = entries.map { TextWidth.of($0.ratio) }.max() ?? 0
        let markWidth = entries.map(\.mark.count).max() ?? 0
        // A status may extend below the ratios.
        let figureWidth = entries.filter { !$0.ratio.isEmpty || ratioWidth == 0 }.map { TextWidth.of($0.figure) }.max()
        return entries.map { entry in
            let ratio = WrappedText.padded(entry.ratio, to: ratioWidth, isRight: true)
            let mark = WrappedText.padded(entry.mark, to: markWidth)
            guard ratioWidth > 0 else { return entry.figure }
            let figure = WrappedText.padded(entry.figure, to: figureWidth ?? 0, isRight: true)
            return figure + (figureWidth == 0 ? "" : " ") + ratio + mark
        }
    }
}
