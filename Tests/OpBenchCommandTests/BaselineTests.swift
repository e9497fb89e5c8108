import Foundation
import OpBenchModel
import Testing

/// `opbench baseline`, and runs that do a baseline's work.
@Suite(.serialized)
struct BaselineTests {
    private static let loop = """
        {"name": "loop", "summary": "s", "shape": "independent", "parameters": {"items": 1000, "work_ns": 100},
         "backends": ["serial"], "metrics": ["throughput"]}
        """

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try folder.write(Self.loop, to: "loop.json")
    }

    private func run(_ line: String) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(line.split(separator: " ").map(String.init), in: folder)
    }

    @Test("a finished run is saved, listed, shown, compared with, and its work done again")
    func life() async throws {
        #expect(try await run("run --quick --run-id first loop.json").status == 0)
        let saved = try await run("baseline save first --name main")
        #expect(saved.status == 0, "\(saved.errors)")
        #expect(saved.errors == "opbench: the baseline is in results/baseline/main\n")
        let copied = folder.contents().filter { $0.hasPrefix("results/baseline/main/") }
        #expect(copied.map { $0.split(separator: "/").last! } == ["run.json", "samples.csv", "summary.csv"])
        #expect(try folder.read("results/baseline/main/samples.csv") == folder.read("results/first/samples.csv"))

        let listed = try await run("baseline list")
        let lines = listed.output.split(separator: "\n")
        #expect(lines[0].hasPrefix("name  measured") && lines[2].hasPrefix("main  2") && listed.output.contains("UTC"))
        #expect(lines.allSatisfy { $0.count <= 80 } && lines.last?.hasPrefix(" ") ?? true, "\(listed.output)")
        let shown = try await run("baseline show main --format csv")
        #expect(shown.output == (try folder.read("results/first/summary.csv")))
        #expect(try await run("baseline show main").output.hasPrefix("run        first, finished, --quick\n"))

        #expect(try await run("baseline save first --name main").status == 64)
        #expect(try await run("baseline save first --name main --replace").status == 0)

        #expect(try await run("run --quick --run-id second --calibration main loop.json").status == 0)
        func calibration(_ name: String) throws -> String? {
            try folder.read("results/\(name)/run.json").split(separator: "\n")
                .first { $0.contains("iterations_per_ns") }.map(String.init)
        }
        #expect(try calibration("second") == calibration("first") && calibration("first") != nil)
        let compared = try await run("compare main second")
        #expect(compared.status == 0)
        #expect(!compared.errors.contains("the work of"))
    }

    @Test("what differs in host, allocator or build is refused, and other work is pointed out")
    func hosts() async throws {
        #expect(try await run("run --quick --run-id first loop.json").status == 0)
        #expect(try await run("baseline save first --name main").status == 0)
        let file = "results/baseline/main/run.json"
        let text = try folder.read(file)
        for key in ["host_class", "allocator", "configuration"] {
            let line = try #require(text.split(separator: "\n").first { $0.contains("\"\(key)\"") })
            try folder.write(text.replacingOccurrences(of: line, with: "  \"\(key)\" : \"other\","), to: file)
            for command in ["compare main first", "gate --baseline main --candidate first"] {
                let result = try await run(command)
                #expect(result.status == 64)
                #expect(result.errors.contains("that of main is \"other\""), "\(result.errors)")
            }
            let result = try await run("run --quick --run-id no --calibration main loop.json")
            #expect(result.status == 64)
            #expect(result.errors.contains("is \"other\", here it is"), "\(result.errors)")
        }
        let work = try #require(text.split(separator: "\n").first { $0.contains("iterations_per_ns") })
        try folder.write(text.replacingOccurrences(of: work, with: "    \"iterations_per_ns\" : 77"), to: file)
        let result = try await run("compare main first")
        #expect(result.status == 0 && result.errors.contains("the work of main"), "\(result.errors)")
    }

    @Test(
        "what is no baseline is refused, and nothing is written",
        arguments: [
            ("baseline save nowhere", "nowhere: there is no such run"),
            ("baseline save ended", "ended: the run was not finished"),
            ("baseline save results/first/samples.csv --name a/b", "--name: \"a/b\" cannot name a run"),
            ("baseline save bare", "no run.json beside the rows"),
            ("baseline show nowhere", "nowhere: there is no such run"),
            ("run --quick --run-id no --calibration nowhere loop.json", "nowhere: there is no such run"),
        ])
    func refusals(line: String, message: String) async throws {
        #expect(try await run("run --quick --run-id first loop.json").status == 0)
        for name in ["ended", "bare"] {
            try FileManager.default.copyItem(
                atPath: folder.root + "/results/first", toPath: folder.root + "/results/\(name)")
        }
        try FileManager.default.removeItem(atPath: folder.root + "/results/bare/run.json")
        let text = try folder.read("results/ended/run.json")
        try folder.write(
            text.replacingOccurrences(of: "\"finished\"", with: "\"cancelled\""), to: "results/ended/run.json")
        let before = folder.contents()
        let result = try await run(line)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(folder.contents() == before)
    }

    @Test("without any baseline, the list says so")
    func none() async throws {
        let result = try await run("baseline list")
        #expect(result.status == 0 && result.output == "no baselines in results/baseline\n")
    }
}
