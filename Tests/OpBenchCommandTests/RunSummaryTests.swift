import Foundation
import OpBenchAnalysis
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel

@Suite struct RunSummaryTests {
    @Test("an incremental summary equals that of all rows at once")
    func growth() throws {
        let folder = try ScratchFolder()
        try folder.write(
            #"{"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": [3, 1, 2], "work_ns": 0}, "#
                + #""backends": ["serial", "dispatch"], "sample_kinds": ["throughput"]}"#, to: "w.json")
        let spec = try WorkloadSpec.load(file: folder.root + "/w.json")
        var summary = RunSummary(specs: [spec])
        var rows: [SampleRow] = []
        var number = 0
        for block in 0..<8 {
            for cell in spec.cells where block < 6 || cell.parameters["items"]?.description == "1" {
                for backend in [BackendID.serial, .dispatch] {
                    number += 1
                    rows += Self.sample(number, cell, backend, block)
                }
            }
            let made = try summary.rows(of: rows, in: folder.root)
            let expected = SummaryOrder(specs: [spec]).sorted(summarize(rows))
            #expect(CSVFile.text(of: made) == CSVFile.text(of: expected))
        }
    }

    @Test("a workload's cells are in the order of its file, or of their parameters if --set added some")
    func order() throws {
        let folder = try ScratchFolder()
        try folder.write(
            #"{"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": [3, 1, 20]}, "#
                + #""backends": ["engine"]}"#, to: "w.json")
        let order = SummaryOrder(specs: [try WorkloadSpec.load(file: folder.root + "/w.json")])
        func sorted(_ items: String...) -> [String?] {
            let rows = items.map { items in
                SummaryRow(
                    runID: "r", workload: "w", cellID: "w items=\(items)", backend: .engine, operationClass: "",
                    status: .ok, samples: 1, parameters: ["items": items])
            }
            return order.sorted(rows).map { $0.parameters["items"] }
        }
        #expect(sorted("1", "20", "3") == ["3", "1", "20"])
        #expect(sorted("20", "default", "100", "3", "1") == ["1", "3", "20", "100", "default"])
    }

    private static func sample(_ number: Int, _ cell: Cell, _ backend: BackendID, _ block: Int) -> [SampleRow] {
        var row = SampleRow(
            runID: "r", sampleID: "\(number)-throughput", timestampUTC: "", workload: "w", cellID: cell.id,
            backend: backend, block: block, position: 0, phase: "total", status: number == 17 ? .crashed : .ok,
            flags: number.isMultiple(of: 5) ? [.noisy] : [], metric: Metric.time.name, stat: "total",
            value: Double(number % 7) + 1, operations: 3, parameters: ["items": cell.parameters["items"]!.description])
        let figure = row
        (row.metric, row.stat, row.phase, row.value) = (Metric.status.name, "", "", nil)
        return [figure, row]
    }
}
