import Foundation
import OpBenchModel
import Testing

/// `--cpus` and `--max-memory`, with the real program: the limits in a sample's process, and rejected ones.
struct LimitTests {
    /// Operations long enough that each processor has one at the same time.
    private static let busy = """
        {"name": "busy", "summary": "s", "shape": "independent", "parameters": {"items": 60, "work_ns": 1000000},
         "backends": ["engine", "dispatch"], "sample_kinds": ["throughput"]}
        """

    /// A workload that needs some hundred MiB of memory at once.
    private static let large = """
        {"name": "large", "summary": "s", "shape": "independent",
         "parameters": {"items": 2000000, "form": "block", "submission": "bulk", "work_ns": 0}, "backends": ["engine"],
         "sample_kinds": ["throughput"]}
        """

    private static func folder() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        try folder.write(busy, to: "busy.json")
        try folder.write(large, to: "large.json")
        return folder
    }

    private func run(
        _ options: [String], _ file: String = "busy.json", in folder: ScratchFolder
    ) async throws -> OpBenchProcess.Finished {
        let words = ["run", "--quick", "--no-progress", "--run-id", "r"] + options + [file]
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
        let script = "grep Cpus_allowed_list /proc/self/status; grep 'Max data size' /proc/self/limits; echo $0 $1"
        let result = try await OpBenchProcess.run(
            ["__limited", processor, "134217728", "/bin/sh", "-c", script, "name", "argument"], in: try Self.folder())
        let words = result.output.split(whereSeparator: \.isWhitespace)
        #expect(
            words == ["Cpus_allowed_list:", Substring(processor)]
                + ["Max", "data", "size", "134217728", "134217728", "bytes", "name", "argument"],
            "\(result.output)\(result.errors)")
        for (arguments, name) in [
            (["8191", "", "/bin/true"], "8191"), (["", "much", "/bin/true"], "much"),
            (["", "", "/nowhere/opbench"], "/nowhere/opbench"),
        ] {
            let refused = try await OpBenchProcess.run(["__limited"] + arguments, in: try Self.folder())
            #expect(refused.status == 71 && refused.errors.contains(name), "\(refused.errors)")
        }
    }

    @Test func `a sample beyond its memory fails with the reason, and a small one passes`() async throws {
        let folder = try Self.folder()
        let result = try await run(["--max-memory", "64MiB"], "large.json", in: folder)
        #expect(result.status == 3, "\(result.errors)")
        let ends = try rows(folder).filter { $0.metric == "status" }
        #expect(!ends.isEmpty && ends.allSatisfy { $0.status == .crashed || $0.status == .skipped })
        for end in ends where end.status == .crashed {
            #expect(end.notes.contains("--max-memory 64MiB"), "\(end.notes)")
        }
        // Each of a busy machine's many workers has a stack of 8 MiB, which counts.
        let small = try await run(["--max-memory", "1GiB"], in: try Self.folder())
        #expect(small.status == 0, "\(small.errors)")
    }

    @Test(
        "meaningless limits are rejected, and nothing is written",
        arguments: [
            ["--cpus", "0-"], ["--cpus", ""], ["--cpus", "8191"], ["--max-memory", "4GB"], ["--max-memory", "1MiB"],
            ["--max-memory", "-1GiB"],
        ])
    func refusals(options: [String]) async throws {
        let folder = try Self.folder()
        let result = try await OpBenchProcess.runHere(["run"] + options + ["busy.json"], in: folder)
        #expect(result.status == 64 && result.errors.contains(options[0]), "\(result.errors)")
        #expect(folder.contents() == ["busy.json", "large.json"])
    }
}
