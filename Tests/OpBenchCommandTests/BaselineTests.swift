import Foundation
import OpBenchModel
import TestSupport
import Testing

/// `opbench baseline`, and runs with a baseline's work.
@Suite(.serialized)
struct BaselineTests {
    private static let loop = """
        {"name": "loop", "summary": "s", "shape": "independent", "parameters": {"items": 1000, "work_ns": 100},
         "backends": ["serial"], "sample_kinds": ["throughput"]}
        """

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try folder.write(Self.loop, to: "loop.json")
    }

    private func opbench(_ line: String) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.runHere(line.split(separator: " ").map(String.init), in: folder)
    }

    private func measure(_ line: String) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(["run", "--quick"] + line.split(separator: " ").map(String.init), in: folder)
    }

    @Test("a finished run is saved, listed, shown, compared with, and its work repeated")
    func life() async throws {
        #expect(try await measure("--run-id first loop.json").status == 0)
        let saved = try await opbench("baseline first --name main")
        #expect(saved.status == 0 && saved.errors.contains("results/baseline/main"), "\(saved.errors)")
        let copied = folder.contents().filter { $0.hasPrefix("results/baseline/main/") }
        #expect(copied.map { $0.split(separator: "/").last! } == ["run.json", "samples.csv", "summary.csv"])
        #expect(try folder.read("results/baseline/main/samples.csv") == folder.read("results/first/samples.csv"))

        let listed = try await opbench("runs")
        #expect(listed.output.split(separator: "\n").count { $0.hasPrefix("baseline/main") } == 1, "\(listed.output)")
        let shown = try await opbench("show main --format csv")
        #expect(shown.output == (try folder.read("results/first/summary.csv")))

        #expect(try await opbench("baseline first --name main").status == 64)
        #expect(try await opbench("baseline first --name main --replace").status == 0)

        #expect(try await measure("--run-id second --calibration main loop.json").status == 0)
        #expect(try folder.calibration(of: "second") == folder.calibration(of: "first"))
        let compared = try await opbench("compare main second")
        #expect(compared.status == 0, "\(compared.errors)")
    }

    @Test("a different host, allocator or build is rejected, and different work is pointed out")
    func hosts() async throws {
        #expect(try await measure("--run-id first loop.json").status == 0)
        #expect(try await opbench("baseline first --name main").status == 0)
        let file = "results/baseline/main/run.json"
        let text = try folder.read(file)
        for key in ["host_class", "allocator", "configuration"] {
            // The last is the host's; the program's description has some of these as well.
            let line = try #require(text.split(separator: "\n").last { $0.contains("\"\(key)\"") })
            try folder.write(text.replacingOccurrences(of: line, with: "  \"\(key)\" : \"other\","), to: file)
            for command in ["compare main first", "gate --baseline main --candidate first"] {
                let result = try await opbench(command)
                #expect(result.status == 64 && ["first:", "main", "\"other\""].allSatisfy(result.errors.contains))
            }
            let result = try await opbench("run --quick --run-id no --calibration main loop.json")
            #expect(result.status == 64 && ["main:", "\"other\""].allSatisfy(result.errors.contains))
        }
        let work = try #require(text.split(separator: "\n").first { $0.contains("iterations_per_ns") })
        try folder.write(text.replacingOccurrences(of: work, with: "    \"iterations_per_ns\" : 77,"), to: file)
        let result = try await opbench("compare main first")
        #expect(result.status == 0 && result.errors.contains("--calibration main"), "\(result.errors)")
    }

    @Test(
        "invalid baselines are rejected, and nothing is written",
        arguments: [
            ("baseline nowhere", "nowhere:"), ("baseline ended", "ended: --resume"),
            ("baseline results/first/samples.csv --name a/b", "--name: \"a/b\""),
            ("baseline bare", "bare: run.json"),
            ("run --quick --run-id no --calibration nowhere loop.json", "nowhere:"),
        ])
    func refusals(line: String, names: String) async throws {
        for (name, state) in [("first", "finished"), ("ended", "cancelled"), ("bare", "finished")] {
            var run = WrittenRun(name: name, state: state)
            run.add(.serial, block: 0, .time, 1)
            try run.write(to: folder.root + "/results")
        }
        try FileManager.default.removeItem(atPath: folder.root + "/results/bare/run.json")
        try await OpBenchProcess.expectRefusal(
            of: line.split(separator: " ").map(String.init), naming: names, in: folder, Golden("baselines"))
    }
}
