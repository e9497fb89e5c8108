import OpBenchModel
import Testing

@testable import OpBenchProfile

@Suite("Output of perf script")
struct PerfScriptTests {
    private static let output = """
        # a comment
        engine normal 1 16755/16788 24769.522195:    1003009 cpu-clock:u:\u{20}
        \t            116c hot+0x13 (/tmp/a b (1))
        \t           891f5 start_thread+0x305 (/usr/lib/x86_64-linux-gnu/libc.so.6)

        engine normal 1 16755/16788 [001] 24769.523194123:    1003009 cpu-clock:u:\u{20}
        \t            116c $s15OperationEngine9QueueCoreC3runyyF+0x1 (/tmp/opbench (deleted))
        \t          ffffff [unknown] ([unknown])
        \t            1200 operator()(int, char) const (inlined)

        a 1 2.3: 4 16755/16790 24769.600000:    5 cpu-clock:    116c hot+0x13 (/tmp/a)

        other 99/99 24769.700000:    7 cpu-clock:\u{20}
        \t            116c hot+0x13 (/tmp/a)

        """

    private func names(_ script: PerfScript) -> [[String]] {
        script.profile.samples.map { sample in
            script.profile.stack(sample.stack).map { script.profile.frames[Int($0)].name }
        }
    }

    @Test("Threads with spaces, files with parentheses, names that are mangled or missing")
    func samples() {
        let script = PerfScript(Array(Self.output.utf8))
        #expect(script.skippedLines == 0)
        #expect(
            names(script) == [
                ["start_thread", "hot"],
                ["operator()(int, char) const", "[unknown]", "OperationEngine.QueueCore.run() -> ()"],
                ["hot"], ["hot"],
            ])
        let profile = script.profile
        #expect(profile.threads == ["engine normal 1", "a 1 2.3: 4", "other"])
        #expect(
            profile.samples.map(\.time) == [
                24_769_522_195_000, 24_769_523_194_123, 24_769_600_000_000, 24_769_700_000_000,
            ])
        #expect(profile.samples.map(\.weight) == [1_003_009, 1_003_009, 5, 7])
        #expect(profile.total == 2_006_030)
        #expect(
            Set(profile.frames.map(\.object)) == [
                "/tmp/a b (1)", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/tmp/opbench", "", "/tmp/a",
            ])
        #expect(profile.frames.first { $0.name.hasPrefix("Op") }?.symbol == "$s15OperationEngine9QueueCoreC3runyyF")
    }

    @Test("Samples of threads that end have no id, and count")
    func endingThreads() {
        let text = """
            :-1 18674/-1     5808.570661137:    1003009 cpu-clock:\u{20}
            \tffffffff81000100 do_exit+0x77 ([kernel.kallsyms])

            """
        let script = PerfScript(Array(text.utf8))
        #expect(script.skippedLines == 0 && script.profile.total == 1_003_009)
        #expect(names(script) == [["do_exit"]] && script.profile.threads == ["ending threads"])
    }

    @Test("Another demangler, or none")
    func demangler() {
        let bare = PerfScript(Array(Self.output.utf8), demangle: { _ in nil })
        #expect(bare.profile.frames.contains { $0.name == "$s15OperationEngine9QueueCoreC3runyyF" })
        let own = PerfScript(Array(Self.output.utf8), demangle: { "<" + $0 + ">" })
        #expect(own.profile.frames.contains { $0.name == "<hot>" && $0.symbol == "hot" })
    }

    @Test("The runtime's demangler, and invalid names")
    func swiftDemangler() {
        #expect(SwiftDemangler.demangle("$sSiD") == "Swift.Int")
        #expect(
            SwiftDemangler.demangle("$s15OperationEngine9QueueCoreC3runyyF") == "OperationEngine.QueueCore.run() -> ()")
        for name in ["", "malloc", "$", "$s", "$sXXXXX", "_Zplop", "$s\0x", String(repeating: "$sSa", count: 10_000)] {
            #expect(SwiftDemangler.demangle(name) == nil, "\(name.prefix(20))")
        }
    }

    @Test("A private name is shown without its discriminator")
    func discriminators() {
        let hash = "_F3BBAEC4B91875E28F7F96A4995E42DB"
        for (name, expected) in [
            ("P.(Scheduler in \(hash)).Event", "P.Scheduler.Event"),
            ("P.(a in \(hash))(P.(B in \(hash))) -> ()", "P.a(P.B) -> ()"),
            ("closure #1 () -> () in _A.f() -> ()", "closure #1 () -> () in _A.f() -> ()"),
            (" in \(hash))", " in \(hash))"), ("(x in _F3BB)", "(x in _F3BB)"), ("", ""),
        ] { #expect(SwiftDemangler.withoutDiscriminators(name) == expected) }
    }

    @Test("Unknown lines are counted, and the rest is read")
    func skipped() {
        let text = """
            nonsense
            thread 1/1 1.5: no-period cpu-clock:
            thread 1/1 1.500000: 10 cpu-clock:
            \tzz hot (/tmp/a)
            \t116c hot (/tmp/a)

            thread 1/1 99999999999999999999.5: 10 cpu-clock:
            thread 1/1 1.5: 99999999999999999999 cpu-clock:
            thread 1/1 1.5: 9223372036854775807 cpu-clock:
            \t116c cold (/tmp/a)

            """
        let script = PerfScript(Array(text.utf8))
        #expect(names(script) == [["hot"]])
        #expect(script.skippedLines == 6)
        #expect(PerfScript([]).profile.samples.isEmpty)
        // Without an empty line at the end.
        #expect(PerfScript(Array("t 1/1 1.5: 10 cpu-clock:\n\t1 hot (/a)".utf8)).profile.total == 10)
    }

    @Test("For any bytes, every view can be made", arguments: 0..<40 as Range<UInt64>)
    func hostile(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var bytes = Array(Self.output.utf8)
        for _ in 0..<40 {
            let place = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes.remove(at: place)
            case 2:
                bytes.insert(
                    [0x20, 0x28, 0x29, 0x3A, 0x0A, 0x2B, 0x00, 0xFF].randomElement(using: &generator)!, at: place)
            default:
                let end = min(bytes.count, place + Int.random(in: 0..<60, using: &generator))
                bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: bytes.indices, using: &generator))
            }
        }
        let profile = PerfScript(bytes).profile
        let table = ClassTable(profile, on: .engine)
        #expect(table.rows.map(\.weight).reduce(0, +) == profile.total)
        #expect(
            profile.folded().split(separator: "\n").reduce(0) { $0 + Int64($1.split(separator: " ").last!)! }
                == profile.total)
    }
}

@Suite("The start of stacks")
struct StackRootTests {
    private let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
    private let body = StackFrame(name: "body", object: "/tmp/a")

    private func nameless(_ object: String) -> StackFrame { StackFrame(name: StackFrame.unknownName, object: object) }

    private func unknown(_ stack: [StackFrame]) -> Int64 {
        var profile = StackProfile(unit: .nanoseconds)
        profile.add(stack, weight: 10)
        return ClassTable(profile.startingAtRoots(), on: .engine).unknownCallers
    }

    @Test func `a thread starts in the C library, whether its functions have names or not`() {
        #expect(unknown([StackFrame(name: "start_thread", object: libc), body]) == 0)
        #expect(unknown([nameless(libc), nameless(libc), body]) == 0)
        // An address that perf reads beyond the stack's end.
        #expect(unknown([nameless(""), StackFrame(name: "clone3", object: libc), body]) == 0)
        #expect(unknown([nameless(""), nameless(libc), body]) == 0)
    }

    @Test func `a broken stack has no known callers`() {
        #expect(unknown([]) == 10)
        #expect(unknown([body]) == 10)
        #expect(unknown([nameless(""), body]) == 10)
        #expect(unknown([nameless(libc)]) == 10)
        // In a system call.
        #expect(unknown([nameless(libc), StackFrame(name: "futex_wait", object: "[kernel.kallsyms]")]) == 10)
    }

    @Test func `losses and events of perf are read`() {
        let text = """
            a 1/2 5.000000001: PERF_RECORD_LOST lost 12

            a 1/2 5.000000002:    1003009 cpu-clock:u:\u{20}
            \t            116c hot+0x13 (/tmp/a)

            """
        let script = PerfScript(Array(text.utf8), threads: [2: "engine normal 1"])
        #expect(script.lost == 12 && script.events == ["cpu-clock:u"] && script.skippedLines == 0)
        #expect(script.profile.threads == ["engine normal 1"] && script.profile.total == 1_003_009)
    }
}
