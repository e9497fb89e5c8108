import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

/// Two threads, two marks; all figures are computed by hand.
@Suite("Off-CPU profiles")
struct OffCPUTests {
    static let park = """
        \tffffffff81000100 futex_wait+0x77 ([kernel.kallsyms])
        \t          1018f9 syscall+0x19 (/usr/lib/x86_64-linux-gnu/libc.so.6)
        \t            2000 $s15OperationEngine6ParkerV4parkyyF+0x8 (/tmp/opbench)
        \t           891f5 start_thread+0x305 (/usr/lib/x86_64-linux-gnu/libc.so.6)
        """
    static let sleep = """
        \tffffffff81000200 do_nanosleep+0x77 ([kernel.kallsyms])
        \t           891f5 start_thread+0x305 (/usr/lib/x86_64-linux-gnu/libc.so.6)
        """
    static let submit = """
        \tffffffff81000300 try_to_wake_up+0x77 ([kernel.kallsyms])
        \t            3000 submit+0x8 (/tmp/opbench)
        """

    /// Nanoseconds after 100 s.
    static func time(_ offset: Int) -> String {
        "100." + String(repeating: "0", count: 9 - "\(offset)".count) + "\(offset):"
    }
    static func worker(_ offset: Int, _ event: String, _ stack: String = "") -> String {
        "engine normal 1  5/10  \(time(offset)) \(event)\n" + (stack.isEmpty ? "\n" : stack + "\n\n")
    }
    static func submitter(_ offset: Int, _ event: String, _ stack: String = "") -> String {
        "submitter 1     5/20    \(time(offset)) \(event)\n" + (stack.isEmpty ? "\n" : stack + "\n\n")
    }
    static func switched(_ thread: Int, _ state: String) -> String {
        "sched:sched_switch: prev_comm=a prev_state=Z b prev_pid=\(thread) prev_prio=120 prev_state=\(state) ==> "
            + "next_comm=swapper/0 next_pid=0 next_prio=120"
    }
    static func wakes(_ thread: Int) -> String {
        "sched:sched_waking: comm=x pid=7 y pid=\(thread) prio=120 target_cpu=001"
    }

    static let script =
        submitter(0, "PERF_RECORD_SWITCH IN         ") + worker(0, "PERF_RECORD_SWITCH IN")
        // Blocked for 2,000 ns within the mark, woken by the submitter, 1,000 ns late.
        + worker(500, switched(10, "S"), park) + worker(510, "PERF_RECORD_SWITCH OUT")
        + submitter(3000, wakes(10), submit) + worker(4000, "PERF_RECORD_SWITCH IN")
        // Preempted for 1,000 ns.
        + worker(6000, switched(10, "R+"), park) + worker(6010, "PERF_RECORD_SWITCH OUT preempt")
        + worker(7000, "PERF_RECORD_SWITCH IN")
        // Sleeps beyond the mark's end.
        + worker(8000, switched(10, "S"), sleep) + submitter(9000, switched(20, "S"), park)
        + "swapper     0/0     \(time(12000)) \(wakes(10))\n\n" + worker(12500, "PERF_RECORD_SWITCH IN")
        // The worker wakes the submitter, which wakes the worker.
        + worker(21000, wakes(20), submit) + submitter(21500, "PERF_RECORD_SWITCH IN")
        + worker(22000, switched(10, "S"), park) + submitter(24000, wakes(10), submit)
        + worker(24200, "PERF_RECORD_SWITCH IN") + worker(31000, switched(10, "S"), park)
        + submitter(32000, switched(20, "S"), park)

    static let start: Int64 = 100_000_000_000
    static let marks = MarkedTime([start + 1000..<start + 11000, start + 20000..<start + 30000])

    private func profile() -> OffCPU { OffCPU(SchedScript(Array(Self.script.utf8)), marks: Self.marks) }

    @Test func `events of threads that have ended, and have no id, are left out`() {
        let ended = ":-1  5/-1  \(Self.time(500)) \(Self.switched(10, "X"))\n\(Self.park)\n\n"
        let script = SchedScript(Array(Self.script.utf8))
        let longer = SchedScript(Array((Self.script + ended).utf8))
        #expect(longer.events == script.events && longer.threadNames == script.threadNames)
        #expect(longer.skippedLines == 0)
    }

    @Test func `each thread's times equal those computed by hand`() {
        let profile = profile()
        #expect(profile.marks.duration == 20_000)
        #expect(profile.threads.map(\.name) == ["engine normal 1", "submitter 1"])
        let (worker, submitter) = (profile.threads[0], profile.threads[1])
        #expect([worker.running, worker.waiting, worker.blocked] == [10_800, 2_200, 7_000])
        #expect([worker.voluntary, worker.involuntary] == [2, 1])
        #expect([submitter.running, submitter.waiting, submitter.blocked] == [16_500, 500, 3_000])
        #expect([submitter.voluntary, submitter.involuntary] == [1, 0])
    }

    @Test func `causes and stacks add up to the time without a processor`() {
        let profile = profile()
        #expect(
            profile.causes == [
                .init(cause: .futex, time: 7000, count: 2), .init(cause: .sleep, time: 3000, count: 1),
                .init(cause: .preempted, time: 1000, count: 1),
            ])
        #expect(profile.blocked.total == 10_000)
        let parked = profile.blocked.functions().first { $0.frame.name.contains("park") }
        #expect(parked?.withCallees == 7000)
        #expect(profile.wakers.functions().first { $0.frame.name == "submit" }?.withCallees == 7000)
    }

    @Test func `waits have their wakers, and wake-ups their delay`() {
        let profile = profile()
        #expect(profile.wakeUps == (3, 1000 + 500 + 200))
        #expect(profile.waits.map(\.thread) == [10, 10, 20, 10])
        #expect(profile.waits.map(\.length) == [2000, 3000, 3000, 2000])
        #expect(profile.waits.map { $0.waker?.thread } == [20, nil, 10, 20])
        #expect(profile.waits.map { $0.waker?.wait } == [nil, nil, 1, 2])
    }

    // MARK: A lock that is handed on

    static let look = """
        \tffffffff81000100 futex_wait+0x77 ([kernel.kallsyms])
        \t          1018f9 syscall+0x19 (/usr/lib/x86_64-linux-gnu/libc.so.6)
        \t            4000 $s6server4lookyyF+0x8 (/tmp/server)
        \t            4100 $s6server7DrawingC4mainyyF+0x8 (/tmp/server)
        \t            2100 $s15OperationEngine6RunnerV3runyyF+0x8 (/tmp/server)
        """
    static let dispatch = "\t            3000 _dispatch_semaphore_signal_slow+0x8 (/lib/libdispatch.so)\n"
    static let refresh = look.replacing("$s6server4lookyyF", with: "$s6server14RefreshPaletteC4mainyyF")
        .replacing("$s6server7DrawingC4mainyyF", with: "$s6server7refreshyyF")
        .replacing("libc.so.6)\n", with: "libc.so.6)\n" + dispatch)
    static let stock = look.replacing("$s6server4lookyyF", with: "$s6server5stockyyF")
    static let interrupted = """
        \tffffffff81000400 try_to_wake_up+0x77 ([kernel.kallsyms])
        \tffffffff81000500 asm_sysvec_apic_timer_interrupt+0x1a ([kernel.kallsyms])
        """ + "\n" + look

    static func thread(_ id: Int, _ offset: Int, _ event: String, _ stack: String = "") -> String {
        "engine \(id)  5/\(id)  \(time(offset)) \(event)\n" + (stack.isEmpty ? "\n" : stack + "\n\n")
    }

    /// Threads 10 and 20 wait for thread 30, which wakes the first of them, and that one the other. Then thread 30
    /// sleeps in its body until an interrupt, thread 10 waits for thread 20, and all wait for work.
    static let handedOn =
        [10, 20, 30].map { thread($0, 1000, "PERF_RECORD_SWITCH IN") }.joined()
        + thread(10, 2000, switched(10, "S"), look) + thread(20, 2500, switched(20, "S"), stock)
        + thread(30, 8000, wakes(10), refresh) + thread(10, 8100, "PERF_RECORD_SWITCH IN")
        + thread(30, 8150, switched(30, "S"), sleep + "\n" + dispatch + look.components(separated: "\n").last!)
        + thread(10, 8200, wakes(20), look) + thread(20, 8300, "PERF_RECORD_SWITCH IN")
        + thread(20, 8500, wakes(30), interrupted) + thread(30, 8600, "PERF_RECORD_SWITCH IN")
        + thread(10, 8700, switched(10, "S"), look) + thread(20, 8900, wakes(10), look)
        + thread(10, 9000, "PERF_RECORD_SWITCH IN")
        + [10, 20, 30].map { thread($0, 9500, switched($0, "S"), park) }.joined()

    /// Operations of the queues `drawings` and `others` on these threads, from the instant 1 µs on.
    private func recording(by threads: [Int32]) -> Recording {
        var trace = SampleTrace(workerCount: 2)
        trace.threads = threads.map { SampleTrace.Thread(name: "engine \($0)", role: .worker, id: $0) }
        trace.queues = ["drawings", "others"].map { SampleTrace.Queue(name: $0) }
        trace.classes = ["Drawing", "RefreshPalette"]
        trace.operations = [
            TracedOperation(submit: 0, start: 500, end: 7500, worker: 0),
            TracedOperation(submit: 0, start: 500, end: 7600, worker: 1),
            TracedOperation(submit: 0, start: 100, end: 7900, worker: 2, queue: 1, operationClass: 1),
            // Within the one before, until it began to refresh.
            TracedOperation(submit: 0, start: 200, end: 300, worker: 2),
        ]
        return Recording(
            trace: trace, details: [], program: "server", startDate: 0, clockStart: Self.start + 1000, lostEvents: 0,
            partialOperations: 0, missingParts: 0, isCut: false, unreadBytes: 0)
    }

    @Test(arguments: [("a lock that is handed on", [Int32(10), 20, 30]), ("other threads recorded", [40, 50, 60])])
    func `waits are of bodies, and go to the one who held the lock first`(section: String, threads: [Int32]) {
        let profile = OffCPU(
            SchedScript(Array(Self.handedOn.utf8)), marks: MarkedTime([Self.start..<Self.start + 9500]))
        #expect(profile.waits.map(\.thread) == [10, 20, 30, 10])
        #expect(profile.waits.map(\.length) == [6000, 5700, 350, 200])
        #expect(profile.waits.map { $0.waker?.thread } == [30, 10, nil, 20])
        let report = OffCPUReport(
            profile, on: .engine, operations: 0, bodies: RecordedBodies(recording(by: threads)))
        Golden("off-cpu-report").expect(report.lines().joined(separator: "\n"), section)
    }

    @Test func `a body does not outlive the thread on which it began`() {
        var recording = recording(by: [10, 20, 30])
        recording.trace.operations = [
            TracedOperation(submit: 0, start: 100, end: 900, worker: 0),
            TracedOperation(submit: 0, start: 700, end: 800, worker: 0, queue: 1, operationClass: 1),
        ]
        func groups() -> [String?] {
            [200, 600, 750, 850].map { RecordedBodies(recording).group(of: 10, at: recording.clockStart + $0) }
        }
        let (first, second) = ("Drawing in drawings", "RefreshPalette in others")
        #expect(groups() == [first, first, second, first])
        // The second is on another thread, which has the first one's id.
        recording.trace.threadEvents = [TracedThreadEvent(time: 500, thread: 0, kind: .end)]
        #expect(groups() == [first, nil, second, nil])
    }

    // MARK: Reports

    @Test func `the report contains the figures`() {
        expectGolden(profile(), operations: 10, "by tracepoints")
    }

    private func expectGolden(_ profile: OffCPU, operations: Int, _ section: String) {
        Golden("off-cpu-report").expect(
            OffCPUReport(profile, on: .engine, operations: operations).lines().joined(separator: "\n"), section)
    }

    @Test func `threads have their given names`() {
        let profile = OffCPU(SchedScript(Array(Self.script.utf8)), marks: Self.marks, names: [10: "dispatch 1"])
        #expect(profile.threads.map(\.name) == ["dispatch 1", "submitter 1"])
        #expect(profile.blocked.threads.contains("dispatch 1"))
    }

    @Test func `numbers of another namespace are mapped to the threads`() {
        let text = Self.script.replacing("prev_pid=10", with: "prev_pid=910").replacing(" pid=10 ", with: " pid=910 ")
        let profile = OffCPU(SchedScript(Array(text.utf8)), marks: Self.marks)
        #expect(profile.threads.map(\.blocked) == [7000, 3000] && profile.wakeUps.count == 3)
    }

    @Test func `events from the time of lost records are not counted`() throws {
        let cut = Self.script.components(separated: Self.worker(7000, "PERF_RECORD_SWITCH IN"))
        let text = cut[0] + Self.worker(6900, "PERF_RECORD_LOST lost 17") + cut[1]
        let profile = OffCPU(SchedScript(Array(text.utf8)), marks: Self.marks)
        #expect(profile.lost == 17)
        // The preemption has no end, and the worker's earlier state is unknown.
        let worker = try #require(profile.threads.first { $0.id == 10 })
        #expect([worker.running, worker.waiting, worker.blocked] == [9800, 1200, 7000])
        expectGolden(profile, operations: 0, "events were lost")
    }

    @Test func `switches without tracepoints give the time, but not the waking thread`() {
        let text =
            Self.worker(0, "PERF_RECORD_SWITCH IN")
            + Self.worker(2000, "context-switches:k:", Self.park) + Self.worker(2010, "PERF_RECORD_SWITCH OUT")
            + Self.worker(5000, "PERF_RECORD_SWITCH IN") + Self.worker(6000, "context-switches:k:", Self.park)
            + Self.worker(6005, "PERF_RECORD_SWITCH OUT preempt") + Self.worker(7000, "PERF_RECORD_SWITCH IN")
        let profile = OffCPU(SchedScript(Array(text.utf8)), marks: Self.marks)
        #expect(profile.threads.map(\.blocked) == [3000] && profile.threads.map(\.waiting) == [1000])
        #expect(!profile.knowsWakers && profile.causes.map(\.cause) == [.futex, .preempted])
        expectGolden(profile, operations: 1, "by switches")
    }

    @Test func `threads of other processes are not in the profile`() {
        let text = Self.script + Self.submitter(25000, Self.wakes(4711), Self.submit)
        let profile = OffCPU(SchedScript(Array(text.utf8)), marks: Self.marks)
        #expect(profile.threads.map(\.id) == [10, 20] && profile.wakeUps.count == 3)
    }

    @Test func `a thread that has waited since before the recording is recognized by its wake-up`() {
        let text =
            Self.submitter(0, "PERF_RECORD_SWITCH IN") + Self.submitter(3000, Self.wakes(10), Self.submit)
            + Self.worker(4000, "PERF_RECORD_SWITCH IN") + Self.submitter(40000, Self.switched(20, "S"), Self.park)
        let profile = OffCPU(SchedScript(Array(text.utf8)), marks: Self.marks)
        let worker = profile.threads.first { $0.id == 10 }
        #expect(worker?.blocked == 2000 && worker?.waiting == 1000)
    }

    @Test func `a wait without an end lasts to the last mark`() {
        let text = Self.worker(0, "PERF_RECORD_SWITCH IN") + Self.worker(5000, Self.switched(10, "S"), Self.park)
        let profile = OffCPU(SchedScript(Array(text.utf8)), marks: Self.marks)
        #expect(profile.threads.map(\.blocked) == [6000 + 10_000])
        #expect(profile.threads.map(\.running) == [4000])
    }

    @Test func `a thread that ends does not run until the last event`() {
        let text =
            Self.submitter(0, "PERF_RECORD_SWITCH IN") + Self.submitter(10, "PERF_RECORD_FORK(7:10):(7:20)")
            + Self.worker(20, "PERF_RECORD_SWITCH IN") + Self.worker(30, "PERF_RECORD_COMM: worker:7/10")
            + Self.worker(5000, "PERF_RECORD_EXIT(7:10):(7:20)")
            + Self.submitter(9000, Self.switched(20, "S"), Self.park)
        let script = SchedScript(Array(text.utf8))
        let worker = OffCPU(script, marks: Self.marks).threads.first { $0.id == 10 }
        #expect(worker?.running == 4000 && worker?.blocked == 0 && script.skippedLines == 0)
    }

    @Test func `marks are in order, disjoint and not empty`() {
        let marks = MarkedTime([5..<9, 1..<3, 8..<12, 4..<4])
        #expect(marks.ranges == [1..<3, 5..<12] && marks.duration == 9)
        #expect(marks.contains(1) && !marks.contains(3) && marks.contains(11) && !marks.contains(12))
        #expect(marks.overlap(from: 2, to: 6) == (2, 2) && marks.overlap(from: 3, to: 5) == (0, 3))
        #expect(marks.overlap(from: 20, to: 30) == (0, 20))
        #expect(MarkedTime([.min ..< .max]).duration == .max && MarkedTime([]).end == nil)
    }

    @Test func `input of any kind never traps`() {
        let base = Array(Self.script.utf8)
        var random = SystemRandomNumberGenerator()
        for round in 0..<Scale.hostileRounds {
            var bytes = base
            for _ in 0..<(1 + round % 40) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch round % 4 {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8(ascii: "9"), at: place)
                default: bytes = Array(bytes[..<max(1, place)])
                }
            }
            let script = SchedScript(bytes)
            for marks in [Self.marks, MarkedTime([0 ..< .max]), MarkedTime([.min ..< .max]), MarkedTime([])] {
                let profile = OffCPU(script, marks: marks)
                #expect(!OffCPUReport(profile, on: .engine, operations: 3).lines().isEmpty)
            }
        }
    }
}

private enum Scale { static let hostileRounds = 200 }

extension String {
    fileprivate func replacing(_ text: String, with other: String) -> String {
        components(separated: text).joined(separator: other)
    }

    fileprivate func components(separated text: String) -> [String] {
        var (parts, rest): ([String], Substring) = ([], self[...])
        while let range = rest.firstRange(of: text) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
