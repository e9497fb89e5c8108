import Foundation
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench runs`
struct RunListTests {
    private let folder: ScratchFolder
    private let golden = Golden("runs")
    private var results: String { folder.root + "/results" }

    init() throws {
        folder = try ScratchFolder()
        try WrittenRun(name: "old", started: "2026-11-18T10:00:00Z", badSamples: 3, blocks: 15).write(to: results)
        try WrittenRun(
            name: "cut", started: "2026-11-19T10:00:00Z", ended: nil, state: "running", blocks: 1, samplesDone: 2
        ).write(to: results)
        try WrittenRun(name: "main", started: "2026-11-17T10:00:00Z").write(to: results + "/baseline")
    }

    @Test("runs and baselines, newest first, from their descriptions; no rows are read")
    func rows() throws {
        let list = try RunList(in: results)
        #expect(list.rows.map(\.name) == ["cut", "old", "main"])
        #expect(list.rows.map(\.isBaseline) == [false, false, true])
        #expect(list.rows.map(\.state) == [.interrupted, .finished, .finished])
        #expect(list.rows.map(\.badSamples) == [0, 3, 0] && list.rows.map(\.blocks) == [1, 15, 7])
        #expect(list.rows.map(\.samples) == [2, 3, 3] && list.rows[0].plannedSamples == 3)
        #expect(list.rows.allSatisfy { $0.workloads == "w" && $0.backends == "engine dispatch" && $0.cells == 1 })
        #expect(list.unreadable == [])
        golden.expect(
            RunListTable.text(of: list.rows, folder: results, width: nil), "any width",
            replacing: [results: "RESULTS"])
    }

    @Test("unreadable runs are named without stopping the list; other folders are skipped")
    func unreadable() throws {
        try folder.write("{\"run_id\": 1}", to: "results/broken/run.json")
        try folder.write("x", to: "results/bare/samples.csv")
        try folder.write("x", to: "results/reference/other.csv")
        try folder.write("x", to: "results/README.md")
        try FileManager.default.createDirectory(
            atPath: "\(results)/folder/run.json", withIntermediateDirectories: true)
        let list = try RunList(in: results)
        #expect(list.rows.map(\.name) == ["cut", "old", "main"])
        #expect(
            list.unreadable.map { $0.file.dropFirst(results.count + 1) } == [
                "bare/run.json", "broken/run.json", "folder/run.json",
            ])
        #expect(throws: InputError.self) { try RunList(in: folder.root + "/nowhere") }
    }

    @Test("a run whose folder is locked is running; several hosts have a column")
    func running() throws {
        try WrittenRun(name: "now", ended: nil, state: "running", hostClass: "other CPU x64").write(to: results)
        let lock = try WrittenFolder(results + "/now")
        #expect(try lock.lock())
        let rows = try RunList(in: results).rows
        #expect(rows.first { $0.name == "now" }?.state == .running)
        #expect(RunListTable.text(of: rows, folder: results).contains("other CPU x64, jemalloc 5.3, release"))
    }

    @Test("in narrow lines, a run's name is above its facts", arguments: [60, 80, 100])
    func narrow(width: Int) throws {
        let name = "a-run-of-which-the-name-has-more-than-forty-characters"
        try WrittenRun(name: name, ended: nil, state: "running", samplesDone: 2).write(to: results + "/baseline")
        let rows = try RunList(in: results).rows
        let text = RunListTable.text(of: rows, folder: results, width: width)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
        golden.expect(text, "\(width) columns", replacing: [results: "RESULTS"])
    }
}
