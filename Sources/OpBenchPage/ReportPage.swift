import CPage
import OpBenchHistory
import OpBenchModel

/// A page of results in one file: verdicts and sentences first, then charts; the table of all figures, the workloads and
/// the environment are folded.
///
/// The page loads nothing: it contains its style, its script and the chart library, and its content security policy
/// forbids everything else. Texts from files are in one block of JSON and only ever become text. Pages of equal content
/// differ only in a random number by which the browser recognises the page's own scripts. Thread-safe as a value.
public struct ReportPage: Sendable {
    public var title: String
    /// The judged figures, in display order.
    public var verdicts: [JudgedFigures]
    /// Commands that would judge the runs, each with a description; folded at the end.
    public var advice: [(words: String, command: String)]
    public var runs: [PageRun]
    /// Figures over many runs; the section is left out if there are none.
    public var trends: [TrendSeries]
    /// The program that made the page, and the time.
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
        // Each placeholder occurs once in the template, and inserted text is not searched again.
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
        case "heading": heading
        case "verdicts": outcomes
        case "sentences": sentences
        case "explanations": explanations
        case "advice": commands
        default: preconditionFailure("the page's template names {{\(placeholder)}}")
        }
    }
}

/// The files that a page is assembled from, embedded in the program.
enum PageFiles {
    static let template = text(CPAGE_TEMPLATE)
    static let style = text(CPAGE_STYLE)
    /// In this order they form the page's script.
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
