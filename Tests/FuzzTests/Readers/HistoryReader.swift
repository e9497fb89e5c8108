import Foundation
import OpBenchAnalysis
import OpBenchHistory
import Synchronization

@testable import OpBenchModel

extension FuzzReader {
    /// The file of `opbench history`: the reading of rows as runs, and an addition to them.
    static let history = FuzzReader(
        name: "history", lengthLimit: 8192,
        words: {
            HistoryRow.columns + [
                ",", "\"", "\n", "engine", "time", "total", "w items=10", "2026-01-02T00:00:00Z", "one", "two", "head",
                "{\"\"kernel\"\": \"\"x\"\"}", "true", "false", "1e308",
            ]
        },
        seeds: { [Array(CSVFile.text(of: rows).utf8), Array(CSVFile.text(of: rows + rows).utf8)] },
        read: { bytes in
            try path.withLock { path in
                try Data(bytes).write(to: URL(filePath: path))
                do {
                    let history = try History(path)
                    let series = history.series()
                    try promise(series.allSatisfy { !$0.points.isEmpty }, "a series without a point")
                    try History.add([added], to: path, isReplacing: true)
                    let same = try again("the history") { try History(path) }
                    try promise(
                        same.entries.filter { $0.run.id != added.run.id }
                            == history.entries.filter { $0.run.id != added.run.id }
                            && same.entries.contains(added), "an addition changed other runs, or is not there")
                } catch let error as InputError {
                    let left = [UInt8](try Data(contentsOf: URL(filePath: path)))
                    try promise(left == bytes, "a file that is refused was changed")
                    throw error
                }
            }
        },
        // What is wrong with an empty file, or with the rows of a run, has no line.
        refusesWholeFiles: true)

    /// One file for the whole process: libFuzzer tries one input at a time, and the tests of this reader do.
    private static let path = Mutex(Scratch.folder + "/history.csv")

    private static let rows = ["one", "two"].flatMap { id in
        ["time", "allocations"].map { metric in
            var row = HistoryRow()
            (row.runID, row.startedUTC, row.commit) = (id, "2026-01-02T03:04:05.678Z", "c0ffee")
            row.host = HostKind(hostClass: "a machine", allocator: "jemalloc", configuration: "release")
            row.name = FigureName(cellID: "w items=10", backend: .engine, metric: metric, phase: "total", stat: "total")
            (row.value, row.low, row.samples) = (10, 9, 7)
            if metric == "time" { row.surroundings = Surroundings([.kernel: "Linux 6"]) }
            return row
        }
    }

    private static let added = History.Entry(
        run: HistoryRun(
            id: "three", startedUTC: "2026-01-02T03:04:05.678Z", commit: "", isDirty: true,
            host: HostKind(hostClass: "a machine", allocator: "jemalloc", configuration: "release")),
        figures: [
            RunFigure(
                name: FigureName(cellID: "w", backend: .engine, metric: "time", phase: "total", stat: "total"),
                value: 3, samples: 7)
        ])
}
