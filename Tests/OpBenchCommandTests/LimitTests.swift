import Foundation
import OpBenchModel
import Testing

/// `--cpus` with the real program: the limits in a sample's process, and rejected ones.
struct LimitTests {
    /// Operations long enough that each processor has one at the same time.
    private static let busy = """
        {"name": "busy", "summary": "s", "shape": "independent", "parameters": {"items": 60, "work_ns": 1000000},
         "backends": ["engine", "dispatch"], "sample_kinds": ["throughput"]}
        """

    private static func folder() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        try folder.write(busy, to: "busy.json")
        return folder
    }

    private func run(
        _ options: [String], in folder: ScratchFolder
    ) async throws -> OpBenchProcess.Finished {
        let words = ["run", "--quick", "--no-progress", "--run-id", "r"] + options + ["busy.json"]
        return try await OpBenchProcess.run(words, in: folder)
    }

    private func rows(_ folder: ScratchFolder) throws -> [SampleRow] {
        try CSVFile.read(SampleRow.self, file: "\(folder.root)/results/r/samples.csv")
    }

    /// The first processor that this process may use.
    private func processor() throws -> String {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") })
        return String(try #require(line.split(whereSeparator: { !$0.isNumber }).first))
    }

    /// Dispatch may run more: about once a second, it adds a worker if fewer than it wants are running, as on a busy
    /// machine (`event/workqueue.c` of swift-corelibs-libdispatch).
    @Test func `on one processor the engine runs one operation at a time, and each sample sees one processor`()
        async throws
    {
        let (folder, processor) = (try Self.folder(), try processor())
        let result = try await run(["--cpus", processor], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let rows = try rows(folder)
        let widths = rows.filter { $0.metric == "high_water" }
        #expect(Set(widths.map(\.backend)) == [.engine, .dispatch])
        #expect(
            widths.allSatisfy { $0.backend == .dispatch || $0.value == 1 },
            "\(widths.map { "\($0.backend.rawValue) \($0.value ?? -1)" })")
        for metric in ["cpus", "numa_nodes"] {
            let counts = rows.filter { $0.metric == metric }
            #expect(counts.count == rows.count { $0.metric == "status" } && counts.allSatisfy { $0.value == 1 })
        }
        let manifest = try folder.read("results/r/run.json")
        #expect(manifest.contains("\"cpus\" : \"\(processor)\""))
        let described = try #require(
            JSONSerialization.jsonObject(with: Data(manifest.utf8)) as? [String: Any])
        let host = try #require(described["host"] as? [String: Any])
        let processors = try #require(host["processors"] as? [String: Any])
        #expect(processors["cores"] as? Int == 1 && (processors["nodes"] as? [String: String])?.count == 1)
        // A different list makes a different run.
        let resumed = try await run(["--resume"], in: folder)
        #expect(resumed.status == 64 && resumed.errors.contains("--cpus"), "\(resumed.errors)")
    }

    @Test func `a program is limited before it starts`() async throws {
        let processor = try processor()
        let script = "grep Cpus_allowed_list /proc/self/status; echo $0 $1"
        let result = try await OpBenchProcess.run(
            ["__limited", processor, "/bin/sh", "-c", script, "name", "argument"], in: try Self.folder())
        let words = result.output.split(whereSeparator: \.isWhitespace)
        #expect(
            words == ["Cpus_allowed_list:", Substring(processor), "name", "argument"],
            "\(result.output)\(result.errors)")
        for (arguments, name) in [
            (["8191", "/bin/true"], "8191"), ([processor, "/nowhere/opbench"], "/nowhere/opbench"),
        ] {
            let refused = try await OpBenchProcess.run(["__limited"] + arguments, in: try Self.folder())
            #expect(refused.status == 71 && refused.errors.contains(name), "\(refused.errors)")
        }
    }

    @Test(
        "meaningless limits are rejected, and nothing is written",
        arguments: [["--cpus", "0-"], ["--cpus", ""], ["--cpus", "8191"]])
    func refusals(options: [String]) async throws {
        let folder = try Self.folder()
        let result = try await OpBenchProcess.runHere(["run"] + options + ["busy.json"], in: folder)
        #expect(result.status == 64 && result.errors.contains(options[0]), "\(result.errors)")
        #expect(folder.contents() == ["busy.json"])
    }
}
