import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// Output for inconclusive figures: the reason, and one short remedy.
struct RemedyTests {
    private let folder: ScratchFolder
    private let golden = Golden("remedies")
    private var results: String { folder.root + "/results" }

    init() throws { folder = try ScratchFolder() }

    private static let doubts: [Doubt] = [
        .differentTimes, .tooFewBlocks(7, enough: 15), .wideInterval(blocks: 7, enough: 15),
        .wideInterval(blocks: 20, enough: nil), .likelyChance(blocks: 20, enough: 40),
        .likelyChance(blocks: 20, enough: nil), .tooManyBlocks(41, most: 40), .noRatio,
        .scatter(blocks: 4, enough: 15), .scatter(blocks: 40, enough: nil),
    ]

    @Test("each doubt has a reason and a remedy; a comparison has one line for each remedy")
    func each() {
        golden.expect(Self.doubts.map { "\($0.words): \($0.remedy)" }.joined(separator: "\n"), "each")
        golden.expect(Doubt.remedies(of: Self.doubts + Self.doubts.prefix(3)).joined(separator: "\n"), "together")
        #expect(Doubt.remedies(of: []).isEmpty)
    }

    @Test("the greatest number of blocks that any figure needs is the remedy for all that need more")
    func most() {
        let remedies = Doubt.remedies(of: [.tooFewBlocks(7, enough: 15), .wideInterval(blocks: 7, enough: 25)])
        #expect(remedies.count == 1 && remedies[0].hasSuffix("--blocks 25"))
    }

    @Test("rows keep reason and remedy in their file; the remedy's blocks decide the figure", .slow)
    func moreBlocks() async throws {
        try folder.write(
            """
            {"name": "little", "summary": "s", "shape": "independent", "parameters": {"items": 20, "work_ns": 0},
             "backends": ["engine", "dispatch"], "sample_kinds": ["throughput"]}
            """, to: "w.json")
        func run(_ words: String...) async throws -> OpBenchProcess.Finished {
            try await OpBenchProcess.run(words + ["--results", "results"], in: folder)
        }
        for (name, blocks) in [("few", "1"), ("more", "1"), ("few-15", "15"), ("more-15", "15")] {
            let result = try await OpBenchProcess.run(
                ["run", "--blocks", blocks, "--run-id", name, "--no-progress", "w.json"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let few = try await run("gate", "--baseline", "few", "--candidate", "more", "--csv", "few.csv")
        #expect(few.status == 7, "\(few.errors)")
        let open = try CSVFile.read(CompareRow.self, file: folder.root + "/few.csv").filter {
            $0.verdict == .inconclusive
        }
        #expect(!open.isEmpty && open.allSatisfy { $0.remedy == Doubt.tooFewBlocks(1, enough: 15).remedy })
        _ = try await run("gate", "--baseline", "few-15", "--candidate", "more-15", "--csv", "more.csv")
        let judged = try CSVFile.read(CompareRow.self, file: folder.root + "/more.csv").first {
            $0.metric == "time_ratio"
        }
        let row = try #require(judged)
        #expect(row.ratioLow != nil && row.adjustedProbability != nil)
    }

    @Test("a count that rises from 0 fails the gate of two builds")
    func risenFromNothing() async throws {
        var run = WrittenRun(name: "two")
        for block in 0..<15 {
            for (side, value) in [("base", 0.0), ("head", 3000.0)] {
                run.add(.engine, block: block, .rounds, 1, side: side, phase: "", stat: "total")
                run.add(.engine, block: block, .inversions, value, side: side, phase: "", stat: "total")
            }
        }
        try run.write(to: results)
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "inversions", "max_regression": 0.1}]}"#, to: "p.json")
        let gate = try await OpBenchProcess.run(["gate", "--ab", "two", "--policy", "p.json"], in: folder)
        #expect(gate.status == 2, "\(gate.errors)")
    }
}
