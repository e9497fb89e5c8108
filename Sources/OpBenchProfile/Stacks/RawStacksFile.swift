/// The file in which a sample's process passes its stacks to its parent.
public enum RawStacksFile {
    /// The file's name in the folder of a profile.
    public static let name = "cpu.stacks"

    private static let file = RecordFile(title: "opbench stacks 2")

    private struct Content: Codable {
        /// Without its samples, addresses and mappings.
        var stacks: RawStacks
        var mappings: [CodeMap.Mapping]
    }

    /// Writes the bytes, in pieces. Does not check them; the reader does.
    public static func write(_ stacks: RawStacks, to sink: any ByteSink) throws {
        try file.write(
            Content(stacks: stacks, mappings: stacks.map.mappings), stacks.samples, stacks.addresses, to: sink)
    }

    /// - Throws: `RecordError` unless the file is complete, consistent and of this version.
    public static func read(_ bytes: [UInt8]) throws(RecordError) -> RawStacks {
        let (content, samples, addresses) = try file.read(
            bytes, Content.self, RawStacks.Sample.self, UInt64.self)
        var stacks = content.stacks
        (stacks.samples, stacks.addresses) = (samples, addresses)
        guard let map = CodeMap(content.mappings) else { throw RecordError("the stacks' mappings overlap") }
        stacks.map = map
        try check(stacks)
        return stacks
    }

    private static func check(_ stacks: RawStacks) throws(RecordError) {
        guard stacks.period > 0, stacks.lostSamples >= 0, stacks.lostWeight >= 0, stacks.unsampledThreads >= 0 else {
            throw RecordError("the stacks' numbers are out of range")
        }
        var total: Int64 = 0
        for (index, sample) in stacks.samples.enumerated() {
            guard sample.thread < stacks.threads.count else { throw RecordError("sample \(index): no such thread") }
            let (end, overflow) = sample.first.addingReportingOverflow(Int64(sample.count))
            guard sample.first >= 0, !overflow, end <= stacks.addresses.count else {
                throw RecordError("sample \(index): no such addresses")
            }
            let (sum, carry) = total.addingReportingOverflow(sample.weight)
            guard sample.weight >= 0, !carry else { throw RecordError("sample \(index): weight out of range") }
            total = sum
        }
    }
}
