import CPage
import OpBenchModel

/// A page of results in one file: what the runs are and their verdicts first, then cells, charts, workloads and the environment.
///
/// The page loads nothing, from nowhere: its style, its program and the library of charts stand in it, and its policy of
/// contents forbids the browser everything else. What files say stands in it as one block of JSON, of which nothing is
/// made but text. Pages of the same contents differ by a random number alone, by which the browser knows the page's own
/// scripts. A value, and thread-safe as such.
public struct ReportPage: Sendable {
    public var title: String
    /// What was judged, in the order in which it is shown.
    public var verdicts: [JudgedFigures]
    /// Commands that would have something judged, each with what it does; shown last, where nothing was.
    public var advice: [(words: String, command: String)]
    public var runs: [PageRun]
    /// Figures over many runs; without any the page has no such section.
    public var trends: [TrendSeries]
    /// What made the page, and when.
    public var maker: String

    public init(
        title: String, verdicts: [JudgedFigures] = [], advice: [(words: String, command: String)] = [],
        runs: [PageRun] = [], trends: [TrendSeries] = [], maker: String = "opbench"
    ) {
        (self.title, self.verdicts, self.advice) = (title, verdicts, advice)
        (self.runs, self.trends, self.maker) = (runs, trends, maker)
    }

    /// The whole file.
    public var html: String {
        var random = SystemRandomNumberGenerator()
        let nonce = String(random.next(), radix: 36) + String(random.next(), radix: 36)
        return html(nonce: nonce)
    }

    /// - Parameter nonce: letters and digits that nobody can have put into a run's files.
    func html(nonce: String) -> String {
        var text = ""
        // Each placeholder stands once in the template, and what is put in is not searched again.
        var rest = PageFiles.template[...]
        while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            text += rest[..<start.lowerBound]
            text += value(of: String(rest[start.upperBound..<end.lowerBound]), nonce)
            rest = rest[end.upperBound...]
        }
        return text + rest
    }

    private func value(of placeholder: String, _ nonce: String) -> String {
        switch placeholder {
        case "nonce": nonce
        case "title": HTMLText.escaped(title)
        case "style": PageFiles.style
        case "data": PageData(self).json
        case "library": PageFiles.library
        case "script": PageFiles.scripts.joined(separator: "\n")
        case "license": HTMLText.escaped(PageFiles.license)
        case "heading": HeadingText.html(of: self)
        case "verdicts": VerdictText.html(of: self)
        case "advice": VerdictText.advice(of: self)
        default: preconditionFailure("the page's template names {{\(placeholder)}}")
        }
    }
}

/// The files that a page is put together from, which are part of the program.
enum PageFiles {
    static let template = text(CPAGE_TEMPLATE)
    static let style = text(CPAGE_STYLE)
    /// One after the other they are the page's program.
    static let scripts = [
        CPAGE_TEXT, CPAGE_DATA, CPAGE_VERDICTS, CPAGE_TABLE, CPAGE_CHARTS, CPAGE_SECTIONS, CPAGE_HISTORY,
        CPAGE_DIFFERENCES, CPAGE_BY_CELL, CPAGE_ONE_CELL, CPAGE_SWEEPS, CPAGE_MAIN,
    ].map(text)
    static let library = text(CPAGE_LIBRARY)
    static let license = text(CPAGE_NOTICE) + "\n" + text(CPAGE_LICENSE)

    private static func text(_ name: cpage_name) -> String {
        let file = cpage_file(name)
        return String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
    }
}
