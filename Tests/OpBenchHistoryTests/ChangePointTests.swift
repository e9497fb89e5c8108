import Foundation
import OpBenchAnalysis
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchHistory

/// Change points: the input of Apache Otava, the reading of its output, and the results of the real program.
struct ChangePointTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func series(_ values: [Double], cell: String = "w", metric: Metric = .time) -> TrendSeries {
        TrendSeries(
            name: Fixture.name(metric, cell: cell), host: Fixture.here,
            points: values.enumerated().map { day, value in
                TrendSeries.Point(
                    run: Fixture.run("run\(day)", day: day + 1),
                    figure: RunFigure(name: Fixture.name(metric, cell: cell), value: value, samples: 7))
            })
    }

    /// A program that records its input and prints the given answer.
    private func finder(answering answer: String, status: Int = 0) throws -> ChangePoints {
        let program = fixture.folder + "/otava"
        try answer.write(toFile: fixture.folder + "/answer", atomically: false, encoding: .utf8)
        ExecutableFile.writeScript(
            """
            here=$(dirname "$0")
            cp -r . "$here/asked" && echo "$*" > "$here/words"
            cat "$here/answer"; echo "some warning" >&2; exit \(status)
            """, to: program)
        return try #require(ChangePoints(environment: ["PATH": fixture.folder]))
    }

    private func asked(_ name: String) throws -> String {
        try String(contentsOfFile: "\(fixture.folder)/\(name)", encoding: .utf8)
    }

    @Test("series of the same runs share a file, and every change returns to its series")
    func answers() async throws {
        let change = #"{"metric": "m1", "index": 2, "mean_before": "400000.000000", "mean_after": "800000.000000"}"#
        let finder = try finder(answering: "{\"t0\": [{\"time\": 1, \"changes\": [\(change)]}]}\n{\"t1\": []}\n")
        let all = [
            series([1, 2, 3, 4]), series([2e-7, 2e-7, 4e-7, 4e-7], metric: .cpuTime), series([1, 2, 3], cell: "v"),
            series([1, 2], cell: "short"),
        ]
        let found = try await finder.found(in: all)
        #expect(
            found.map { $0.points.map(\.change) } == [
                [nil, nil, nil, nil], [nil, nil, 2, nil], [nil, nil, nil], [nil, nil],
            ])
        #expect(try asked("words").hasSuffix("t0 t1\n"))
        let lines = try asked("asked/t0.csv").split(separator: "\n")
        #expect(lines.count == 5 && lines[0] == "time,m0,m1")
        // Six decimals resolve the smallest figure.
        #expect(lines[1] == "2026-01-01T00:00:00.000Z,250000,500000")
        #expect(try asked("asked/otava.yaml").contains("file: t1.csv"))
        #expect(try fixture.names() == ["answer", "asked", "otava", "words"])
    }

    @Test("a program that fails, or prints something unknown, is an error")
    func failures() async throws {
        let series = series([1, 2, 3])
        var text = ""
        for (answer, status) in [
            ("", 0), ("{\"t0\": []}", 1), ("Traceback", 0),
            (#"{"t0": [{"changes": [{"metric": "m7", "index": 0, "mean_before": "1", "mean_after": "1"}]}]}"#, 0),
            (#"{"t0": [{"changes": [{"metric": "m0", "index": 9, "mean_before": "1", "mean_after": "1"}]}]}"#, 0),
        ] {
            let finder = try finder(answering: answer, status: status)
            let error = await #expect(throws: HistoryError.self) { _ = try await finder.found(in: [series]) }
            text += "\(answer)\n    \(error?.description ?? "no error")\n"
            for name in ["asked", "words"] { try FileManager.default.removeItem(atPath: "\(fixture.folder)/\(name)") }
        }
        Golden("change-points").expect(
            text, "failures", replacing: [fixture.folder: "FOLDER", ChangePoints.otavaVersion: "VERSION"])
    }

    @Test("the program is the one in the variable, else the one on PATH")
    func program() throws {
        let finder = try finder(answering: "")
        #expect(finder.program == fixture.folder + "/otava")
        let named = ChangePoints(environment: ["PATH": fixture.folder, "OPBENCH_OTAVA": "/bin/true"])
        #expect(named?.program == "/bin/true")
        #expect(ChangePoints(environment: ["PATH": "/nowhere", "OPBENCH_OTAVA": "/nowhere/otava"]) == nil)
        #expect(ChangePoints(environment: [:]) == nil)
    }

    @Test("without a long enough series the program is not started")
    func short() async throws {
        let finder = try #require(ChangePoints(environment: ["OPBENCH_OTAVA": "/bin/false"]))
        #expect(try await finder.found(in: [series([1, 2])]) == [series([1, 2])])
    }

    @Test(
        "the real Otava finds the run where a figure changed, in small figures and in counts, and nothing in a steady one",
        .enabled(
            if: PackageFolder.program(".venv-otava/bin/otava") != nil,
            "there is no .venv-otava; scripts/test provides one"))
    func real() async throws {
        let program = try #require(PackageFolder.program(".venv-otava/bin/otava"))
        let finder = try #require(ChangePoints(environment: ["OPBENCH_OTAVA": program]))
        func values(_ change: (Int) -> Double) -> [Double] {
            (0..<28).map { change($0) * (1 + Double(($0 * 7) % 5) / 1000) }
        }
        let all = [
            series(values { $0 < 20 ? 5e-7 : 6.5e-7 }), series(values { _ in 5e-7 }, metric: .cpuTime),
            series((0..<28).map { $0 < 9 ? 2 : 3 }, metric: .allocations),
            series(Array(repeating: 0, count: 28), metric: .inversions), series([1, 1, 1], cell: "v"),
        ]
        let found = try await finder.found(in: all)
        let changes = found.map { series in series.points.indices.filter { series.points[$0].change != nil } }
        #expect(changes == [[20], [], [9], [], []])
        let factor = try #require(found[0].points[20].change)
        #expect((1.29...1.31).contains(factor))
        #expect(abs(try #require(found[2].points[9].change) - 1.5) < 1e-9)
        #expect(found[0].isWorse(factor) == true)
    }
}
