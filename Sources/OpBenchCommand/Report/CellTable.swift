import OpBenchAnalysis
import OpBenchModel

/// The summary in short: a table per workload with a line per cell and a column per backend, then the findings.
/// `SummaryTable` has the classes of operations, the other figures, the intervals and the marks.
enum CellTable {
    /// - Parameters:
    ///   - width: nil for no limit.
    ///   - isColored: whether ratios with a verdict are coloured.
    static func text(
        of rows: [SummaryRow], _ context: SummaryContext, width: Int? = TableWidth.ofOutput(), isColored: Bool = false
    ) -> String {
        guard !rows.isEmpty else { return "" }
        let sections = rows.byWorkload.map { CellSection($0, context) }
        let layouts = sections.map { $0.layout(width: width, isColored: isColored) }
        let marked = Set(sections.flatMap(\.verdicts))
        let notes = notes(on: rows, marked: marked, hidden: layouts.flatMap(\.hidden).uniqued())
        let findings = FindingSentences(rows, context).lines
        func paragraph(_ text: String, hanging: Int) -> String {
            let escaped = TerminalText.escaped(text, limit: TerminalText.messageLimit)
            return WrappedText.paragraph(escaped, width: width, hanging: hanging)
        }
        return layouts.map(\.text).joined(separator: "\n") + (notes.isEmpty ? "" : "\n" + paragraph(notes, hanging: 0))
            + (findings.isEmpty ? "" : "\n") + findings.map { paragraph($0, hanging: 2) }.joined()
    }

    /// One paragraph on the signs that the tables contain.
    private static func notes(on rows: [SummaryRow], marked: Set<RatioVerdict>, hidden: [String]) -> String {
        let baselines = rows.compactMap(\.ratioTo).uniqued().map(\.rawValue).sorted()
        var notes: [String] = []
        if !baselines.isEmpty {
            notes.append("× time ÷ \(baselines.joined(separator: " or "))")
        }
        notes += [RatioVerdict.noDifference, .incomparable, .unknown].filter(marked.contains)
            .compactMap(\.sign).map { "\($0.mark) \($0.words)" }
        if !hidden.isEmpty { notes.append("hidden (terminal too narrow): \(hidden.joined(separator: ", "))") }
        return notes.joined(separator: "; ")
    }
}

extension RatioVerdict {
    /// The sign after a ratio, and its meaning; nil for a verdict that needs none.
    fileprivate var sign: (mark: String, words: String)? {
        switch self {
        case .faster, .slower: nil
        case .noDifference: ("~", "no difference shown")
        case .incomparable: ("!", "not comparable")
        case .unknown: ("?", "too few blocks")
        }
    }

    fileprivate var style: TextStyle {
        switch self {
        case .faster: .good
        case .slower: .bad
        case .noDifference, .incomparable, .unknown: .plain
        }
    }
}

/// One workload's rows, ready for layout.
private struct CellSection {
    private struct Place: Hashable {
        let cellID: String
        let operationClass: String
        let backend: BackendSide
    }

    /// A line of the table: a figure of a cell, or of a class of its operations.
    private struct Line {
        let cellID: String
        let figure: Figure
        var operationClass = ""

        var title: String {
            let title = ColumnTitle(figure.title).plain
            return operationClass.isEmpty ? title : "\(title) \(operationClass.classValue)"
        }
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
    private let context: SummaryContext
    private let names: CellNames
    private let cellIDs: [String]
    /// The backends of each column, in one build: forms of one backend of which no cell has two share a column.
    private let columns: [[BackendSide]]
    /// The titles of backends beyond the limits.
    private let leftOut: [String]
    private let lines: [Line]

    /// Bounds the memory of a table with many backends in few cells each.
    private static let mostColumns = 40
    private static let mostEntries = 2_000_000

    /// - Parameter rows: at least one row, all of one workload.
    init(_ rows: [SummaryRow], _ context: SummaryContext) {
        (self.rows, self.context) = (rows, context)
        names = CellNames(rows.map { ($0.cellID, $0.parameters) })
        cellIDs = rows.map(\.cellID).uniqued()
        let all = Self.columns(of: rows)
        columns = Array(all.prefix(min(Self.mostColumns, max(1, Self.mostEntries / cellIDs.count))))
        leftOut = all.dropFirst(columns.count).joined().map(\.title)
        let byCell = Dictionary(grouping: rows, by: \.cellID)
        lines = cellIDs.flatMap { Self.lines(of: $0, byCell[$0] ?? []) }
    }

    private static func columns(of rows: [SummaryRow]) -> [[BackendSide]] {
        let measured = rows.filter { ![.skipped, .unsupported].contains($0.status) }
        let cells = Dictionary(grouping: measured, by: \.backendSide).mapValues { Set($0.map(\.cellID)) }
        var columns: [[BackendSide]] = []
        for backend in rows.backendSides {
            guard let own = cells[backend] else { continue }
            let shared = columns.firstIndex { column in
                column[0].backend.family == backend.backend.family && column[0].side == backend.side
                    && column.allSatisfy { own.isDisjoint(with: cells[$0] ?? []) }
            }
            if let shared { columns[shared].append(backend) } else { columns.append([backend]) }
        }
        return columns
    }

    /// The lines of a cell: what its shape is about, and the times, unless there is something else to show and no two of
    /// them are comparable.
    private static func lines(of cell: String, _ rows: [SummaryRow]) -> [Line] {
        let whole = rows.filter(\.operationClass.isEmpty)
        let special = Figure.special.filter { figure in whole.contains { $0[figure].value != nil } }
            .map { Line(cellID: cell, figure: $0) }
        let verdicts = whole.compactMap(\.ratioVerdict)
        let areComparable = whole.contains(where: \.isComparable)
        // Where times compare, they say more than shares.
        let shares = rows.filter { !areComparable && !$0.operationClass.isEmpty && $0[.cpuShare].value != nil }
            .map(\.operationClass).uniqued().map { Line(cellID: cell, figure: .cpuShare, operationClass: $0) }
        let areTimesShown =
            special.isEmpty && shares.isEmpty
            || whole.contains { $0[.time].value != nil } && (verdicts.isEmpty || areComparable)
        return (areTimesShown ? [Line(cellID: cell, figure: .time)] : []) + special + shares
    }

    /// The verdicts of the ratios that the table shows.
    var verdicts: Set<RatioVerdict> {
        let timed = Set(lines.filter { $0.figure == .time }.map(\.cellID))
        return Set(rows.filter { timed.contains($0.cellID) }.compactMap(\.ratioVerdict))
    }

    /// If the table is too wide, the times of backends with ratios are hidden, those of the first one last.
    func layout(width: Int?, isColored: Bool) -> TableText {
        let heading = TerminalText.escaped(names.heading, limit: TerminalText.messageLimit)
        let title = WrappedText.paragraph(heading, width: width, hanging: 2)
        guard !columns.isEmpty else { return .init(text: title + "not measured\n", hidden: []) }
        let entries = entries
        let styles = isColored ? entries.map { $0.map(\.style) } : nil
        let short = entries.map { $0.map { $0.ratio.isEmpty ? $0 : $0.withoutFigure } }
        var (layout, timed) = (table(entries, styles, width), columns.count)
        for fewer in [1, 0] where !layout.hidden.isEmpty {
            timed = fewer
            layout = table(Array(entries.prefix(timed) + short.dropFirst(timed)), styles, width)
        }
        let hiddenTimes = columns.indices.dropFirst(timed).filter { entries[$0].contains { !$0.ratio.isEmpty } }
            .map { Self.title(columns[$0]) }.filter { !layout.hidden.contains($0) }.map { "\($0) \(Figure.time.title)" }
        return .init(text: title + layout.text, hidden: hiddenTimes + layout.hidden + leftOut)
    }

    private static func title(_ column: [BackendSide]) -> String {
        column.map(\.title).min { $0.count < $1.count }!
    }

    /// The entries of each column, one for each line.
    private var entries: [[Entry]] {
        let places = rows.map {
            (Place(cellID: $0.cellID, operationClass: $0.operationClass, backend: $0.backendSide), $0)
        }
        let found = Dictionary(places) { first, _ in first }
        return columns.map { column in
            lines.map { line in
                let rows = column.compactMap { backend in
                    found[Place(cellID: line.cellID, operationClass: line.operationClass, backend: backend)]
                }
                return entry(rows.first { $0.status == .ok } ?? rows.first, line.figure)
            }
        }
    }

    /// - Parameter styles: of the entries; nil for plain text.
    private func table(_ entries: [[Entry]], _ styles: [[TextStyle]]?, _ width: Int?) -> TableText {
        let texts = entries.map(Self.aligned)
        let cells = lines.indices.map { index in
            let isFirst = index == 0 || lines[index - 1].cellID != lines[index].cellID
            return names.fields(of: lines[index].cellID).map { isFirst ? $0 : "" }
        }
        // Breaking a title would hide a workflow command in it from its escaping.
        func escaped(_ title: String) -> String { TerminalText.escaped(title, limit: TerminalText.fieldLimit) }
        var columns = names.columns.enumerated().map { place, title in
            Table<Int>.Column(escaped(title), isText: true) { cells[$0][place] }
        }
        if lines.contains(where: { $0.figure != .time }) {
            let titles = lines.map(\.title)
            columns.append(.init("figure", isText: true) { titles[$0] })
        }
        let plain = columns.map { _ in TextStyle.plain }
        // Forms of backends are hidden first.
        columns += zip(self.columns, texts).map { backends, texts in
            let isForm = backends.allSatisfy(\.backend.isForm)
            return Table<Int>.Column(escaped(Self.title(backends)), rank: isForm ? 2 : 1) { texts[$0] }
        }
        return Table(columns, Array(lines.indices)).layout(
            width: width, styles: styles.map { styles in { (line: Int) in plain + styles.map { $0[line] } } })
    }

    private func entry(_ row: SummaryRow?, _ figure: Figure) -> Entry {
        guard let row else { return Entry(figure: Quantities.absent) }
        guard row[figure].value != nil else {
            let isMissing = [.ok, .skipped, .unsupported].contains(row.status)
            let isBacklog = figure.topic == .latency && row.quality?.isOverloaded == true
            return Entry(figure: isBacklog ? "overloaded" : isMissing ? Quantities.absent : row.status.rawValue)
        }
        let text = context.short(figure, row)
        guard figure == .time, let verdict = row.ratioVerdict else { return Entry(figure: text) }
        return Entry(
            figure: text, ratio: context.short(.timeRatio, row),
            mark: verdict.sign?.mark ?? "", style: verdict.style)
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
