import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchCommand

/// Tables for people, at the widths of terminals.
@Suite("Printed tables")
struct TableTests {
    private let golden = Golden("printed-table")
    private let table = Table<[String]>(
        [.init("cell", isText: true) { $0[0] }, .init("time") { $0[1] }, .init("verdict", isText: true) { $0[2] }],
        [
            ["w form=block depth=10000 work_ns=0", "1.25 µs", "inconclusive: wide interval, 7 of 15 blocks"],
            ["w", "9 ns", "pass"],
        ])

    @Test("Without a limit, as wide as the fields: two blanks apart, figures on the right, no trailing blanks")
    func unbounded() {
        golden.expect(table.text(width: nil), "any width")
        #expect(table.text(width: 88) == table.text(width: nil))
    }

    @Test("In less space, text wraps at blanks, the widest column first, and figures are not broken")
    func wrapped() {
        golden.expect(table.text(width: 60), "60 columns")
    }

    @Test("No line is too wide, nothing is lost, and text without blanks is broken where necessary")
    func widths() {
        let words = ["form=block", "depth=10000", "work_ns=0", "1.25 µs", "inconclusive:", "interval,", "pass"]
        for width in 36...100 {
            let lines = table.text(width: width).split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= width && $0.last != " " }, "\(width)")
            #expect(words.allSatisfy { word in lines.contains { $0.contains(word) } }, "\(width)")
        }
        let long = Table<String>([.init("x", isText: true) { $0 }], [String(repeating: "y", count: 30)])
        #expect(long.text(width: 12).split(separator: "\n").map(\.count) == [1, 12, 12, 12, 6])
    }

    @Test("Figures keep their width, and text is not wrapped too narrowly")
    func figures() {
        let figures = Table<String>([.init("a") { $0 }, .init("b") { $0 }], ["123456789"])
        #expect(figures.text(width: 5) == figures.text(width: nil))
        #expect(table.text(width: 1).split(separator: "\n").map(\.count).max() == 12 + 2 + 7 + 2 + 12)
    }

    @Test("Control characters in a file's fields are escaped, in titles too")
    func escapes() {
        let table = Table<String>([.init("a\u{1B}", isText: true) { $0 }], ["b\nc", ""])
        #expect(table.text(width: nil) == "a\\u{1b}\n-------\nb\\nc\n\n")
    }

    // MARK: Columns that are hidden

    private func ranked(_ width: Int?) -> TableText {
        let heading = "depth=2 order=reverse"
        let table = Table<[String]>(
            [
                .init("backend", isText: true) { $0[0] }, .init("time/op") { $0[1] },
                .init("95 % interval", rank: 3, isJoined: true) { $0[2] }, .init("vs dispatch", rank: 1) { $0[3] },
                .init("inver\u{AD}sions", rank: 2) { $0[4] },
            ],
            [
                ["engine", "1.25 µs", "−6 % +79 %", "0.50×", "2.42k", ""],
                ["dispatch", "2.50 µs", "-", "1.00×", "-", "crashed"], ["serial", "-", "-", "", "-", "skipped"],
            ])
        return table.layout(width: width, heading: { _ in heading }, remark: { $0[5] })
    }

    @Test("The least important columns are hidden first, and named; titles break above narrow figures")
    func columnsGiveWay() {
        let whole = ranked(nil)
        golden.expect(whole.text, "ranked columns")
        #expect(whole.hidden == [])
        #expect(ranked(48).hidden == [])
        #expect(ranked(47).hidden == ["95 % interval"])
        #expect(ranked(36).hidden == ["95 % interval", "inversions"])
        #expect(ranked(26).hidden == ["95 % interval", "vs dispatch", "inversions"])
    }

    @Test("A short title stays on one line, however narrow its figures are")
    func shortTitles() {
        let table = Table<[String]>(
            [.init("backend", isText: true) { $0[0] }, .init("time/op") { $0[1] }, .init("start p50") { $0[2] }],
            [["serial", "9 ns", "8 ns"]])
        golden.expect(table.text(width: nil), "a short title")
    }

    @Test("Text that is wrapped within its column keeps its indentation")
    func indentation() {
        let table = Table<[String]>(
            [.init("figure", isText: true) { $0[0] }, .init("ratio") { $0[1] }],
            [["  time total ÷ dispatch:notify", "0.5×"]])
        golden.expect(table.text(width: 24), "indentation")
    }

    @Test("A remark is behind its row if there is room, otherwise below its end")
    func remarks() {
        #expect(ranked(60).text.contains("1.00×       - crashed\n"))
        #expect(ranked(51).text.contains("1.00×       -\n" + String(repeating: " ", count: 41) + "crashed\n"))
    }

    @Test("Wide characters take two columns, and combining marks none; no line exceeds the width")
    func wideCharacters() {
        #expect(TextWidth.of("abc") == 3 && TextWidth.of("−6 µs ×") == 7)
        #expect(TextWidth.of("深さ") == 4 && TextWidth.of("e\u{301}") == 1 && TextWidth.of("🚀") == 2)
        let table = Table<[String]>(
            [.init("セル", isText: true) { $0[0] }, .init("time") { $0[1] }],
            [["深さ=千 e\u{301}", "1 ns"], [String(repeating: "深", count: 30), "20 ns"]])
        for width in 20...90 {
            let lines = table.text(width: width).split(separator: "\n").map { TextWidth.of($0) }
            #expect(lines.allSatisfy { $0 <= width }, "\(width): \(lines)")
        }
        let lines = table.text(width: 40).split(separator: "\n")
        #expect(
            Set(lines.filter { $0.hasSuffix("ns") }.map { TextWidth.of($0) }).count == 1, "figures end in one column")
    }

    @Test("Definitions are next to their terms; a long term has a separate line; all within the width")
    func definitions() {
        let list = DefinitionList(entries: [
            ("n", "noisy: something else used the machine"), ("a-very-long-term-of-all", "x y"),
        ])
        golden.expect(list.text(width: 24), "definitions")
        for width in 10...80 {
            #expect(list.text(width: width).split(separator: "\n").allSatisfy { $0.count <= max(width, 4) }, "\(width)")
        }
        #expect(list.text(width: nil).split(separator: "\n").count == 3)
    }
}

/// The width of the program's tables.
@Suite("Table width")
struct TableWidthTests {
    @Test("In a pipe, a table has 80 columns, or COLUMNS")
    func columns() async throws {
        let folder = try ScratchFolder()
        var widths: [Int] = []
        for columns in [nil, "70", "0", "wide"] {
            let result = try await OpBenchProcess.run(
                ["describe"], in: folder, environment: ["COLUMNS": columns])
            #expect(result.status == 0, "\(result.errors)")
            widths.append(result.output.split(separator: "\n").map(\.count).max() ?? 0)
        }
        #expect((71...80).contains(widths[0]) && widths[1] <= 70)
        #expect(widths[2] == widths[0] && widths[3] == widths[0])
    }

    @Test("A list has each cell's id whole in one line")
    func list() async throws {
        let folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "a-workload-of-a-long-name", "summary": "s", "shape": "independent", "backends": ["serial"],
             "parameters": {"items": 12345, "items_per_operation": 100, "max_concurrent": 3, "work_ns": 123456}}
            """, to: "w.json")
        let id = "a-workload-of-a-long-name items=12345 items_per_operation=100 max_concurrent=3 work_ns=123456"
        let list = try await OpBenchProcess.run(["list", "w.json"], in: folder)
        let lines = list.output.split(separator: "\n")
        #expect(list.status == 0 && lines.contains("  \(id)"), "\(list.output)")
        #expect(lines.allSatisfy { $0.hasSuffix(id) || $0.count <= 80 })
    }
}
