import Foundation
import OpBenchModel
import Testing

struct ProcessorSetTests {
    @Test(
        arguments: [
            ("0", [0]), ("0-3,8", [0, 1, 2, 3, 8]), ("8,0-3,2", [0, 1, 2, 3, 8]), ("0-10:4", [0, 4, 8]), ("5-5", [5]),
            ("8191", [8191]),
        ] as [(String, [Int])])
    func `lists are read as taskset reads them`(text: String, numbers: [Int]) {
        #expect(ProcessorSet(text)?.numbers == numbers)
    }

    @Test(arguments: [
        "", " ", "a", "0-", "-3", "3-1", "0,,1", "0,", "0-3:0", "0:2", "0-3:", "+1", "1 ", "0x1", "8192",
        "0-9999999999", "99999999999999999999", "0-1-2", "٣",
    ])
    func `invalid lists are refused`(text: String) { #expect(ProcessorSet(text) == nil) }

    @Test func `sets are written in the shortest form, and read back`() throws {
        for (numbers, text) in [
            ([], ""), ([3], "3"), ([0, 1], "0-1"), ([0, 2, 3, 4, 9], "0,2-4,9"), ([7, 6, 7], "6-7"),
        ] as [([Int], String)] {
            let set = ProcessorSet(numbers)
            #expect(set.description == text)
            if !text.isEmpty { #expect(ProcessorSet(text) == set) }
        }
        let set = ProcessorSet([0, 2, 3])
        let data = try JSONEncoder().encode([set])
        #expect(String(decoding: data, as: UTF8.self) == #"["0,2-3"]"#)
        #expect(try JSONDecoder().decode([ProcessorSet].self, from: data) == [set])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ProcessorSet].self, from: Data(#"["3-1"]"#.utf8))
        }
    }

    @Test func `sets are split and joined`() {
        let (one, other) = (ProcessorSet([0, 1, 2]), ProcessorSet([2, 3]))
        #expect(one.intersection(other).numbers == [2])
        #expect(one.subtracting(other).numbers == [0, 1])
        #expect(one.union(other).numbers == [0, 1, 2, 3])
    }
}
