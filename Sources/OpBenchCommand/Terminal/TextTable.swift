import Glibc
import OpBenchModel

/// A table for a terminal, and the titles of the columns that it hides.
struct TableText {
    let text: String
    let hidden: [String]

    /// The last line below tables.
    static let pointer = "Columns are explained by: opbench describe columns\n"
}

extension Table {
    func text(width: Int? = TableWidth.ofOutput()) -> String { layout(width: width).text }

    /// A header, a rule, and a line for each row, with columns two blanks apart and without trailing blanks.
    ///
    /// In a limited width, the least important columns are hidden until the others fit. Then text is wrapped, the widest
    /// column first. Figures are never cut, so the table may exceed the width if the first columns alone do.
    ///
    /// - Parameters:
    ///   - width: nil for no limit.
    ///   - heading: a text over the whole width, above the rows that share it; empty for none.
    ///   - remark: a text after the fields, on the same line if it fits; in place of them if none has a figure.
    ///   - styles: the fields' styles, written as codes for terminals; nil for plain text.
    func layout(
        width: Int?, heading: (Row) -> String = { _ in "" }, remark: (Row) -> String = { _ in "" },
        styles: ((Row) -> [TextStyle])? = nil
    ) -> TableText {
        func escaped(_ text: String) -> String { TerminalText.escaped(text, limit: TerminalText.fieldLimit) }
        var lines: [TableLine] = []
        var above = ""
        for row in rows {
            let heading = escaped(heading(row))
            if heading != above { lines.append(.heading(heading)) }
            above = heading
            var fields = fields(row).map(escaped)
            if !heading.isEmpty { fields[0] = "  " + fields[0] }
            lines.append(.row(fields, remark: escaped(remark(row)), styles: styles?(row) ?? []))
        }
        return TextTable(columns: columns, lines: lines).layout(width)
    }
}

private enum TableLine {
    case heading(String)
    case row([String], remark: String, styles: [TextStyle])
}

private struct TextTable<Row: Sendable> {
    let columns: [Table<Row>.Column]
    let lines: [TableLine]

    func layout(_ width: Int?) -> TableText {
        let natural = columns.indices.map(naturalWidth)
        let shown = shown(natural, width)
        let grid = Grid(columns: shown.map { columns[$0] }, widths: fitted(natural, shown, width), width: width)
        var text = grid.header
        for line in lines {
            switch line {
            case .heading(let heading): text += WrappedText.paragraph(heading, width: width, hanging: 2)
            case .row(let fields, let remark, _)
            where !remark.isEmpty && fields.dropFirst().allSatisfy({ ["", Quantities.absent].contains($0) }):
                text += grid.words(fields[0], remark)
            case .row(let fields, let remark, let styles):
                text += grid.row(
                    shown.map { fields[$0] }, remark: remark, styles: styles.isEmpty ? [] : shown.map { styles[$0] })
            }
        }
        let hidden = columns.indices.filter { !shown.contains($0) }.map { ColumnTitle(columns[$0].title).plain }
        return TableText(text: text, hidden: hidden)
    }

    // MARK: Widths

    /// The least width that text is wrapped to.
    private static var leastText: Int { 12 }

    private func naturalWidth(_ column: Int) -> Int {
        let fields = lines.map { line in
            switch line {
            case .heading: 0
            case .row(let fields, _, _): TextWidth.of(fields[column])
            }
        }
        return max(ColumnTitle(columns[column].title).least, fields.max() ?? 0)
    }

    private func leastWidth(_ column: Int, _ natural: Int) -> Int {
        guard columns[column].isText else { return natural }
        return min(natural, max(Self.leastText, ColumnTitle(columns[column].title).least))
    }

    /// The columns that fit, in order. Text gets two fifths of the width before a column is hidden for it.
    private func shown(_ natural: [Int], _ width: Int?) -> [Int] {
        guard let width else { return Array(columns.indices) }
        let wanted = columns.indices.map { column in
            guard columns[column].isText else { return natural[column] }
            return min(natural[column], max(leastWidth(column, natural[column]), width * 2 / 5))
        }
        var shown = columns.indices.filter { columns[$0].rank == 0 }
        let others = columns.indices.filter { columns[$0].rank > 0 }
        for column in others.sorted(by: { (columns[$0].rank, $0) < (columns[$1].rank, $1) }) {
            let more = (shown + [column]).sorted()
            if total(more, wanted) <= width { shown = more }
        }
        return shown
    }

    private func total(_ shown: [Int], _ widths: [Int]) -> Int {
        shown.enumerated().reduce(0) { $0 + widths[$1.element] + ($1.offset == 0 ? 0 : columns[$1.element].gap) }
    }

    private func fitted(_ natural: [Int], _ shown: [Int], _ width: Int?) -> [Int] {
        var widths = natural
        if let width {
            var excess = total(shown, widths) - width
            while excess > 0 {
                let texts = shown.filter { columns[$0].isText && widths[$0] > leastWidth($0, natural[$0]) }
                guard let widest = texts.max(by: { widths[$0] < widths[$1] }) else { break }
                widths[widest] -= 1
                excess -= 1
            }
        }
        return shown.map { widths[$0] }
    }
}

extension Table.Column {
    fileprivate var gap: Int { isJoined ? 1 : 2 }
}

/// The visible columns of a table, and the text of its lines.
private struct Grid<Row: Sendable> {
    let columns: [Table<Row>.Column]
    let widths: [Int]
    /// The width of the lines; nil for no limit.
    let width: Int?

    private var ownWidth: Int { zip(columns, widths).reduce(0) { $0 + $1.1 + $1.0.gap } - (columns.first?.gap ?? 0) }

    /// The titles, each on as many lines as it needs, and the rule.
    var header: String {
        let titles = zip(columns, widths).map { ColumnTitle($0.title).lines(width: $1) }
        let height = titles.map(\.count).max() ?? 0
        let lines = (0..<height).map { line in
            written(
                titles.map { title in
                    let skipped = height - title.count
                    return line < skipped ? "" : title[line - skipped]
                })
        }
        return lines.joined() + written(widths.map { String(repeating: "-", count: $0) })
    }

    /// A row, on as many lines as its longest field needs.
    func row(_ fields: [String], remark: String, styles: [TextStyle]) -> String {
        let wrapped: [[String]] = zip(fields, widths).map(Self.wrapped)
        let height = wrapped.map(\.count).max() ?? 0
        let lines = (0..<height).map { line in written(wrapped.map { line < $0.count ? $0[line] : "" }, styles) }
        guard !remark.isEmpty, let last = lines.last else { return lines.joined() }
        return lines.dropLast().joined() + appended(remark, to: String(last.dropLast()))
    }

    /// A field's lines; those after the first have a deeper indentation.
    private static func wrapped(_ field: String, _ width: Int) -> [String] {
        guard field.hasPrefix(" "), TextWidth.of(field) > width else { return WrappedText.lines(field, width: width) }
        let indentation = String(field.prefix { $0 == " " })
        let hanging = indentation.count + 2 < width ? indentation + "  " : indentation
        let text = String(field.dropFirst(indentation.count))
        let lines = WrappedText.lines(text, width: max(1, width - hanging.count))
        return lines.enumerated().map { ($0 == 0 ? indentation : hanging) + $1 }
    }

    /// - Parameter line: the line without its end.
    private func appended(_ remark: String, to line: String) -> String {
        guard let width, TextWidth.of(line) + 1 + TextWidth.of(remark) > width else { return "\(line) \(remark)\n" }
        // Below the end of the row, or as far to the right as fits.
        let indentation = max(4, min(ownWidth, width) - TextWidth.of(remark))
        return line + "\n"
            + WrappedText.paragraph(
                remark, width: width, first: String(repeating: " ", count: indentation), hanging: indentation)
    }

    func words(_ name: String, _ words: String) -> String {
        let column = (widths.first ?? 0) + 2
        let lines = WrappedText.lines(name, width: widths.first)
        let opening = WrappedText.padded(lines[lines.count - 1], to: column)
        return lines.dropLast().map { $0 + "\n" }.joined()
            + WrappedText.paragraph(words, width: width, first: opening, hanging: column)
    }

    /// A line with its end, from fields that fit their columns.
    private func written(_ fields: [String], _ styles: [TextStyle] = []) -> String {
        var text = ""
        for (index, field) in fields.enumerated() {
            let column = columns[index]
            if index > 0 { text += String(repeating: " ", count: column.gap) }
            let padded = WrappedText.padded(field, to: widths[index], isRight: !column.isText)
            text += styles.isEmpty ? padded : styles[index].applied(to: padded)
        }
        return WrappedText.trimmed(text) + "\n"
    }
}

/// The style of a text on a terminal.
enum TextStyle {
    case plain, good, bad

    /// The text in the style, with codes of ECMA-48.
    func applied(to text: String) -> String {
        switch self {
        case .plain: text
        case .good: "\u{1B}[32m\(text)\u{1B}[0m"
        case .bad: "\u{1B}[31m\(text)\u{1B}[0m"
        }
    }
}

/// A column's title, which may be broken into lines.
struct ColumnTitle {
    private var parts: [Part]

    private struct Part {
        var text: String
        /// The blank before it on the same line, and the hyphen after it at the end of a line.
        var blank = ""
        var hyphen = ""
    }

    /// The width up to which titles stay unbroken: breaking `time/op` would gain only a column.
    private static let unbroken = 7

    init(_ title: String) {
        var parts: [Part] = []
        var blank = ""
        for word in title.split(separator: " ") {
            for (index, syllable) in word.split(separator: "\u{AD}").enumerated() {
                if index > 0 { parts[parts.count - 1].hyphen = "-" }
                let piece = TerminalText.escaped(String(syllable), limit: TerminalText.fieldLimit)
                let breaks = piece.indices.compactMap { index -> String.Index? in
                    if piece[index] == ":" { return index }
                    return ["/", "_"].contains(piece[index]) ? piece.index(after: index) : nil
                }
                let ends = breaks + [piece.endIndex]
                var start = piece.startIndex
                for end in ends where end > start {
                    parts.append(Part(text: String(piece[start..<end]), blank: blank))
                    (start, blank) = (end, "")
                }
            }
            blank = " "
        }
        self.parts = parts
        if TextWidth.of(plain) <= Self.unbroken { self.parts = [Part(text: plain)] }
    }

    /// The title in one line.
    var plain: String { parts.map { $0.blank + $0.text }.joined() }

    /// The width of its widest part.
    var least: Int { parts.map { TextWidth.of($0.text + $0.hyphen) }.max() ?? 0 }

    func lines(width: Int) -> [String] {
        var lines: [String] = []
        var hyphen = ""
        for part in parts {
            let longer = (lines.last ?? "") + part.blank + part.text
            if let last = lines.last, TextWidth.of(longer + part.hyphen) > width {
                lines[lines.count - 1] = last + hyphen
                lines.append(part.text)
            } else if lines.isEmpty {
                lines.append(part.text)
            } else {
                lines[lines.count - 1] = longer
            }
            hyphen = part.hyphen
        }
        return lines
    }
}

/// The width of printed text: `COLUMNS` if it is a number above 0, else the terminal's width, else 80.
enum TableWidth {
    /// The width in files and pipes, whose reader is unknown: every terminal has it.
    static let ofPipes = 80

    static func ofOutput() -> Int {
        ofTerminal() ?? ofPipes
    }

    /// Nil for files and pipes: the width for text other than tables, which programs may read.
    static func ofTerminal() -> Int? {
        if let columns = getenv("COLUMNS").flatMap({ Int(String(cString: $0)) }), columns > 0 { return columns }
        return StandardOutput.width
    }
}
