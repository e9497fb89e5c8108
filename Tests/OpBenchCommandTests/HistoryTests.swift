import Foundation
import OpBenchAnalysis
import OpBenchHistory
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench history`: adding runs to a file and reading them.
struct HistoryCommandTests {
    private static let workload = """
        {"name": "loop", "summary": "s", "shape": "independent", "parameters": {"items": [50, 60], "work_ns": 0},
         "backends": ["dispatch", "serial"], "sample_kinds": ["throughput"]}
        """

    /// The files of one real run, from which all runs here are made.
    private static let real = Task {
        let folder = try ScratchFolder()
        try folder.write(workload, to: "loop.json")
        let result = try await OpBenchProcess.run(
            ["run", "--quick", "--blocks", "1", "--no-progress", "--run-id", "real", "loop.json"], in: folder)
        try #require(result.status == 0, "\(result.errors)")
        return (
            rows: try CSVFile.read(SampleRow.self, file: folder.root + "/results/real/samples.csv"),
            manifest: try folder.read("results/real/run.json")
        )
    }

    private let folder: ScratchFolder
    private let golden = Golden("history")

    init() throws { folder = try ScratchFolder() }

    private func opbench(_ line: String) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.runHere(line.split(separator: " ").map(String.init), in: folder)
    }

    /// Runs the program as another process, with that Otava.
    private func opbench(
        _ line: String, otava: String, program: String = OpBenchProcess.binary, before words: [String] = []
    ) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(
            words + line.split(separator: " ").map(String.init), in: folder, program: program,
            environment: ["OPBENCH_OTAVA": otava, "PATH": "/usr/bin:/bin", "COLUMNS": "200"])
    }

    /// The lines of `history list`, one for each run.
    private func listed() async throws -> [Substring] {
        let result = try await opbench("history list")
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").dropFirst(2).filter { !$0.hasPrefix(" ") }
    }

    /// Writes a run of that day, with all figures multiples of the real one's.
    private func makeRun(
        _ name: String, day: Int, factor: Double = 1, change: (String) -> String = { $0 }
    ) async throws {
        let (rows, manifest) = try await Self.real.value
        let date = "2026-01-\(day < 10 ? "0" : "")\(day)"
        let changed = rows.map { row in
            var row = row
            (row.runID, row.value) = (name, row.value.map { $0 * factor })
            row.timestampUTC = date + row.timestampUTC.dropFirst(10)
            return row
        }
        try folder.write(CSVFile.text(of: changed), to: "results/\(name)/samples.csv")
        try folder.write(
            change(manifest.replacingOccurrences(of: "\"real\"", with: "\"\(name)\"")), to: "results/\(name)/run.json")
    }

    @Test("runs are added once, listed by time, and shown with one line per figure")
    func life() async throws {
        try await makeRun("second", day: 2, factor: 2)
        try await makeRun("first", day: 1)
        let added = try await opbench("history add second results/first second")
        #expect(added.status == 0 && added.output.isEmpty, "\(added.errors)")
        #expect(added.errors.split(separator: "\n").count == 2 && added.errors.contains(" first"))
        let again = try await opbench("history add first")
        #expect(again.status == 0)
        golden.expect(again.errors, "a run that is there already")

        #expect(try await listed().map { $0.prefix(18) } == ["first   2026-01-01", "second  2026-01-02"])

        let trend = try await opbench("history trend", otava: "/nowhere")
        #expect(trend.status == 0)
        golden.expect(trend.errors, "no Otava", replacing: [ChangePoints.otavaVersion: "VERSION"])
        // A title, two lines of header, and for each of two cells two times and the ratio of the serial loop.
        #expect(trend.output.count { $0 == "\n" } == 9, "\(trend.output)")
        #expect(trend.output.contains("time_ratio total"))
        let one = try await opbench(
            "history trend --cell items=60 --backend serial --metric time_ratio --no-change-points")
        #expect(one.errors.isEmpty)
        let ends = one.output.split(separator: "\n").suffix(2).map { String($0.prefix(18)) }
        #expect(ends == ["first   2026-01-01", "second  2026-01-02"], "\(one.output)")
    }

    @Test("the file has all figures of all runs")
    func rows() async throws {
        for day in 1...3 { try await makeRun("day\(day)", day: day, factor: Double(day)) }
        #expect(try await opbench("history add day1 day2 day3").status == 0)
        let rows = try CSVFile.read(HistoryRow.self, file: folder.root + "/results/history.csv")
        #expect(Set(rows.map(\.runID)) == ["day1", "day2", "day3"] && Set(rows.map(\.name)).count > 6)
        let times = rows.filter {
            $0.name.metric == "time" && $0.name.phase == "total" && $0.name.backend == .serial
                && $0.name.cellID.contains("60")
        }
        #expect(times.map(\.runID) == ["day1", "day2", "day3"])
        let (first, third) = (try #require(times[0].value), try #require(times[2].value))
        #expect(abs(third / first - 3) < 1e-9)
    }

    @Test("the page has the figures of all runs, separate for each kind of host, with their change points")
    func page() async throws {
        for day in 1...3 { try await makeRun("day\(day)", day: day, factor: day == 3 ? 2 : 1) }
        try await makeRun("elsewhere", day: 4) {
            $0.replacingOccurrences(of: "\"configuration\" : \"debug\"", with: "\"configuration\" : \"other\"")
        }
        #expect(try await opbench("history add day1 day2 day3 elsewhere").status == 0)
        ExecutableFile.writeScript(
            """
            change='{"metric": "m0", "index": 2, "mean_before": "1", "mean_after": "2.5"}'
            echo "{\\"t0\\": [{\\"changes\\": [$change]}]}"
            """, to: folder.root + "/otava")
        let result = try await opbench(
            "history report -o trend.html --metric time_ratio --cell items=50", otava: folder.root + "/otava")
        #expect(result.status == 0 && result.output.isEmpty, "\(result.errors)")
        let page = try folder.read("trend.html")
        #expect(page.hasPrefix("<!DOCTYPE html>") || page.hasPrefix("<!doctype html>"))
        for text in ["day1", "day2", "day3", "elsewhere", "2.5", ", other"] {
            #expect(page.contains(text), "\(text)")
        }
        let before = folder.contents()
        #expect(try await opbench("history report -o nowhere/trend.html").status == 64)
        #expect(folder.contents() == before)
    }

    @Test("a changed run is rejected with the way to replace it, and no run of the same call is added")
    func changed() async throws {
        try await makeRun("one", day: 1)
        #expect(try await opbench("history add one").status == 0)
        let before = try folder.read("results/history.csv")
        try await makeRun("one", day: 1, factor: 2)
        try await makeRun("two", day: 2)
        let refused = try await opbench("history add two one")
        #expect(refused.status == 64)
        golden.expect(refused.errors, "a run that has changed")
        #expect(try folder.read("results/history.csv") == before)
        let replaced = try await opbench("history add two one --replace")
        #expect(replaced.status == 0)
        #expect(try folder.read("results/history.csv") != before)
    }

    @Test("everything except finished runs is rejected, all at once, and no history is created")
    func badRuns() async throws {
        try await makeRun("good", day: 1)
        try await makeRun("ended", day: 2) { $0.replacingOccurrences(of: "\"finished\"", with: "\"cancelled\"") }
        try await makeRun("bare", day: 3)
        try FileManager.default.removeItem(atPath: folder.root + "/results/bare/run.json")
        let result = try await opbench("history add good nowhere ended bare")
        #expect(result.status == 64)
        let errors = result.errors.split(separator: "\n")
        #expect(errors.count == 3, "\(result.errors)")
        for (error, name) in zip(errors, ["nowhere", "ended", "bare"]) { #expect(error.contains(name)) }
        golden.expect(result.errors, "no finished runs", replacing: [folder.root: "FOLDER"])
        #expect(!folder.contents().contains { $0.contains("history.csv") })
    }

    @Test("questions without an answer are rejected, and change nothing")
    func refusals() async throws {
        try await makeRun("one", day: 1)
        #expect(try await opbench("history add one").status == 0)
        let rows = try CSVFile.read(HistoryRow.self, file: folder.root + "/results/history.csv")
        let metrics = Set(rows.map(\.name.metric)).sorted()
        let listing = "opbench describe"
        let before = folder.contents()
        let regex = try await opbench("history trend --cell [")
        #expect(regex.status == 64 && regex.output.isEmpty && regex.errors.contains("--cell"))
        var text = ""
        for line in [
            "trend --metric tmie", "trend --backend engine", "trend --cell nothing", "list --file nowhere.csv",
        ] {
            let result = try await opbench("history \(line)")
            #expect(result.status == 64 && result.output.isEmpty, "\(line)")
            text += "\(line)\n    \(result.errors)"
        }
        golden.expect(
            text, "questions without an answer",
            replacing: [
                folder.root: "FOLDER", Suggestion.list(metrics, from: listing): "METRICS",
                Suggestion.remedy(for: "tmie", among: metrics, from: listing): "NEAREST METRICS",
            ])
        #expect(folder.contents() == before)
    }

    @Test("processes that add at the same time wait for each other, and nothing is lost")
    func atOnce() async throws {
        let (processes, runs) = (4, 3)
        for number in 0..<(processes * runs) { try await makeRun("run\(number)", day: number + 1) }
        try await withThrowingTaskGroup(of: OpBenchProcess.Finished.self) { group in
            for process in 0..<processes {
                // All of them add the first one, too.
                let names = (0..<runs).map { "run\(process * runs + $0)" } + ["run0"]
                group.addTask {
                    try await opbench("history add \(names.joined(separator: " "))", otava: "/nowhere")
                }
            }
            for try await result in group { #expect(result.status == 0, "\(result.errors)") }
        }
        #expect(try await listed().count == processes * runs)
        let rows = try CSVFile.read(HistoryRow.self, file: folder.root + "/results/history.csv")
        let counts = Dictionary(grouping: rows, by: \.runID)
        #expect(Set(counts.values.map(\.count)).count == 1 && counts.count == processes * runs)
    }

    /// Root may write files without write permission: then another user tries it.
    @Test(
        "a history without write permission can be read, but not added to",
        .enabled(if: geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0, "root needs setpriv for it"))
    func unwritable() async throws {
        try await makeRun("one", day: 1)
        try await makeRun("two", day: 2)
        #expect(try await opbench("history add one").status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.root + "/results")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o444], ofItemAtPath: folder.root + "/results/history.csv")
        func asAnother(_ line: String) async throws -> OpBenchProcess.Finished {
            guard geteuid() == 0 else { return try await opbench(line) }
            return try await opbench(
                line, otava: "/nowhere", program: "/usr/bin/setpriv",
                before: ["--reuid=65534", "--regid=65534", "--clear-groups", OpBenchProcess.binary])
        }
        let refused = try await asAnother("history add two")
        #expect(refused.status == 64 && refused.errors.contains("history.csv"), "\(refused.errors)")
        let listed = try await asAnother("history list")
        #expect(listed.status == 0 && listed.output.split(separator: "\n").count == 3, "\(listed.errors)")
    }
}

/// The visible output of a history.
struct TrendTableTests {
    private func series(
        _ values: [Double], change: (index: Int, factor: Double)? = nil, cell: String = "w",
        compilers: [String] = []
    ) -> TrendSeries {
        let host = HostKind(hostClass: "machine", allocator: "jemalloc", configuration: "release")
        let name = FigureName(cellID: cell, backend: .engine, metric: "time_ratio", phase: "total", stat: "total")
        return TrendSeries(
            name: name, host: host,
            points: values.enumerated().map { day, value in
                TrendSeries.Point(
                    run: HistoryRun(
                        id: "run\(day)", startedUTC: "2026-01-0\(day + 1)T00:00:00Z", commit: "0123456789abcdef",
                        isDirty: day == 1, host: host,
                        surroundings: compilers.isEmpty ? [:] : ["": Surroundings([.compiler: compilers[day]])]),
                    figure: RunFigure(name: name, value: value, low: value * 0.9, high: value * 1.2, samples: 7),
                    change: change?.index == day ? change?.factor : nil)
            })
    }

    @Test("one line per figure, with the cell once and the changes; one line per run if there is one figure")
    func tables() {
        let golden = Golden("trend-table")
        let all = [series([0.5, 0.5, 0.65], change: (2, 1.3)), series([1, 1, 1])]
        golden.expect(TrendTable.text(of: all, width: nil), "two figures")
        golden.expect(TrendTable.text(of: [series([0.5, 0.65], change: (1, 1.3))], width: nil), "one figure")
    }

    @Test("a change that falls on a new compiler is marked so, in both tables, and the compiler is named below")
    func surroundings() {
        let golden = Golden("trend-table")
        let compilers = ["Swift A", "Swift A", "Swift B"]
        let all = [
            series([0.5, 0.5, 0.65], change: (2, 1.3), compilers: compilers), series([1, 1, 1], compilers: compilers),
        ]
        golden.expect(TrendTable.text(of: all, width: nil), "a new compiler")
        golden.expect(TrendTable.text(of: [all[0]], width: nil), "a new compiler, one figure")
    }

    @Test(
        "bars show differences between values, but not noise",
        arguments: [
            ([1, 1, 1], "▅▅▅"), ([1, 1.01, 0.99], "▅▅▄"), ([1, 2, 3], "▁▅█"), ([0, 0], "▁▁"), ([5], "▅"), ([], ""),
            (Array(0..<20).map(Double.init), "▁▁▂▂▃▃▄▄▅▅▆▆▇▇██"), ([-1e308, 1e308], "▁▁"),
        ] as [([Double], String)])
    func sparklines(values: [Double], bars: String) {
        #expect(Sparkline.text(of: values) == bars)
    }
}
