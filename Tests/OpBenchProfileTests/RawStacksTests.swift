import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("Stacks of addresses")
struct RawStacksTests {
    private static let maps = """
        55d0a000-55d0b000 r--p 00000000 fe:00 16360730                   /bin/a program
        55d0b000-55d0d000 r-xp 00001000 fe:00 16360730                   /bin/a program
        55d0d000-55d0e000 rw-p 00003000 fe:00 16360730                   /bin/a program
        7f000000-7f002000 rw-p 00000000 00:00 0
        7f120000-7f121000 r-xp 00000000 00:00 0
        7f144000-7f149a00 r-xp 00026000 fe:00 333151                     /lib/libc.so.6 (deleted)
        this is no mapping
        7ffd0000-7ffd2000 r-xp 00000000 00:00 0                          [vdso]
        """

    static let map = CodeMap(maps: maps.utf8)

    /// main → work, with two calls; a thread that waits for its start in the C library; one in the vDSO.
    static var stacks: RawStacks {
        var stacks = RawStacks(processID: 7, period: 1_000_000)
        stacks.map = map
        stacks.threadStart = 0x7F14_5000
        stacks.lostSamples = 2
        stacks.lostWeight = 5
        stacks.unsampledThreads = 1
        stacks.threads = [RawStacks.Thread(id: 11, name: "engine normal 1"), RawStacks.Thread(id: 12, name: "größer")]
        stacks.addresses = [0x55D0_B100, 0x55D0_B200, 0x55D0_B300, 0x7F14_5000, 0x7FFD_0010, 0x55D0_B200, 0x7F14_6000]
        stacks.samples = [
            RawStacks.Sample(time: 10, weight: 1_000_000, first: 0, count: 3, thread: 0),
            RawStacks.Sample(time: 20, weight: 3_000_000, first: 2, count: 2, thread: 1),
            RawStacks.Sample(time: 30, weight: 1_000_000, first: 4, count: 3, thread: 0),
            RawStacks.Sample(time: 40, weight: 0, first: 7, count: 0, thread: 0),
        ]
        return stacks
    }

    private func bytes(_ stacks: RawStacks) throws -> [UInt8] {
        let collector = ByteCollector()
        try RawStacksFile.write(stacks, to: collector)
        return collector.bytes
    }

    private func message(_ bytes: [UInt8]) -> String? {
        do {
            _ = try RawStacksFile.read(bytes)
            return nil
        } catch {
            return error.message
        }
    }

    // MARK: Maps

    @Test("Executable memory, and the start of a file's own addresses")
    func maps() {
        let mappings = Self.map.mappings
        #expect(mappings.map(\.path) == ["/bin/a program", "", "/lib/libc.so.6 (deleted)", "[vdso]"])
        #expect(mappings.map(\.base) == [0x55D0_A000, 0x7F12_0000, 0x7F11_E000, 0x7FFD_0000])
        #expect(Self.map.mapping(at: 0x55D0_B000)?.path == "/bin/a program")
        #expect(Self.map.mapping(at: 0x55D0_CFFF)?.path == "/bin/a program")
        #expect(Self.map.mapping(at: 0x55D0_D000) == nil)
        #expect(Self.map.mapping(at: 0) == nil)
        #expect(Self.map.mapping(at: .max) == nil)
        #expect(CodeMap(maps: []).mappings == [])
        #expect(
            CodeMap(maps: "7f2-7f1 r-xp 0 0:0 0\n-- r-xp 0 0 0\n1-2 r-x 0 0 0\n+1-2 r-xp 0 0 0".utf8).mappings == [])
        #expect(CodeMap([mappings[1], mappings[0]]) == nil)
    }

    // MARK: Names

    @Test("Return addresses are looked up at the call")
    func lookUps() {
        #expect(
            Self.stacks.lookUps == [
                0x55D0_B100, 0x55D0_B1FF, 0x55D0_B2FF, 0x55D0_B300, 0x7F14_4FFF, 0x7F14_5FFF, 0x7FFD_0010,
            ])
    }

    @Test("By name: the outermost first, with merged functions, threads by their better names")
    func profile() {
        var symbols = SymbolTable(map: Self.map)
        symbols.name(0x55D0_B100, ["$s15OperationEngine9QueueCoreC3runyyF", "work"])
        symbols.name(0x55D0_B1FF, ["main"])
        symbols.name(0x55D0_B300, ["body"])
        let profile = Self.stacks.profile(symbols, threadNames: [12: "dispatch 1"])
        let stacks = profile.samples.map { profile.stack($0.stack).map { profile.frames[Int($0)].name } }
        #expect(
            stacks == [
                ["[unknown]", "main", "work", "OperationEngine.QueueCore.run() -> ()"], ["start_thread", "body"],
                ["__libc_start_call_main", "main", "[vdso]"], [],
            ])
        #expect(profile.samples.map(\.weight) == [1_000_000, 3_000_000, 1_000_000, 0])
        #expect(profile.threads == ["engine normal 1", "dispatch 1"])
        #expect(profile.frames.first { $0.name == "start_thread" }?.object == "/lib/libc.so.6")
        // A stack is known if it starts where threads do, or in main.
        #expect(ClassTable(profile, on: .engine).unknownCallers == 1_000_000)
    }

    @Test("Samples between marks")
    func during() {
        let stacks = Self.stacks
        #expect(stacks.during(MarkedTime([25..<35, 0..<11])).samples.map(\.time) == [10, 30])
        #expect(stacks.during(MarkedTime([10..<20])).samples.map(\.time) == [10])
        #expect(stacks.during(MarkedTime([])).samples.isEmpty)
        #expect(stacks.during(MarkedTime([0..<5, 41..<50])).samples.isEmpty)
    }

    // MARK: The file

    @Test("A file reads back as written, whatever its content")
    func roundTrip() throws {
        for stacks in [Self.stacks, RawStacks(processID: 1, period: 1)] {
            #expect(try RawStacksFile.read(bytes(stacks)) == stacks)
        }
        #expect(MemoryLayout<RawStacks.Sample>.size == 32)
        #expect(MemoryLayout<RawStacks.Sample>.stride == 32)
    }

    @Test("A file that is cut anywhere, or followed by other data, is rejected")
    func truncated() throws {
        let whole = try bytes(Self.stacks)
        for length in 0..<whole.count { #expect(message(Array(whole[..<length])) != nil, "\(length) bytes") }
        let others = [
            whole + [0], Array(whole.dropLast()), Array("opbench trace 4\n".utf8), Array("opbench stacks 1\n{}\n".utf8),
        ].map(message)
        expectRefused(others, "followed, cut, of another kind or version")
    }

    private func expectRefused(_ messages: [String?], _ section: String) {
        #expect(messages.allSatisfy { $0 != nil })
        Golden("stacks-refusals").expect(messages.map { $0 ?? "taken" }.joined(separator: "\n"), section)
    }

    @Test("Numbers and references out of range")
    func ranges() throws {
        func fault(_ change: (inout RawStacks) -> Void) throws -> String? {
            var stacks = Self.stacks
            change(&stacks)
            return message(try bytes(stacks))
        }
        let samples = try [
            fault { $0.samples[1].thread = 2 }, fault { $0.samples[1].first = 6 },
            fault { $0.samples[1].first = -1 }, fault { $0.samples[1].first = .max },
            fault { $0.period = 0 }, fault { $0.lostSamples = -1 }, fault { $0.samples[1].weight = -1 },
            fault { $0.samples[1].weight = .max },
        ]
        expectRefused(samples, "headers and samples")
    }

    @Test("If any byte changes, the file is rejected, or everything can be computed from it")
    func hostile() throws {
        let whole = try bytes(Self.stacks)
        var taken = 0
        for place in whole.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var copy = whole
                copy[place] ^= change
                guard let stacks = try? RawStacksFile.read(copy) else { continue }
                taken += 1
                let profile = stacks.during(MarkedTime([-5..<100])).profile(SymbolTable(map: stacks.map))
                _ = (stacks.lookUps, StackReport(profile, on: .engine, operations: 3).lines(), profile.folded())
            }
        }
        #expect(taken > 100)
    }
}
