import Foundation
import FoundationXML
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// Policies that bound the drift against a kept baseline, and what the reports name of the facts around the code.
struct DriftTests {
    private static let policy = """
        {"version": 1, "rules": [
          {"backend": "engine", "metric": "time_ratio", "max_regression": 0.02},
          {"backend": "engine", "metric": "time_ratio", "max_regression": 0.05, "against": {"baseline": "v1"}}]}
        """

    private let folder: ScratchFolder
    private let golden = Golden("drift")

    init() throws {
        folder = try ScratchFolder()
        try write(Self.run("v1", step: 0), to: "baseline")
        for step in [8, 9, 10] { try write(Self.run("step\(step)", step: step)) }
        try folder.write(Self.policy, to: "drift.json")
    }

    private func write(_ run: WrittenRun, to place: String = "") throws {
        try run.write(to: "\(folder.root)/results/\(place)")
    }

    /// A run after that many steps, in each of which the engine got 0.5 % slower.
    private static func run(_ name: String, step: Int, sides: [String] = [""], blocks: Int = 20) -> WrittenRun {
        var run = WrittenRun(name: name)
        for block in 0..<blocks {
            let machine = 1 + Double(block * 7 % 10) / 20
            let noise = 1 + Double(block * 13 % 7) / 20_000
            for side in sides {
                let steps = side == "base" ? step - 1 : step
                let engine = 0.5 * pow(1.005, Double(steps)) * noise
                for (backend, seconds) in [(BackendID.engine, engine), (.dispatch, 1)] {
                    run.add(backend, block: block, .time, (1e12 * machine * seconds).rounded(), side: side)
                }
            }
        }
        return run
    }

    private func opbench(_ line: String) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.runHere(line.split(separator: " ").map(String.init), in: folder)
    }

    @Test("A step within the bound passes; the step that leaves it is red, although it is small itself")
    func steps() async throws {
        let within = try await opbench("gate --baseline step8 --candidate step9 --policy drift.json")
        #expect(within.status == 0, "\(within.output)\(within.errors)")
        let beyond = try await opbench(
            "gate --baseline step9 --candidate step10 --policy drift.json --csv drift.csv")
        #expect(beyond.status == 2, "\(beyond.output)\(beyond.errors)")
        golden.expect(beyond.output + beyond.errors, "a bound on drift")
        let rows = try CSVFile.read(CompareRow.self, file: folder.root + "/drift.csv")
            .filter { $0.verdict != .unjudged }
        #expect(rows.map(\.against) == ["", "v1"] && rows.map(\.verdict) == [.pass, .regression])
        #expect(try await opbench("compare step9 step10 --policy drift.json").status == 0)
    }

    @Test("The head of two interleaved builds is compared with the baseline")
    func sides() async throws {
        var two = Self.run("two", step: 10, sides: ["base", "head"])
        two.commits = ("00a160b1c2d3", "afe90963d4e5")
        try write(two)
        let result = try await opbench("gate --ab two --policy drift.json --csv two.csv")
        #expect(result.status == 2, "\(result.output)\(result.errors)")
        let rows = try CSVFile.read(CompareRow.self, file: folder.root + "/two.csv")
            .filter { $0.verdict != .unjudged }
        #expect(rows.map(\.against) == ["", "v1"] && rows.map(\.verdict) == [.pass, .regression])
    }

    @Test(
        "A missing baseline is named before anything is compared or measured",
        arguments: [
            "gate --baseline step9 --candidate step10 --policy drift.json --csv out.csv",
            "compare step9 step10 --policy drift.json --csv out.csv",
            "report step10 --baseline step9 --policy drift.json --open no -o out.html",
            "ab old/opbench new/opbench w.json --policy drift.json --run-id measured",
        ])
    func missing(line: String) async throws {
        try FileManager.default.removeItem(atPath: folder.root + "/results/baseline/v1")
        try folder.write(WrittenRun.workload, to: "w.json")
        let before = folder.contents()
        let result = try await opbench(line)
        #expect(result.status == 5 && result.output.isEmpty, "\(result.errors)")
        let error = try #require(result.errors.split(separator: "\n").last)
        golden.expect(String(error) + "\n", "no such baseline")
        #expect(folder.contents() == before)
    }

    @Test("Baselines of another class of host are refused before anything is measured")
    func otherHost() async throws {
        try folder.write(WrittenRun.workload, to: "w.json")
        let before = folder.contents()
        let result = try await opbench("ab old/opbench new/opbench w.json --policy drift.json")
        #expect(result.status == 64 && result.errors.contains("v1: the "), "\(result.errors)")
        #expect(folder.contents() == before)
    }

    // MARK: Around the code

    /// A newer kernel and another compiler, and less known of the rest.
    private func writeNewer() throws {
        var old = Self.run("old", step: 0)
        old.surroundings["mitigations"] = ["meltdown": "Mitigation: PTI", "mds": "Not affected"]
        old.surroundings["governor"] = "performance"
        try write(old)
        var newer = Self.run("newer", step: 0)
        newer.surroundings = [
            "kernel": "Linux 6.19", "compiler": "Swift <6.4>",
            "mitigations": ["meltdown": "Vulnerable", "mds": "Not affected"],
        ]
        try write(newer)
    }

    @Test("What differs around the code is named before the verdict, in all reports")
    func surroundings() async throws {
        try writeNewer()
        let result = try await opbench(
            "gate --baseline old --candidate newer --markdown summary.md --junit junit.xml")
        #expect(result.status == 0, "\(result.errors)")
        golden.expect(result.output + result.errors, "another compiler and kernel")
        golden.expect(try folder.read("summary.md"), "another compiler and kernel: Markdown")
        let junit = try folder.read("junit.xml")
        #expect(XMLParser(data: Data(junit.utf8)).parse())
        #expect(junit.matches(of: /<property name="differs"/).count == 3)
        let csv = try await opbench("gate --baseline old --candidate newer --format csv")
        #expect(csv.status == 0 && csv.errors.contains("around the code"))
        let same = try await opbench("gate --baseline old --candidate old --format csv")
        #expect(same.status == 0 && !same.errors.contains("around the code"))
    }

    @Test("Two builds differ in facts of a build, and a run in those of its program and host since a baseline")
    func ofBuilds() throws {
        var two = Self.run("two", step: 0, sides: ["base", "head"])
        two.commits = ("00a160b1c2d3", "afe90963d4e5")
        two.compilerOfBase = "Swift 6.2"
        two.surroundings = ["kernel": "Linux 6.19", "compiler": "of the caller"]
        try write(two)
        let run = try MeasuredRun("two", in: folder.root + "/results")
        let anchor = try MeasuredRun("v1", in: folder.root + "/results")
        let report = ComparisonReport(rows: [], outcome: nil, compared: .sides(run), anchors: [anchor])
        #expect(
            report.surroundings == ["compiler: Swift 6.2 → Swift 6.3", "since v1, kernel: Linux 6.18 → Linux 6.19"])
    }

    @Test("A page names what differs from the first run")
    func page() async throws {
        try writeNewer()
        let result = try await opbench("report old newer --open no -o page.html")
        #expect(result.status == 0, "\(result.errors)")
        let page = try folder.read("page.html")
        #expect(page.contains("differs from old around the code: compiler: Swift 6.3 → Swift &lt;6.4&gt;"))
    }
}
