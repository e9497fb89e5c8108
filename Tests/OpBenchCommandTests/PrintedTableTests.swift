import Foundation
import Testing

@testable import OpBenchCommand

/// Tables for people, at the widths of terminals.
@Suite("Printed tables")
struct PrintedTableTests {
    private let table = PrintedTable(
        [.init(title: "cell", isText: true), .init(title: "time"), .init(title: "verdict", isText: true)],
        rows: [
            ["w form=block depth=10000 work_ns=0", "1.25 µs", "inconclusive: wide interval, 7 of 15 blocks"],
            ["w", "9 ns", "pass"],
        ])

    @Test("Without a bound, as wide as the fields are: two blanks apart, figures at the right, no blanks at the end")
    func unbounded() {
        #expect(
            table.text(width: nil) == """
                cell                                   time  verdict
                ----------------------------------  -------  -------------------------------------------
                w form=block depth=10000 work_ns=0  1.25 µs  inconclusive: wide interval, 7 of 15 blocks
                w                                      9 ns  pass

                """)
        #expect(table.text(width: 88) == table.text(width: nil))
    }

    @Test("In less room text is wrapped at its blanks, the widest column first, and figures stay whole")
    func wrapped() {
        #expect(
            table.text(width: 60) == """
                cell                         time  verdict
                ------------------------  -------  -------------------------
                w form=block depth=10000  1.25 µs  inconclusive: wide
                work_ns=0                          interval, 7 of 15 blocks
                w                            9 ns  pass

                """)
    }

    @Test("No line is wider than it may be, nothing is lost, and what has no blank is parted where it must be")
    func widths() {
        let words = ["form=block", "depth=10000", "work_ns=0", "1.25 µs", "inconclusive:", "interval,", "pass"]
        for width in 36...100 {
            let lines = table.text(width: width).split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= width && $0.last != " " }, "\(width)")
            #expect(words.allSatisfy { word in lines.contains { $0.contains(word) } }, "\(width)")
        }
        let long = PrintedTable([.init(title: "x", isText: true)], rows: [[String(repeating: "y", count: 30)]])
        #expect(long.text(width: 12).split(separator: "\n").map(\.count) == [1, 12, 12, 12, 6])
    }

    @Test("Figures alone stay as wide as they are, and text is not wrapped to next to nothing")
    func figures() {
        let figures = PrintedTable([.init(title: "a"), .init(title: "b")], rows: [["123456789", "123456789"]])
        #expect(figures.text(width: 5) == figures.text(width: nil))
        #expect(table.text(width: 1).split(separator: "\n").map(\.count).max() == 12 + 2 + 7 + 2 + 12)
    }

    @Test("Control characters of a file's fields are written out, in titles too")
    func escapes() {
        let table = PrintedTable([.init(title: "a\u{1B}", isText: true)], rows: [["b\nc"], [""]])
        #expect(table.text(width: nil) == "a\\u{1b}\n-------\nb\\nc\n\n")
    }
}

/// How wide tables of the program are.
@Suite("Table width")
struct TableWidthTests {
    @Test("Into a pipe a table is as wide as it is, or as COLUMNS says")
    func columns() async throws {
        let folder = try ScratchFolder()
        for number in 0..<2 {
            let name = "results/baseline/\(number)-\(String(repeating: "long-", count: 12))name"
            try FileManager.default.createDirectory(
                atPath: "\(folder.root)/\(name)", withIntermediateDirectories: true)
            try folder.write(samples, to: "\(name)/samples.csv")
        }
        var widths: [Int] = []
        for columns in [nil, "70", "0", "wide"] {
            let result = try await OpBenchProcess.run(
                ["baseline", "list"], in: folder, environment: .inherit.updating(["COLUMNS": columns]))
            #expect(result.status == 0, "\(result.errors)")
            widths.append(result.output.split(separator: "\n").map(\.count).max() ?? 0)
        }
        #expect(widths[0] > 90 && widths[1] <= 70)
        #expect(widths[2] == widths[0] && widths[3] == widths[0])
    }

    private let samples = """
        schema_version,run_id,sample_id,timestamp_utc,workload,cell_id,backend,side,block,position,phase,iteration,\
        class,status,flags,metric,stat,value,unit,direction,deterministic,operations,notes
        1,r,0-throughput,2026-01-01T00:00:00Z,w,w,engine,,0,0,total,,,ok,,time,total,1,s,lower,false,1,

        """
}
