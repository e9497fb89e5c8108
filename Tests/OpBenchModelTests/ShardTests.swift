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

    // MARK: Shares

    @Test("Every element is in one shard's share, and no share costs much more than another")
    func shares() {
        var generator = SplitMix64(seed: 7)
        for count in [1, 2, 3, 7, 40] {
            let costs = (0..<30).map { _ in Int(generator.next() % 1000) }.sorted(by: >)
            let shares = Shard(index: 1, count: count).all.map { $0.share(of: costs) }
            #expect(shares.flatMap(\.self).sorted(by: >) == costs)
            let sums = shares.map { $0.reduce(0, +) }
            #expect(sums.max()! - sums.min()! <= costs[0])
        }
        let four = Shard(index: 1, count: 3).all.map { $0.share(of: ["a", "b", "c", "d"]) }
        #expect(four == [["a"], ["b"], ["c", "d"]])
        #expect(Shard(index: 6, count: 6).share(of: ["a", "b", "c", "d"]).isEmpty)
    }

    // MARK: Digests

    /// By the digests of coreutils' sha256sum, on both sides of a block's end.
    @Test(
        "A digest is right for any length",
        arguments: [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
            (55, "576a1bf8d4478657e6dc4af9398544765c2a92cde28478b019235cfed315fc09"),
            (56, "9b20501dfd1d99161c257950f3444f3e49230c351c5c8e0943ef369f85f5205d"),
            (63, "30b345906b493f06f69444b6521113511c242f30e29840462950035043682f1e"),
            (64, "d8bc63b4fc1156e5e7d95a418b9bf54cd3174bedbc2db40f74895349b229b3c0"),
            (65, "1ee23b0fbcaecc1aff4a9e8f1645f35ab2c8e13609cd73b68df8b5e3f63ce073"),
            (119, "7a6589821178918ca8d9edaba5abfc1e9b2669564f4469b66885379c1530b2c8"),
            (120, "655250427d56b1b0eeb8497d21428704273458a01772d6881b65c0abac0f8a98"),
            (128, "54c9eb041badfd7064645067b107661fed6113197ce2dd066ba69618abd3732f"),
            (1000, "89f4ff56a25dd1db06a4ce6033603775d705fb96f30f8693733fef602a1ca532"),
        ])
    func digests(length: Int, expected: String) {
        #expect(SHA256.hexadecimal(of: (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7) }) == expected)
    }
}
