import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("Rows of one cell among many") struct CellIndexTests {
    private func row(_ cell: Int, _ sample: Int, notes: String = "") -> SampleRow {
        SampleRow(
            runID: "r", sampleID: "\(sample)-throughput", timestampUTC: "", workload: "w", cellID: "w items=\(cell)",
            backend: .engine, block: 0, position: 0, status: .ok, metric: "status", stat: "", value: nil, operations: 0,
            notes: notes, parameters: ["items": "\(cell)"])
    }

    private func append(_ text: String, to file: String) throws {
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    @Test("A file that grows is read where it has grown; every cell has its rows, in their order")
    func growth() throws {
        let file = "\(try TemporaryFolder.make())/samples.csv"
        try Data(CSVFile.header(of: SampleRow.self, parameters: ["items"]).utf8).write(to: URL(filePath: file))
        var index = CellIndex(file: file)
        #expect(try index.update() == [])
        var rows: [SampleRow] = []
        for part in 0..<5 {
            // Neighbours of one cell, cells that come again, and fields that need quotes.
            let new = (0..<40).map { row(($0 / 3 + part) % 7, part * 100 + $0, notes: "a \"b\",\n\($0)") }
            rows += new
            try append(new.map { CSVFile.line(of: $0, parameters: ["items"]) }.joined(), to: file)
            var seen: [SampleRow] = []
            #expect(try index.update { seen.append($0) } == Set(new.map(\.cellID)))
            #expect(seen == new)
            for cell in Set(rows.map(\.cellID)) {
                #expect(try index.rows(of: cell) == rows.filter { $0.cellID == cell })
            }
        }
        #expect(try index.update() == [])
        #expect(index.cells.count == 7)
        #expect(try index.rows(of: "w items=99") == [])
    }

    @Test("What is torn is refused, and taken in once it is whole")
    func torn() throws {
        let file = "\(try TemporaryFolder.make())/samples.csv"
        let line = CSVFile.line(of: row(1, 1), parameters: ["items"])
        let header = CSVFile.header(of: SampleRow.self, parameters: ["items"])
        try Data((header + line + line.dropLast(5)).utf8).write(to: URL(filePath: file))
        var index = CellIndex(file: file)
        #expect(throws: InputError.self) { try index.update() }
        try append(String(line.suffix(5)), to: file)
        #expect(try index.update() == ["w items=1"])
        #expect(try index.rows(of: "w items=1").count == 2)
    }
}
