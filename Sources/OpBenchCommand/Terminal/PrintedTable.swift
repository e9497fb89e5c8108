import Glibc
import OpBenchModel

/// A table for people: a header, a rule, and a line a row, columns two blanks apart, without blanks at the ends of lines.
///
/// Where it is wider than `TableWidth` allows, text is wrapped, the widest column first, and no figure is ever cut: a
/// table of figures alone stays as wide as it is.
struct PrintedTable {
    struct Column {
        let title: String
        var isText = false
    }

    private static let gap = "  "
    /// Text is not wrapped to less than this.
    private static let leastText = 12

    private let columns: [Column]
    private let rows: [[String]]

    /// - Parameter rows: a field for each column, whatever a file may have put there.
    init(_ columns: [Column], rows: [[String]]) {
        func escaped(_ text: String) -> String { TerminalText.escaped(text, limit: TerminalText.fieldLimit) }
        self.columns = columns.map { Column(title: escaped($0.title), isText: $0.isText) }
        self.rows = rows.map { $0.map(escaped) }
    }

    /// - Parameter width: nil for as much as it takes.
    func text(width: Int? = TableWidth.ofOutput()) -> String {
        let widths = fit(to: width)
        let rule = widths.map { String(repeating: "-", count: $0) }
        return ([columns.map(\.title), rule] + rows).map { lines(of: $0, widths) }.joined()
    }

    /// The columns' widths: as wide as their fields, less where that is too much.
    private func fit(to width: Int?) -> [Int] {
        var widths = columns.indices.map { column in
            ([columns[column].title] + rows.map { $0[column] }).map(\.count).max() ?? 0
        }
        guard let width else { return widths }
        var excess = widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - width
        func least(_ column: Int) -> Int { max(Self.leastText, columns[column].title.count) }
        while excess > 0 {
            let texts = columns.indices.filter { columns[$0].isText && widths[$0] > least($0) }
            guard let widest = texts.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    /// A row, on as many lines as its longest field takes.
    private func lines(of fields: [String], _ widths: [Int]) -> String {
        let wrapped = zip(fields, widths).map(Self.wrap)
        return (0..<(wrapped.map(\.count).max() ?? 0)).map { line in
            let parts = wrapped.indices.map { column in
                let part = line < wrapped[column].count ? String(wrapped[column][line]) : ""
                let blanks = String(repeating: " ", count: max(0, widths[column] - part.count))
                return columns[column].isText ? part + blanks : blanks + part
            }
            let text = parts.joined(separator: Self.gap)
            return String(text.dropLast(text.reversed().prefix { $0 == " " }.count)) + "\n"
        }.joined()
    }

    /// A field in pieces of at most that many characters, parted at blanks where there are any.
    private static func wrap(_ field: String, _ width: Int) -> [Substring] {
        var (pieces, rest): ([Substring], Substring) = ([], field[...])
        while rest.count > width, width > 0 {
            let end = rest.index(rest.startIndex, offsetBy: width)
            let blank = rest[...end].lastIndex(of: " ").flatMap { $0 > rest.startIndex ? $0 : nil }
            pieces.append(rest[..<(blank ?? end)])
            rest = rest[(blank.map(rest.index(after:)) ?? end)...]
        }
        return pieces + [rest]
    }
}

/// How wide tables may be: `COLUMNS` if it is set, else the terminal; into files and pipes, as wide as they are.
enum TableWidth {
    static func ofOutput() -> Int? {
        if let columns = getenv("COLUMNS").flatMap({ Int(String(cString: $0)) }), columns > 0 { return columns }
        return StandardOutput.width
    }
}
