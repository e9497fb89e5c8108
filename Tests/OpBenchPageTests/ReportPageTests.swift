import Foundation
import OpBenchAnalysis
import OpBenchHistory
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchPage

@Suite("The page of a report")
struct ReportPageTests {
    /// The JSON data as Foundation reads it.
    private func parsed(_ page: ReportPage) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(try page.block().utf8))
        return try #require(object as? [String: Any])
    }

    @Test("is one file: it makes a browser load no other, and its content security policy forbids that")
    func isOneFile() throws {
        let whole = ReportPage(title: "t").html
        // The library names elements that it makes only for saving pictures, which the page leaves out.
        let parts = whole.components(separatedBy: PageFiles.library)
        try #require(parts.count == 2)
        let html = parts.joined()
        let policy = try #require(html.firstMatch(of: /http-equiv="Content-Security-Policy" content="([^"]*)"/)).1
        #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-"))
        #expect(!policy.contains("http") && !policy.contains("*") && !policy.contains("unsafe-eval"))
        // Besides the policy: attributes and rules that load. Addresses in the library's text are SVG namespaces.
        for match in html.matches(of: /<(?:link|img|iframe|script|object|embed|video|audio|source)\b[^>]*>/) {
            #expect(!match.0.contains("src="))
            #expect(!match.0.contains("href=") || match.0.contains("href=\"data:,\""))
        }
        #expect(html.firstMatch(of: /@import|url\(\s*["']?(?:https?:)?\/\//) == nil)
        #expect(html.contains("Apache License") && html.contains("Baidu Inc."))
    }

    @Test("has every placeholder of its template replaced, and no value searched for another")
    func fillsPlaceholders() {
        let html = ReportPage(title: "{{data}}").html(nonce: "n")
        #expect(html.contains("<title>{{data}}</title>"))
        #expect(html.matches(of: /id="data"/).count == 1)
        for name in ["nonce", "style", "script", "library", "license", "heading", "sentences", "verdicts", "advice"] {
            #expect(!html.contains("{{\(name)}}"))
        }
    }

    /// Compares an element of the page.
    private func expect(_ element: String, _ id: String, of html: String, _ section: String) throws {
        let start = try #require(html.firstRange(of: "<\(element) id=\"\(id)\"")).lowerBound
        let end = try #require(html[start...].firstRange(of: "</\(element)>")).upperBound
        Golden("report-page").expect(String(html[start..<end]), section)
    }

    private func row(_ change: (inout CompareRow) -> Void) -> CompareRow {
        var row = CompareRow(FigureName(cellID: "w", backend: .engine, metric: "time", phase: "total", stat: "total"))
        change(&row)
        return row
    }

    @Test("shows its verdicts before anything else")
    func verdictsFirst() throws {
        var fixture = PageFixture()
        fixture.add()
        let judged = JudgedFigures(
            kind: .baseline, title: "today against main", outcome: "regression",
            table: Table(
                [
                    .init("cell", isText: true) { $0.cellID }, .init("detects", isDetail: true) { _ in "2 %" },
                    .init("verdict", isText: true) { $0.verdict.rawValue },
                ],
                [
                    row { row in
                        (row.verdict, row.threshold) = (.regression, 0.05)
                        (row.ratio, row.ratioLow, row.ratioHigh) = (1.1, 1.08, 1.12)
                    }, row { _ in },
                ]))
        let html = fixture.page(verdicts: [judged]).html(nonce: "n")
        let body = try #require(html.firstRange(of: "<main>")).upperBound
        let first = try #require(html[body...].firstRange(of: "<section")).lowerBound
        #expect(html[first...].hasPrefix("<section id=\"verdicts\""))
        try expect("section", "verdicts", of: html, "a regression")
        #expect(html.contains(#""columns":[["cell",true,false],["detects",false,true],["verdict",true,false]]"#))
    }

    @Test("lists commands that would judge at its end, folded")
    func nothingJudged() throws {
        let page = ReportPage(title: "t", advice: [(words: "by goals", command: "opbench report 'a b' --policy <x>")])
        let html = page.html(nonce: "n")
        try expect("details", "judging", of: html, "nothing judged")
        #expect(!html.contains("id=\"verdicts\""))
        #expect(!ReportPage(title: "t").html(nonce: "n").contains("id=\"judging\""))
    }

    @Test("names the backends in the order of the rows and files")
    func backends() throws {
        var fixture = PageFixture()
        for backend in ["mine", "serial", "engine"] { fixture.add(backend) }
        #expect(try parsed(fixture.page())["backends"] as? [String] == ["mine", "serial", "engine"])
    }

    @Test("shows the charts first, and folds the table, the workloads and the facts about the run")
    func order() throws {
        var fixture = PageFixture()
        fixture.add()
        let html = fixture.page().html(nonce: "n")
        let elements = html.matches(of: /<(?:div|details) id="(charts|cells|workloads|about)"/)
        #expect(elements.map { $0.1 } == ["charts", "cells", "workloads", "about"])
        #expect(elements.map { $0.0.hasPrefix("<details") } == [false, true, true, true])
        #expect(html.matches(of: /<details[^>]* open/).isEmpty)
    }

    @Test("has each run's results in sentences before the charts, as text")
    func sentences() throws {
        let run = PageRun(
            name: "a<b", sentences: ["engine: faster in 2 cells", "x & y"], samples: [], summary: [])
        let one = ReportPage(title: "t", runs: [run]).html(nonce: "n")
        let list = "<ul class=\"sentences\">\n<li>engine: faster in 2 cells</li>\n<li>x &amp; y</li>\n</ul>\n"
        let place = try #require(one.firstRange(of: list))
        let charts = try #require(one.firstRange(of: "<div id=\"charts\""))
        #expect(place.upperBound <= charts.lowerBound)
        let two = ReportPage(title: "t", runs: [run, run]).html(nonce: "n")
        #expect(two.ranges(of: "<h2>a&lt;b</h2>\n" + list).count == 2)
        #expect(!ReportPage(title: "t").html(nonce: "n").contains("class=\"sentences\""))
    }

    @Test("folds explanations below their first lines, as text")
    func explanations() {
        let run = PageRun(name: "r", samples: [], summary: [], explanations: ["w on a<b\n  run(): +1 ns\n"])
        let html = ReportPage(title: "t", runs: [run]).html(nonce: "n")
        #expect(html.contains("<summary>Explained: w on a&lt;b</summary>\n<pre>  run(): +1 ns\n</pre>"))
        #expect(!ReportPage(title: "t").html(nonce: "n").contains("Explained"))
    }

    @Test("begins with each run's heading, as text")
    func heading() {
        let run = PageRun(name: "a<b", heading: ["monday", "x & y"], samples: [], summary: [])
        let one = ReportPage(title: "t", runs: [run]).html(nonce: "n")
        #expect(one.contains("<p class=\"run\"><span>monday</span> <span>x &amp; y</span></p>\n"))
        let two = ReportPage(title: "t", runs: [run, run]).html(nonce: "n")
        #expect(two.contains("<p class=\"run\"><span><strong>a&lt;b</strong></span> <span>monday</span>"))
    }

    static let hostile = [
        "</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>", "\"quoted' & `more`",
        "line\u{2028}two\u{2029}three", "right\u{202E}left", "{{data}}", "a\u{0}b\u{1B}[31m", "\\u003c \\",
        "]]>", "##[error]", "{a|b}",
    ]

    @Test("holds names from files as text, whatever they are", arguments: hostile)
    func escapes(name: String) throws {
        var fixture = PageFixture()
        fixture.add(name, cell: name, workload: name, parameters: [name: name])
        fixture.add(name, cell: name + "2", workload: name, parameters: [name: name + "2"])
        var run = fixture.run
        (run.name, run.heading, run.sentences, run.explanations) = (name, [name], [name], [name])
        (run.workloads, run.facts) = ([(name, name, name)], [(name, name)])
        let judged = JudgedFigures(
            kind: .goals, title: name, outcome: name,
            table: Table(
                [.init(name, isText: true) { _ in name }],
                [
                    row { row in
                        (row.cellID, row.metric, row.phase, row.operationClass) = (name, name, name, name)
                        row.backend = BackendID(rawValue: name)
                    }
                ]),
            remedies: [name])
        let trend = trend([1], of: name)
        let page = ReportPage(title: name, verdicts: [judged], runs: [run], trends: [trend], maker: name)

        let block = try page.block()
        for forbidden in ["<", ">", "&", "\u{2028}", "\u{2029}", "\u{202E}", "\u{0}", "\u{1B}"] {
            #expect(!block.contains(forbidden))
        }
        let data = try parsed(page)
        #expect(data["backends"] as? [String] == [name])
        let cells = try #require(data["cells"] as? [[Any]])
        #expect(cells.map { $0[1] as? String } == [name, name + "2"])
        // Apart from the data, the page has the same elements as one with plain names.
        let plain = ReportPage(title: "t", verdicts: [judgedPlain], runs: [run], trends: [trend], maker: "m")
        #expect(Self.tags(page) == Self.tags(plain))
    }

    private var judgedPlain: JudgedFigures {
        JudgedFigures(kind: .goals, title: "t", outcome: "pass", table: Table([], []))
    }

    private static func tags(_ page: ReportPage) -> [String] {
        let html = page.html(nonce: "n")
        let body = html[html.firstRange(of: "<body>")!.lowerBound..<html.firstRange(of: "id=\"data\"")!.lowerBound]
        return body.matches(of: /<\/?([a-zA-Z!][a-zA-Z0-9-]*)/).map { String($0.1) }
    }

    /// A series with a run for each value.
    private func trend(
        _ values: [Double], of text: String = "w", facts: (Int) -> [SurroundingFact: String?] = { _ in [:] }
    ) -> TrendSeries {
        let host = HostKind(hostClass: text, allocator: text, configuration: text)
        let name = FigureName(
            cellID: text, backend: BackendID(rawValue: text), metric: text, phase: text, operationClass: text,
            stat: text)
        return TrendSeries(
            name: name, host: host,
            points: values.enumerated().map { index, value in
                TrendSeries.Point(
                    run: HistoryRun(
                        id: text + (index == 0 ? "" : "\(index)"), startedUTC: text, commit: text, isDirty: false,
                        host: host, surroundings: ["": Surroundings(facts(index))]),
                    figure: RunFigure(name: name, value: value, samples: 1))
            })
    }

    @Test("writes null for NaN and infinity, which JSON lacks")
    func finiteFigures() throws {
        var fixture = PageFixture()
        fixture.add(rate: .infinity)
        fixture.add(block: 1, rate: .leastNonzeroMagnitude)
        var trend = trend([.nan])
        (trend.points[0].figure.low, trend.points[0].figure.high) = (-.infinity, 1e300)
        let judged = JudgedFigures(
            kind: .sides, title: "t", outcome: "pass",
            table: Table([], [row { ($0.verdict, $0.ratio, $0.ratioLow) = (.pass, .nan, .infinity) }]))
        var page = fixture.page(verdicts: [judged])
        page.trends = [trend]
        let data = try parsed(page)
        let points = try #require((data["trends"] as? [[String: Any]])?[0]["points"] as? [[Any]])
        #expect(points[0][3] is NSNull && points[0][4] is NSNull)
        #expect(points[0][5] as? Double == 1e300)
    }

    @Test("names what differs around the code before the outcome")
    func surroundings() throws {
        let judged = JudgedFigures(
            kind: .baseline, title: "t", outcome: "pass", table: Table([], []), surroundings: ["kernel: <1> → 2"])
        let html = ReportPage(title: "t", verdicts: [judged]).outcomes
        let line = try #require(html.firstRange(of: "kernel: &lt;1&gt; → 2"))
        let outcome = try #require(html.firstRange(of: "<strong>pass</strong>"))
        #expect(line.upperBound < outcome.lowerBound)
    }

    @Test("marks the runs of a trend at which something around the code changed")
    func surroundingsOfTrends() throws {
        var trend = trend([1, 1, 1]) { [.compiler: $0 == 0 ? "A" : "B", .kernel: $0 == 0 ? "1" : "2"] }
        trend.points[1].change = 1.3
        trend.points[2].change = 1.1
        let data = try parsed(ReportPage(title: "t", trends: [trend]))
        let series = try #require((data["trends"] as? [[String: Any]])?.first)
        let changes = try #require(series["changes"] as? [[Any]])
        #expect(changes.map { $0[2] as? Bool } == [false, true])
        let marked = try #require((series["surroundings"] as? [[Any]])?.first)
        #expect(marked[0] as? Int == 1 && marked[1] as? String == "compiler, kernel")
        #expect(marked[2] as? [String] == ["compiler: A → B", "kernel: 1 → 2"])
    }

    @Test("can be made of a run without rows, and of one with a single sample")
    func emptyAndSingle() throws {
        let empty = try parsed(ReportPage(title: "t", runs: [PageRun(name: "r", samples: [], summary: [])]))
        #expect((empty["rows"] as? [Any])?.isEmpty == true)
        #expect((empty["cells"] as? [Any])?.isEmpty == true)
        var fixture = PageFixture()
        fixture.add(rate: 2e6)
        let single = try parsed(fixture.page())
        let row = try #require((single["rows"] as? [[Any]])?.first)
        let figures = try #require(row[10] as? [Any])
        #expect(figures[0] as? Double == 500)
        #expect(figures[1] is NSNull && figures[2] is NSNull, "one sample has no interval")
        #expect(row[11] as? [Double] == [0, 500, 0])
    }

    @Test("distinguishes noisy samples")
    func noisy() throws {
        var fixture = PageFixture()
        fixture.add(rate: 1e6, flags: [.noisy])
        fixture.add(block: 1, rate: 2e6, flags: [.unsteady])
        let row = try #require((try parsed(fixture.page())["rows"] as? [[Any]])?.first)
        #expect(row[7] as? Int == 1)
        #expect(row[11] as? [Double] == [0, 1000, 1, 1, 500, 0])
    }

    @Test("has the mark of unsteady results and both modes")
    func marks() throws {
        var fixture = PageFixture()
        fixture.add()
        var run = fixture.run
        func row() throws -> [Any] {
            let page = ReportPage(title: "t", verdicts: [], runs: [run])
            return try #require((try parsed(page)["rows"] as? [[Any]])?.first)
        }
        #expect(try row()[12] as? Int == 0 && row()[13] as? [Double] == [])
        run.summary[0].isUnsteady = true
        run.summary[0].modes = Modes(low: 1.5, high: 2, highSamples: 3)
        #expect(try row()[12] as? Int == 1 && row()[13] as? [Double] == [1.5, 2, 3])
    }

    @Test("writes constant parameters once per workload")
    func parameters() throws {
        var fixture = PageFixture()
        fixture.add(cell: "w items=10", parameters: ["items": "10", "depth": "1"])
        fixture.add(cell: "w items=20", parameters: ["items": "20", "depth": "1"])
        let data = try parsed(fixture.page())
        let workload = try #require((data["workloads"] as? [[String: Any]])?.first)
        #expect(workload["varying"] as? [String] == ["items"])
        #expect(workload["common"] as? [[String]] == [["depth", "1"]])
        #expect((data["cells"] as? [[Any]])?.map { $0[2] as? String } == ["10", "20"])
    }

    @Test("keeps nine digits of a figure")
    func digits() {
        func text(_ figure: Double) -> String {
            var json = PageJSON()
            json.figure(figure)
            return json.text
        }
        #expect(text(1.0 / 3) == "0.333333333")
        #expect(text(123_456_789_012) == "123456789000")
        #expect(text(-0.1) == "-0.1")
        #expect(text(0) == "0")
        #expect(text(1e-60) == "1e-60")
    }
}
