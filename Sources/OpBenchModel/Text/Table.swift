/// Rows under columns that are declared once: the tables of a terminal, of Markdown and of the page, and the explanations
/// of columns derive from them.
package struct Table<Row: Sendable>: Sendable {
    package struct Column: Sendable {
        /// A soft hyphen marks where a word may be broken.
        package let title: String
        package let isText: Bool
        /// The order of hiding columns in a narrow terminal: the greatest rank first, rank 0 never.
        package let rank: Int
        /// Whether it belongs to the column before it, and is nearer to it.
        package let isJoined: Bool
        /// Whether a page shows it only on request.
        package let isDetail: Bool
        /// Whether the text is Markdown already.
        package let isMarkup: Bool
        /// A sentence or two for people; empty if the title says enough.
        package let meaning: String
        /// The text for a row, which may contain a file's text.
        package let text: @Sendable (Row) -> String

        package init(
            _ title: String, isText: Bool = false, rank: Int = 0, isJoined: Bool = false, isDetail: Bool = false,
            isMarkup: Bool = false, _ meaning: String = "", text: @escaping @Sendable (Row) -> String
        ) {
            (self.title, self.isText, self.rank, self.isJoined) = (title, isText, rank, isJoined)
            (self.isDetail, self.isMarkup, self.meaning, self.text) = (isDetail, isMarkup, meaning, text)
        }

        /// The title in one piece, with the explanation.
        package var described: ColumnMeaning {
            ColumnMeaning(name: title.split(separator: "\u{AD}").joined(), meaning: meaning)
        }
    }

    package let columns: [Column]
    package let rows: [Row]

    package init(_ columns: [Column], _ rows: [Row]) { (self.columns, self.rows) = (columns, rows) }

    /// A text for each column.
    package func fields(_ row: Row) -> [String] { columns.map { $0.text(row) } }

    /// The table in GitHub's Markdown.
    ///
    /// - Parameters:
    ///   - room: the limit in bytes.
    ///   - omission: the text in place of the rows beyond the limit, by their number.
    package func markdown(room: Int = .max, omission: (Int) -> String = { _ in "" }) -> String {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
        var text = line(columns.map { MarkdownText.cell($0.described.name) })
        text += line(columns.map { $0.isText ? "---" : "---:" })
        for (index, row) in rows.enumerated() {
            let next = line(columns.map { $0.isMarkup ? $0.text(row) : MarkdownText.cell($0.text(row)) })
            if text.utf8.count + next.utf8.count > room { return text + omission(rows.count - index) }
            text += next
        }
        return text
    }
}
