import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

/// Samples of instructions, with the real program and the real callgrind.
@Suite(.serialized)
struct InstructionsTests {
    private static func workload(_ kinds: String) -> String {
        """
        {"name": "w", "summary": "s", "shape": "independent",
         "parameters": {"items": 200, "work_ns": 0, "max_concurrent": 1}, "backends": ["engine"],
         "sample_kinds": [\(kinds)]}
        """
    }

    private static let means = ProfileMeans.ofInstructions()

    @Test(
        "both sides have rows, and an allocation more shows", .slow,
        .enabled(if: means.means == .callgrind, "instructions cannot be counted here"))
    func endToEnd() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.workload(#""throughput""#), to: "w.json")
        let binary = OpBenchProcess.binary
        // So many that no scatter hides them; with so few blocks that the run does not wait for agreement.
        let result = try await OpBenchProcess.run(
            [
                "ab", binary, binary, "w.json", "--metric", "instructions", "--blocks", "2", "--run-id", "two",
                "--inject-allocations", "100", "--timeout", "600", "--no-progress",
            ], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let rows = try CSVFile.read(SampleRow.self, file: folder.root + "/results/two/samples.csv")
        func counts(_ side: Side) -> [Double] {
            rows.filter { $0.metric == "instructions" && $0.side == side.rawValue }.compactMap { row in
                row.value.map { $0 / Double(row.operations) }
            }
        }
        #expect(counts(.base).count == 2 && counts(.head).count == 2)
        #expect(!rows.contains { $0.phase == "warmup" && $0.sampleID.hasSuffix("-instructions") })
        // A malloc and a free take more than ten instructions.
        #expect(counts(.base).allSatisfy { $0 > 10 })
        #expect(counts(.head).min() ?? 0 > (counts(.base).max() ?? .infinity) + 1000)
    }

    @Test("without valgrind, an option is refused and nothing is written; a workload's samples are left out")
    func withoutValgrind() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.workload(#""throughput", "instructions""#), to: "w.json")
        func run(_ words: [String]) async throws -> OpBenchProcess.Finished {
            try await OpBenchProcess.run(
                ["run", "w.json", "--quick", "--run-id", "x", "--no-progress"] + words, in: folder,
                environment: ["PATH": folder.root])
        }
        let refused = try await run(["--metric", "instructions"])
        #expect(refused.status == 64 && refused.output.isEmpty)
        #expect(["--metric", "valgrind"].allSatisfy { refused.errors.contains($0) }, "\(refused.errors)")
        #expect(folder.contents() == ["w.json"])
        let result = try await run([])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("instructions: valgrind"), "\(result.errors)")
        let rows = try CSVFile.read(SampleRow.self, file: folder.root + "/results/x/samples.csv")
        #expect(rows.filter { $0.sampleID.hasSuffix("-instructions") }.map(\.status) == [.skipped])
        #expect(rows.contains { $0.metric == "time" && $0.phase == "total" })
    }
}
