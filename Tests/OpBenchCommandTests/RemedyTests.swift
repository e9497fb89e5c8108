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

    @Test("rows keep reason and remedy in their file; the remedy's blocks decide the figure")
    func moreBlocks() async throws {
        for (name, blocks) in [("few", 1), ("more", 1), ("few-15", 15), ("more-15", 15)] {
            var run = WrittenRun(name: name, blocks: blocks)
            for block in 0..<blocks {
                run.add(.engine, block: block, .time, 500 + Double(block * 7 % 5))
                run.add(.dispatch, block: block, .time, 1000)
            }
            try run.write(to: results)
        }
        func gate(_ words: String...) async throws -> (status: Int32, rows: [CompareRow]) {
            let result = try await OpBenchProcess.runHere(["gate", "--csv", "out.csv"] + words, in: folder)
            return (result.status, try CSVFile.read(CompareRow.self, file: folder.root + "/out.csv"))
        }
        let few = try await gate("--baseline", "few", "--candidate", "more")
        let open = few.rows.filter { $0.verdict == .inconclusive }
        #expect(few.status == 7 && !open.isEmpty)
        #expect(open.allSatisfy { $0.remedy == Doubt.tooFewBlocks(1, enough: 15).remedy })
        let judged = try await gate("--baseline", "few-15", "--candidate", "more-15")
        let row = try #require(judged.rows.first { $0.metric == "time_ratio" })
        #expect(judged.status == 0 && row.verdict == .pass && row.adjustedProbability != nil)
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
        let gate = try await OpBenchProcess.runHere(["gate", "--ab", "two", "--policy", "p.json"], in: folder)
        #expect(gate.status == 2, "\(gate.errors)")
    }
}
