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
        }
        let digest = String(repeating: "0123456789abcdef", count: 4)
        #expect(Shard("2/16")!.partName(sweep: digest) == "0123456789ab-02of16")
        let names = (1...100).map { Shard(index: $0, count: 100).partName(sweep: digest) }
        #expect(names == names.sorted(), "names sort as the shards do")
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
