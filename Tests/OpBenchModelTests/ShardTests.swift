import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("Shards") struct ShardTests {
    @Test("A shard is I/N within its bounds, and nothing else")
    func shards() throws {
        #expect(Shard("2/8") == Shard(index: 2, count: 8) && Shard("10000/10000") != nil)
        for text in [
            "", "/", "1", "0/1", "2/1", "01/2", "1/02", "+1/2", "1/-2", "1/2/3", "1/10001", "٣/4", " 1/2", "1/2 ",
            "a/b",
        ] {
            #expect(Shard(text) == nil, "\(text)")
            #expect(throws: InputError.self, "\(text)") { try ShardArgument(text) }
        }
        let digest = String(repeating: "0123456789abcdef", count: 4)
        #expect(Shard("2/16")!.partName(sweep: digest) == "0123456789ab-02of16")
        let names = (1...100).map { Shard(index: $0, count: 100).partName(sweep: digest) }
        #expect(names == names.sorted(), "names sort as the shards do")
    }

    @Test(
        "auto takes the shard from the job's environment",
        arguments: [
            ("auto", ["SLURM_ARRAY_TASK_ID": "1", "COUNT": "4", "MIN": "1", "MAX": "4"], "1/4"),
            ("auto", ["SLURM_ARRAY_TASK_ID": "0", "COUNT": "4", "MIN": "0", "MAX": "3"], "1/4"),
            ("auto", ["SLURM_ARRAY_TASK_ID": "3", "COUNT": "4", "MIN": "0", "MAX": "3", "STEP": "1"], "4/4"),
            ("auto", ["SLURM_ARRAY_TASK_ID": "14", "COUNT": "8", "MIN": "0", "MAX": "14", "STEP": "2"], "8/8"),
            ("auto/3", ["SLURM_ARRAY_TASK_ID": "12", "COUNT": "3", "MIN": "10", "MAX": "12"], "3/3"),
            ("auto/1", ["SLURM_ARRAY_TASK_ID": "1", "COUNT": "1", "MIN": "1", "MAX": "1"], "1/1"),
            ("auto/4", ["SLURM_ARRAY_TASK_ID": "2", "COUNT": "4", "MIN": "1", "MAX": "4"], "2/4"),
            ("auto/8", ["JOB_COMPLETION_INDEX": "0"], "1/8"), ("auto/8", ["JOB_COMPLETION_INDEX": "7"], "8/8"),
            ("3/5", ["JOB_COMPLETION_INDEX": "7", "SLURM_ARRAY_TASK_ID": "9"], "3/5"),
        ])
    func automatic(text: String, environment: [String: String], expected: String) throws {
        #expect(try ShardArgument(text).shard(Self.full(environment)).description == expected)
    }

    @Test("an ambiguous auto is refused")
    func uncertain() throws {
        let cases: [(String, [String: String])] = [
            ("auto", [:]), ("auto", ["JOB_COMPLETION_INDEX": "0"]), ("auto/8", ["JOB_COMPLETION_INDEX": "8"]),
            ("auto/8", ["JOB_COMPLETION_INDEX": "-1"]),
            ("auto/8", ["JOB_COMPLETION_INDEX": "1", "SLURM_ARRAY_TASK_ID": "1"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "1"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "x", "COUNT": "4", "MIN": "1", "MAX": "4"]),
            // Lost tasks that were resubmitted alone.
            ("auto", ["SLURM_ARRAY_TASK_ID": "3", "COUNT": "1", "MIN": "3", "MAX": "3"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "1", "COUNT": "1", "MIN": "1", "MAX": "1"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "8", "COUNT": "2", "MIN": "7", "MAX": "8"]),
            // --array=1,3,9: the third task need not be the third shard.
            ("auto", ["SLURM_ARRAY_TASK_ID": "9", "COUNT": "3", "MIN": "1", "MAX": "9"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "5", "COUNT": "4", "MIN": "1", "MAX": "4"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "1", "COUNT": "4", "MIN": "1", "MAX": "4", "STEP": "0"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "1", "COUNT": "4", "MIN": "4", "MAX": "1"]),
            ("auto", ["SLURM_ARRAY_TASK_ID": "\(Int.max)", "COUNT": "1", "MIN": "0", "MAX": "\(Int.max)"]),
            // --array=3, submitted alone to repeat the third of eight.
            ("auto/8", ["SLURM_ARRAY_TASK_ID": "3", "COUNT": "1", "MIN": "3", "MAX": "3"]),
        ]
        var lines: [String] = []
        for (text, environment) in cases {
            let errors = refusals { _ = try ShardArgument(text).shard(Self.full(environment)) }
            #expect(errors.map(\.file) == ["--shard"])
            let variables = environment.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }.joined()
            lines += ["\(text)\(variables)"] + errors.map { "  \($0)" }
        }
        Golden("shard-refusals").expect(lines.joined(separator: "\n"), "--shard auto")
    }

    @Test(
        "auto with a bad number is refused",
        arguments: ["auto/", "auto/0", "auto/10001", "auto/x", "auto/1/2", "automatic"])
    func badCount(text: String) { #expect(throws: InputError.self) { try ShardArgument(text) } }

    /// The environment with the long names of Slurm's variables.
    private static func full(_ environment: [String: String]) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: environment.map { name, value in
                (["COUNT", "MIN", "MAX", "STEP"].contains(name) ? "SLURM_ARRAY_TASK_\(name)" : name, value)
            })
    }

    // MARK: Balance

    @Test("Every cell is in one shard, whatever the order of the cells, and no shard takes too long")
    func balance() {
        var generator = SplitMix64(seed: 7)
        for count in [1, 2, 3, 7, 40] {
            let cells = (0..<30).map { (id: "w n=\($0)", cost: Int64(generator.next() % 1000)) }
            let shards = ShardBalance(cells, count: count).shards
            #expect(shards.count == count)
            #expect(shards.flatMap(\.cellIDs).sorted() == cells.map(\.id).sorted())
            let costs = Dictionary(uniqueKeysWithValues: cells)
            for shard in shards { #expect(shard.cost == shard.cellIDs.reduce(0) { $0 + costs[$1]! }) }
            let least = max(cells.map(\.cost).max()!, cells.reduce(0) { $0 + $1.cost } / Int64(count))
            #expect(shards.map(\.cost).max()! <= least * 4 / 3 + 1)
            for _ in 0..<5 {
                let again = ShardBalance(generator.shuffled(cells), count: count).shards
                #expect(again.map(\.cellIDs) == shards.map(\.cellIDs))
            }
        }
    }

    @Test("Equal cells are ordered by id, and the first of equally loaded shards gets the next")
    func ties() {
        let cells = ["d", "b", "a", "c"].map { (id: $0, cost: Int64(5)) }
        #expect(ShardBalance(cells, count: 3).shards.map(\.cellIDs) == [["a", "d"], ["b"], ["c"]])
        #expect(ShardBalance(cells, count: 6).shards.map(\.cellIDs) == [["a"], ["b"], ["c"], ["d"], [], []])
    }

    @Test("Costs that overflow do not trap")
    func saturation() {
        let shards = ShardBalance((0..<4).map { ("\($0)", Int64.max) }, count: 2).shards
        #expect(shards.map(\.cellIDs.count).reduce(0, +) == 4 && shards.allSatisfy { $0.cost == .max })
    }

    // MARK: Digests

    @Test("A digest does not depend on how the bytes are divided")
    func digests() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(SHA256().hexadecimal == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        for length in [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000] {
            let whole = SHA256.hexadecimal(of: Array(bytes[..<length]))
            for step in [1, 7, 64, 100] {
                var digest = SHA256()
                for start in stride(from: 0, to: length, by: step) {
                    digest.add(Array(bytes[start..<min(length, start + step)]))
                    _ = digest.hexadecimal
                }
                #expect(digest.hexadecimal == whole)
            }
        }
    }

    // MARK: Rows

    @Test(
        "A machine's name has only plain characters",
        arguments: [("n1", true), ("a.b-c_D9", true), ("", false), ("a b", false), ("a/b", false), ("ü", false)])
    func machines(name: String, isGood: Bool) {
        #expect(((try? MachineName.check(name)) != nil) == isGood)
        #expect((try? MachineName.check(MachineName.own)) != nil)
    }
}
