import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("Callgrind files")
struct CallgrindTests {
    /// A program whose `add` allocates: names by number, recursion, calls with their costs, a jump, several
    /// subpositions and events, the second of which counts instructions.
    private static let file = """
        # callgrind format
        version: 1
        creator: callgrind-3.19.0
        pid: 7
        cmd:  /b/opbench fn=(9)
        part: 1

        desc: Trigger: --dump-before=clinux_counting_ends

        positions: instr line
        events: Dr Ir
        summary: 1 178

        ob=(1) /b/opbench
        fl=(1) a.c
        fn=(1) add'serve'start_thread@@GLIBC_2.34
        0x10 16 0 10
        +2 +1 1 20
        cob=(2) /lib/libjemalloc.so.2
        cfi=(2) ???
        cfn=(2) malloc'add'serve'start_thread@@GLIBC_2.34
        calls=3 0x90 0
        * * 0 90
        jcnd=1/2 +4 *
        0x12 17
        fi=(3) inlined.h
        +3 * 0 5

        fn=(3) serve'start_thread@@GLIBC_2.34
        0x20 1 0 40
        cfn=(1)
        calls=1 0x10 16
        0x20 1 0 125

        ob=(2)
        fl=(2)
        fn=(2)
        0x90 0 0 60
        cfn=(4) malloc'2'add'serve'start_thread@@GLIBC_2.34
        calls=1 0x90 0
        0x90 0 0 30
        fn=(4)
        0x90 0 0 30

        ob=(3) /lib/libc.so.6
        fn=(5) (below main)
        0x1 0 0 8
        fn=(6) 0x0000000000001234'(below main)
        0x1 0 0 4
        fn=(7) idle
        0x1 0 7

        totals: 8 177
        """

    private func profile(_ text: String) throws -> StackProfile {
        var profile = CallgrindProfile { $0 == "add" ? "OperationEngine.QueueCore.add()" : nil }
        try profile.add(Array(text.utf8))
        return profile.profile
    }

    private func message(_ text: String) -> String? {
        do {
            _ = try profile(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Stacks, the outermost function first.
    private func weights(_ profile: StackProfile) -> [String: Int64] {
        profile.samples.reduce(into: [:]) { sums, sample in
            let stack = profile.stack(sample.stack).map { profile.frames[Int($0)] }
            sums[stack.map(\.name).joined(separator: ";"), default: 0] += sample.weight
        }
    }

    @Test("The code that each function executed itself is on its stack, once")
    func stacks() throws {
        let profile = try profile(Self.file)
        #expect(profile.unit == .instructions)
        #expect(profile.total == 177)
        #expect(
            weights(profile) == [
                "start_thread;serve;OperationEngine.QueueCore.add()": 35,
                "start_thread;serve;OperationEngine.QueueCore.add();malloc": 90,
                "start_thread;serve": 40, "(below main)": 8, "(below main);[unknown]": 4,
            ])
        let objects = Dictionary(grouping: profile.frames, by: \.name).mapValues { Set($0.map(\.object)) }
        #expect(objects["malloc"] == ["/lib/libjemalloc.so.2"])
        #expect(objects["OperationEngine.QueueCore.add()"] == ["/b/opbench"])
        // It executed no instructions itself.
        #expect(objects["start_thread"] == [""])
        #expect(profile.frames.first { $0.name.hasSuffix("add()") }?.symbol == "add")
    }

    @Test("A function includes its calls of malloc")
    func attribution() throws {
        let functions = AttributedWeights(try profile(Self.file), on: .engine).functions
        #expect(functions["OperationEngine.QueueCore.add()"]?.parts == [.queue("engine"): 35, .allocation: 90])
    }

    @Test("Names without numbers, omitted positions, lines with only a position")
    func plainNames() throws {
        let profile = try profile(
            "events: Ir\n\nob=/b/a\nfl=a.c\nfn=main\n16 20\ncfn=work\ncalls=1 50\n16 400\n\nfn=work\n51 100\n51 300\n52\n"
                + "totals: 420\n")
        #expect(weights(profile) == ["main": 20, "work": 400])
        #expect(profile.frames.allSatisfy { $0.object == "/b/a" })
    }

    @Test("A caller's file is that of its own code; for a name in two files it is unknown")
    func callers() throws {
        let text = """
            events: Ir
            ob=(1) /b/one
            fn=(1) helper
            1 1
            fn=(2) inner'helper
            1 2
            ob=(2) /b/other
            fn=(1)
            1 4
            totals: 7
            """
        let profile = try profile(text)
        #expect(weights(profile) == ["helper": 5, "helper;inner": 2])
        #expect(profile.frames.filter { $0.name == "helper" }.map(\.object).sorted() == ["", "/b/one", "/b/other"])
    }

    @Test("Several files are added up")
    func files() throws {
        var profile = CallgrindProfile()
        for count in [3, 4] {
            try profile.add(Array("events: Ir\nfn=(1) f\n1 \(count)\ntotals: \(count)\n".utf8))
        }
        #expect(profile.profile.total == 7)
        #expect(weights(profile.profile) == ["f": 7])
    }

    @Test("The last line has a file's total")
    func total() throws {
        #expect(try CallgrindProfile.total(of: Array("events: Ir\nfn=f\n1 12\n\ntotals: 12\n".utf8)) == 12)
        for text in ["", "totals: \n", "totals: x\n", "totals: -1\n", "totals: 1\n1 2\n", "1 2\n"] {
            #expect(throws: StackFileError.self, "\(text)") { try CallgrindProfile.total(of: Array(text.utf8)) }
        }
    }

    @Test("Incomplete or other files are rejected")
    func refusals() {
        let whole = Self.file
        #expect(message(whole) == nil)
        let two = "fn=(1) f\n1 9223372036854775807\nfn=(2) g\n1 9223372036854775807\ntotals: -2\n"
        let refused = [
            ("empty", ""), ("cycles", "events: Cycles\ntotals: 0\n"), ("no events", "version: 2\n"),
            ("cut short", String(whole.dropLast("totals: 8 177".count))),
            ("other total", whole.replacingOccurrences(of: "0x20 1 0 40", with: "0x20 1 0 41")),
            ("no number", "events: Ir\nfn=(1) f\n1 x\n"), ("no word", "events: Ir\nfn=(1) f\nnonsense\n"),
            ("no key", "events: Ir\nfun=(1) f\n"),
            ("overflow", "events: Ir\nfn=(1) f\n1 9223372036854775807\n1 1\n"),
            ("overflow of two", "events: Ir\n" + two),
        ].map { ($0, message($1)) }
        #expect(refused.allSatisfy { $0.1 != nil })
        Golden("callgrind-refusals").expect(
            refused.map { "\($0): \($1 ?? "")" }.joined(separator: "\n"), "files of callgrind's")
    }
}
