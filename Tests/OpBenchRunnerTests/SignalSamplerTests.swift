import CLinux
import CLinuxMeasure
import Dispatch
import Foundation
import OpBenchBackends
import OpBenchModel
import OpBenchProfile
import OperationEngine
import TestSupport
import Testing

@testable import OpBenchRunner

/// One test at a time: a process has one sampler.
@Suite("Stacks by SIGPROF", .serialized, .onOwnThreads)
struct SignalSamplerTests {
    /// The stacks with names.
    private func profile(_ stacks: RawStacks) async throws -> StackProfile {
        let named = try await Symbolizer().names(of: stacks.lookUps, in: stacks.map)
        #expect(named.notes == [])
        return stacks.profile(named.symbols)
    }

    /// Four standard errors of a share of a thread's time: a busy machine leaves few samples, of very different weights.
    private func uncertainty(of share: Double, on thread: String, _ profile: StackProfile) -> Double {
        let weights = profile.samples.filter { profile.threads[Int($0.thread)] == thread }.map { Double($0.weight) }
        let squares = weights.reduce(0) { $0 + $1 * $1 }
        return 4 * (share * (1 - share)).squareRoot() * squares.squareRoot() / weights.reduce(0, +)
    }

    /// The share of a thread's samples with a function of this name anywhere in the stack.
    private func share(of name: String, on thread: String, _ profile: StackProfile) -> Double {
        let samples = profile.filtered { profile.threads[Int($0.thread)] == thread }
        let with = samples.filtered { sample in
            profile.stack(sample.stack).contains { profile.frames[Int($0)].name.contains(name) }
        }
        return Double(with.total) / Double(max(1, samples.total))
    }

    private func unknownCallers(_ profile: StackProfile, on threads: Set<String>) -> Double {
        let samples = profile.filtered { threads.contains(profile.threads[Int($0.thread)]) }
        #expect(samples.total > 0)
        return ClassTable(samples, on: .engine).unknownCallersShare
    }

    @Test("Functions have their share of their thread's use, and threads their whole use")
    func shares() async throws {
        let folder = try Fixture.folder()
        let sampler = SignalSampler(folder: folder)
        try sampler.begin()
        let begun = MonotonicClock.now()
        let used = Burner.run(["burner 1", "burner 2"], samples: 120, of: sampler) { name in
            if name == "burner 1" { return burnAlone() }
            burnBriefly(15_000)
            burnLonger(45_000)
        }
        let ended = MonotonicClock.now()
        try sampler.end()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(RawStacksFile.name)"))
        let stacks = try RawStacksFile.read(Array(bytes))
        #expect(stacks.processID == getpid())
        #expect((stacks.lostSamples, stacks.unsampledThreads) == (0, 0))
        #expect(stacks.samples.allSatisfy { $0.weight >= stacks.period && $0.weight % stacks.period == 0 })
        // Samples of earlier tests are not among them.
        #expect(stacks.during(MarkedTime([begun..<ended])).samples.count > stacks.samples.count * 9 / 10)
        let profile = try await profile(stacks)
        let alone = 0.95 - max(0.05, uncertainty(of: 0.95, on: "burner 1", profile))
        #expect(share(of: "burnAlone()", on: "burner 1", profile) > alone)
        let tolerance = max(0.13, uncertainty(of: 0.25, on: "burner 2", profile))
        #expect(abs(share(of: "burnBriefly(", on: "burner 2", profile) - 0.25) < tolerance)
        #expect(abs(share(of: "burnLonger(", on: "burner 2", profile) - 0.75) < tolerance)
        for (thread, nanoseconds) in used {
            let samples = profile.filtered { profile.threads[Int($0.thread)] == thread }
            // Before the first sample and after the last, as much time is missing as between two samples.
            let gap = try #require(samples.samples.map(\.weight).max())
            #expect(Double(samples.total) < Double(nanoseconds) * 1.2, "\(thread)")
            #expect(Double(samples.total + 2 * gap) > Double(nanoseconds) * 0.8, "\(thread)")
        }
        #expect(unknownCallers(profile, on: ["burner 1", "burner 2"]) <= StackReport.mostUnknownCallers)
    }

    @Test("A chain of a hundred calls is walked to the thread's start")
    func deep() async throws {
        let sampler = SignalSampler(folder: "")
        try sampler.begin()
        _ = Burner.run(["deep"], milliseconds: 200, samples: 20, of: sampler) { _ in callDeep(100) }
        let profile = try await profile(try #require(sampler.finish()))
        #expect(unknownCallers(profile, on: ["deep"]) <= StackReport.mostUnknownCallers)
        let depths = profile.samples.filter { profile.threads[Int($0.thread)] == "deep" }.map { sample in
            profile.stack(sample.stack).count { profile.frames[Int($0)].name.contains("callDeep(") }
        }
        // The clock that the burner reads takes the rest.
        #expect(depths.max() == 101)
        #expect(depths.count { $0 == 101 } > depths.count / 2)
    }

    @Test("Callers are known even if the C library, or malloc, breaks the chain of frame pointers")
    func libraries() async throws {
        let sampler = SignalSampler(folder: "")
        try sampler.begin()
        _ = Burner.run(["allocates", "sorts", "clones"], samples: 100, of: sampler) { name in
            switch name {
            case "allocates": allocate(300)
            case "sorts": sortByLibrary(300)
            default: changeStrings(30)
            }
        }
        let profile = try await profile(try #require(sampler.finish()))
        for (thread, function) in [
            ("allocates", "allocate("), ("sorts", "sortByLibrary("), ("clones", "changeStrings("),
        ] {
            #expect(unknownCallers(profile, on: [thread]) <= StackReport.mostUnknownCallers, "\(thread)")
            let least = 0.9 - max(0.05, uncertainty(of: 0.9, on: thread, profile))
            #expect(share(of: function, on: thread, profile) > least, "\(thread)")
        }
    }

    @Test("Threads that start later are sampled; those that have ended stay")
    func newThreads() throws {
        let sampler = SignalSampler(folder: "")
        try sampler.begin()
        for number in 1...3 {
            _ = Burner.run(["later \(number)"], milliseconds: 60, samples: 1, of: sampler) { _ in burnAlone() }
        }
        let stacks = try #require(sampler.finish())
        let threads = stacks.threads.indices.filter { stacks.threads[$0].name.hasPrefix("later ") }
        #expect(threads.count == 3)
        for thread in threads { #expect(stacks.samples.contains { $0.thread == thread }) }
    }

    @Test("Samples without room are counted with their weights")
    func lost() throws {
        let sampler = SignalSampler(folder: "", options: .init(bufferSize: 4096))
        try sampler.begin()
        // More samples than there is room for.
        func isFull() -> Bool { sampler.sampleCount > 100 }
        let used = Burner.run(["burner"], until: isFull) { _ in burnAlone() }
        let count = sampler.sampleCount
        let stacks = try #require(sampler.finish())
        #expect(stacks.lostSamples > 0)
        #expect(stacks.lostWeight >= stacks.lostSamples * stacks.period)
        #expect(stacks.samples.count > 0)
        #expect(stacks.samples.count + Int(stacks.lostSamples) >= count)
        let sum = stacks.samples.reduce(stacks.lostWeight) { $0 + $1.weight }
        #expect(sum > (used["burner"] ?? 0) / 2)
    }

    @Test("Interrupted waits continue, and signals of others are not samples")
    func interrupted() async throws {
        let sampler = SignalSampler(folder: "", options: .init(period: 1_000_000_000))
        try sampler.begin()
        let waits = Guarded<[String: pthread_t]>([:])
        @Sendable func inWait(_ name: String) { waits.withLock { $0[name] = pthread_self() } }
        let (queue, gate, semaphore) = (OperationEngine.OperationQueue(), Gate(), DispatchSemaphore(value: 0))
        let ended = Counter()
        queue.addOperation {
            inWait("worker")
            gate.wait()
        }
        onNewThread {
            inWait("engine")
            queue.waitUntilAllOperationsAreFinished()
            ended.add()
        }
        onNewThread {
            inWait("dispatch")
            semaphore.wait()
            ended.add()
        }
        let until = MonotonicClock.now() + 300_000_000
        onNewThread {
            inWait("clock")
            MonotonicClock.sleep(until: until)
            #expect(MonotonicClock.now() >= until)
            ended.add()
        }
        #expect(waits.wait { $0.count == 4 })
        while MonotonicClock.now() < until { for thread in waits.read().values { pthread_kill(thread, SIGPROF) } }
        #expect(ended.value == 0 || ended.value == 1)
        gate.open()
        semaphore.signal()
        ended.wait(for: 3)
        // The worker, which is waiting for work by now, handles some.
        for thread in waits.read().values { pthread_kill(thread, SIGPROF) }
        queue.addOperation { ended.add() }
        #expect(await queue.drained())
        #expect(ended.value == 4)
        let stacks = try #require(sampler.finish())
        #expect(stacks.samples.allSatisfy { $0.weight % 1_000_000_000 == 0 })
        #expect(stacks.samples.count < 100)
    }

    @Test("A second sampler is rejected, and a later one is possible")
    func refused() throws {
        let first = SignalSampler(folder: "")
        try first.begin()
        let refusal = #expect(throws: SamplerError.self) { try SignalSampler(folder: "").begin() }
        #expect(refusal?.description.contains("SIGPROF") == true)
        #expect(first.finish() != nil)
        #expect(first.finish() == nil)
        try first.begin()
        #expect(first.finish() != nil)
    }

    @Test("If nothing can be written, no file is left, and the error gives the reason")
    func unwritable() throws {
        let folder = try Fixture.folder()
        let sampler = SignalSampler(folder: folder + "/none")
        try sampler.begin()
        #expect(throws: DiskError.self) { try sampler.end() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test("Without a tool, functions have no names, and a note says which to install")
    func noTool() async throws {
        let symbolizer = Symbolizer(path: "/nowhere")
        #expect(symbolizer.tool == nil)
        let map = CodeMap(maps: SystemFile.text("/proc/self/maps").utf8)
        let mapping = try #require(map.mappings.first { $0.path.hasPrefix("/") })
        let named = try await symbolizer.names(of: [mapping.start + 16], in: map)
        #expect(named.notes.count == 1)
        #expect(named.notes[0].contains("binutils"))
        #expect(named.symbols.frames(at: mapping.start + 16) == [StackFrame(name: "[unknown]", object: mapping.path)])
    }

    @Test("Missing files, and a failing tool, leave one note each")
    func notes() async throws {
        let map = try #require(
            CodeMap([
                CodeMap.Mapping(start: 0x1000, end: 0x2000, base: 0x1000, path: "/nowhere/a (deleted)"),
                CodeMap.Mapping(start: 0x3000, end: 0x4000, base: 0x3000, path: "/proc/self/exe"),
            ]))
        var symbolizer = Symbolizer(path: "/nowhere")
        symbolizer.tool = "/bin/false"
        let named = try await symbolizer.names(of: [0x1010, 0x3010, 0x5000], in: map)
        #expect(named.notes.count == 2)
        #expect(named.notes.first?.contains("/nowhere/a (deleted)") ?? false)
        #expect(named.notes.last?.contains("/bin/false") ?? false)
        symbolizer.tool = "/nowhere/tool"
        let other = try await symbolizer.names(of: [0x3010], in: map)
        #expect(other.notes.first?.contains("/nowhere/tool") ?? false)
    }

    @Test("Every installed tool gives the same names", arguments: ["llvm-symbolizer", "addr2line"])
    func tools(_ name: String) async throws {
        let files: [String] = ["/usr/bin/\(name)", "/usr/local/bin/\(name)"]
        let found = files.first { access($0, X_OK) == 0 }
        guard let found else {
            print("skipped: \(name) is not installed")
            return
        }
        let burn: @convention(c) (UInt64) -> Void = clinux_burn
        let address = UInt64(UInt(bitPattern: unsafeBitCast(burn, to: UnsafeRawPointer.self)))
        var symbolizer = Symbolizer()
        symbolizer.tool = found
        let map = CodeMap(maps: SystemFile.text("/proc/self/maps").utf8)
        let named = try await symbolizer.names(of: [address], in: map)
        #expect(named.notes == [])
        #expect(named.symbols.frames(at: address).map(\.name) == ["clinux_burn"])
    }

    @Test("The output of tools: inlined functions, unknown ones, unrelated lines")
    func output() {
        let output = """
            warning: something
            0x10
            inner
            /a.swift:1
            outer
            /b.swift:2 (discriminator 3)
            0x0000000000000020
            ??
            ??:0

            0x30
            alone
            """
        #expect(Symbolizer.functions(Array(output.utf8)) == [0x10: ["inner", "outer"], 0x30: ["alone"]])
    }
}

// MARK: - The sampled work

enum Burner {
    /// Repeats `body` on one thread per name, until the thread has used this much CPU time.
    ///
    /// - Returns: the CPU time in nanoseconds by name.
    static func run(
        _ names: [String], milliseconds: Int64 = 1000, _ body: @escaping @Sendable (String) -> Void
    ) -> [String: Int64] {
        run(names, milliseconds: milliseconds, until: { true }, body)
    }

    /// Runs until each thread has `count` samples: on a busy processor they may be rare, see `SignalSampler`.
    static func run(
        _ names: [String], milliseconds: Int64 = 1000, samples count: Int, of sampler: SignalSampler,
        _ body: @escaping @Sendable (String) -> Void
    ) -> [String: Int64] {
        run(
            names, milliseconds: milliseconds,
            until: { names.allSatisfy { sampler.sampleCount(onThreadsNamed: $0) >= count } }, body)
    }

    /// Runs until `isEnough`, which is called on this thread.
    static func run(
        _ names: [String], milliseconds: Int64 = 1000, until isEnough: () -> Bool,
        _ body: @escaping @Sendable (String) -> Void
    ) -> [String: Int64] {
        let used = Guarded<[String: Int64]>([:])
        let isOver = Guarded(false)
        let threads = names.map { name in
            OwnThread {
                clinux_set_own_name(name)
                // So much that a wait in vain fails.
                while MonotonicClock.threadCPU() < milliseconds * 20_000_000,
                    MonotonicClock.threadCPU() < milliseconds * 1_000_000 || !isOver.read()
                { body(name) }
                used.withLock { $0[name] = MonotonicClock.threadCPU() }
            }
        }
        while !isEnough(), used.read().isEmpty { usleep(5000) }
        isOver.withLock { $0 = true }
        for thread in threads { thread.join() }
        return used.read()
    }
}

@inline(never) func burnAlone() { clinux_burn(100_000) }
@inline(never) func burnBriefly(_ iterations: UInt64) { clinux_burn(iterations) }
@inline(never) func burnLonger(_ iterations: UInt64) { clinux_burn(iterations) }

/// Not in tail position, so that each call has a frame.
@inline(never) @discardableResult func callDeep(_ depth: Int) -> Int {
    if depth == 0 {
        clinux_burn(100_000)
        return 0
    }
    return callDeep(depth - 1) + 1
}

private final class Allocated {
    var more: Allocated?
    init(_ more: Allocated?) { self.more = more }
}

@inline(never) func allocate(_ count: Int) {
    var kept: Allocated?
    for index in 0..<count { kept = Allocated(index % 3 == 0 ? nil : kept) }
    withExtendedLifetime(kept) {}
}

/// qsort(3) calls back from a library without frame pointers.
@inline(never) func sortByLibrary(_ count: Int) {
    var numbers = (0..<count).map { ($0 &* 7919) % 1009 }
    qsort(&numbers, count, MemoryLayout<Int>.stride) { first, second in
        compared(first!.load(as: Int.self), second!.load(as: Int.self))
    }
}

@inline(never) func compared(_ first: Int, _ second: Int) -> Int32 { first < second ? -1 : first > second ? 1 : 0 }

@inline(never) func changeStrings(_ count: Int) {
    var text = ""
    for index in 0..<count {
        text += "\(index) and \(Double(index) / 3)"
        if let number = Int(text.suffix(2)) { text += String(number, radix: 16) }
    }
    withExtendedLifetime(text) {}
}
