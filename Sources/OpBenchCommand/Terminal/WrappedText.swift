import CLinuxMeasure

/// Text wrapped to a limited width, at blanks if there are any. Only those blanks are lost.
enum WrappedText {
    /// - Parameter width: in columns; nil for one line.
    /// - Returns: at least one line, each of at least one character.
    static func lines(_ text: String, width: Int?) -> [String] {
        guard let width, width > 0 else { return [text] }
        var (lines, rest): ([String], Substring) = ([], text[...])
        while TextWidth.of(rest) > width {
            let end = end(of: rest, width: width)
            // A blank right after the text that fits is best; blanks before the first word do not count.
            let start = rest.firstIndex { $0 != " " } ?? rest.startIndex
            let blank = rest[...end].lastIndex(of: " ").flatMap { $0 > start ? $0 : nil }
            lines.append(trimmed(rest[..<(blank ?? end)]))
            rest = blank.map { rest[$0...].drop { $0 == " " } } ?? rest[end...]
        }
        return lines + [String(rest)]
    }

    /// Lines with their ends; all but the first have an indentation.
    ///
    /// - Parameter first: the text before the first line.
    static func paragraph(_ text: String, width: Int?, first: String = "", hanging: Int = 0) -> String {
        let indentation = String(repeating: " ", count: hanging)
        let opening = TextWidth.of(first)
        let room = width.map { max(1, $0 - max(opening, hanging)) }
        let lines = lines(text, width: room)
        return lines.enumerated().map { ($0 == 0 ? first : indentation) + $1 + "\n" }.joined()
    }

    /// The text, padded with blanks to a width.
    static func padded(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - TextWidth.of(text)))
        return isRight ? blanks + text : text + blanks
    }

    /// The line without blanks at its end.
    static func trimmed(_ line: some StringProtocol) -> String {
        String(line.dropLast(line.reversed().prefix { $0 == " " }.count))
    }

    /// The first place at which the text exceeds the width, after at least one character; there is such a place.
    private static func end(of text: Substring, width: Int) -> Substring.Index {
        var (index, used) = (text.startIndex, 0)
        while index < text.endIndex {
            used += TextWidth.of(text[index...index])
            if used > width, index > text.startIndex { return index }
            index = text.index(after: index)
        }
        return text.index(before: text.endIndex)
    }
}

/// Terms with their meanings beside them, wrapped to a limited width.
struct DefinitionList {
    /// Entries, with a file's text already escaped.
    let entries: [(term: String, meaning: String)]

    private static let gap = 2
    /// A longer term gets a separate line.
    private static let longestTerm = 16

    func text(width: Int?, indentation: Int = 0) -> String {
        let widths = entries.map { TextWidth.of($0.term) }
        let column = indentation + Self.gap + (widths.filter { $0 <= Self.longestTerm }.max() ?? 0)
        let blanks = String(repeating: " ", count: indentation)
        return zip(entries, widths).map { entry, termWidth in
            let term = WrappedText.padded(blanks + entry.term, to: column)
            guard termWidth > Self.longestTerm else {
                return WrappedText.paragraph(entry.meaning, width: width, first: term, hanging: column)
            }
            let opening = String(repeating: " ", count: column)
            return WrappedText.paragraph(entry.term, width: width, first: blanks, hanging: indentation)
                + WrappedText.paragraph(entry.meaning, width: width, first: opening, hanging: column)
        }.joined()
    }
}

/// The number of terminal columns of a text: none for combining marks, two for wide East Asian characters and emoji. A
/// sequence that a terminal may show as one emoji counts as its parts, so that no line gets too wide.
enum TextWidth {
    static func of(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x300 ? 1 : Int(clinux_columns($1.value))) }
    }
}
