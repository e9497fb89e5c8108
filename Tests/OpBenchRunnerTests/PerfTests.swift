import CLinux
import CLinuxMeasure
import Foundation
import Glibc
import OpBenchBackends
import OpBenchLaunch
import OpBenchProfile
import Synchronization
import TestSupport
import Testing

@testable import OpBenchRunner

/// Tests with a real perf are skipped if this machine does not permit it.
private let means = ProfileMeans.probe()

@Suite("Profiles by perf", .serialized) struct PerfTests {
    private struct Recorded: Sendable {
        var file: String
        var process = getpid()
        var marks: MarkedTime
        var threads: [Int32: String]
        var recorderTime: Int64?
        /// The same after the recorder has ended.
        var laterTime: Int64?
    }

    /// Names of threads by their numbers.
    private final class Names: Sendable {
        private let names = Mutex<[Int32: String]>([:])
        func take(_ name: String) { names.withLock { $0[clinux_gettid()] = name } }
        var all: [Int32: String] { names.withLock { $0 } }
    }

    // Recorded in separate processes: perf attaches to each thread, and the threads of other tests start and end.

    /// Records the body, on a thread that lives as long as perf, between marks.
    private static func record(_ events: PerfEvents, _ body: @escaping @Sendable (Names) -> Void) async throws
        -> Recorded
    {
        let folder = try Fixture.folder()
        return try await Fixture.onOwnThread {
            Result {
                let recorder = try PerfRecorder(events, folder: folder)
                let names = Names()
                let begin = MonotonicClock.now()
                body(names)
                let (end, recorderTime) = (MonotonicClock.now(), recorder.cpuTime)
                try recorder.end()
                return Recorded(
                    file: recorder.file, marks: MarkedTime([begin..<end]), threads: names.all,
                    recorderTime: recorderTime, laterTime: recorder.cpuTime)
            }
        }.get()
    }

    private static let burned: Int64 = 200_000_000

    @Test(.enabled(if: means[.cpu].means == .perf, "perf cannot sample CPU time here"))
    func `a loop's CPU time is attributed to its function and its thread`() async throws {
        await #expect(processExitsWith: .success) {
            let patience = Patience()
            while true {
                let recorded = try await PerfTests.record(.cpu) { names in
                    names.take("burning thread")
                    let clock = clinux_own_cpu_clock()
                    let end = clinux_cpu_clock_ns(clock) + PerfTests.burned
                    while clinux_cpu_clock_ns(clock) < end { clinux_burn(100_000) }
                }
                let reader = PerfReader(
                    process: recorded.process, marks: recorded.marks, threads: recorded.threads)
                let cpu = try await reader.cpu(recorded.file)
                let profile = cpu.profile
                let thread = try #require(profile.threads.firstIndex(of: "burning thread"))
                let own = profile.filtered { $0.thread == UInt32(thread) }
                // A busy host delays the samples' timer and perf itself, which loses samples but adds none.
                #expect(own.total < PerfTests.burned * 5 / 4, "\(own.total)")
                if cpu.lost > 0 || own.total < PerfTests.burned / 4, !patience.isOver() { continue }
                #expect(cpu.lost == 0 && own.total >= PerfTests.burned / 4, "\(cpu.lost) lost; \(own.total)")
                let burn = own.functions().first { $0.frame.symbol == "clinux_burn" }
                #expect((burn?.own ?? 0) > own.total * 8 / 10)
                let table = ClassTable(own, on: .engine)
                #expect(table.unknownCallersShare <= StackReport.mostUnknownCallers, "\(table.unknownCallersShare)")
                #expect(cpu.skippedLines == 0)
                return
            }
        }
    }

    @Test(.enabled(if: means[.cpu].means == .perf, "perf cannot sample CPU time here"))
    func `time outside the marks does not count`() async throws {
        await #expect(processExitsWith: .success) {
            var recorded = try await PerfTests.record(.cpu) { names in
                names.take("burning thread")
                let end = MonotonicClock.now() + 100_000_000
                while MonotonicClock.now() < end { clinux_burn(10_000) }
            }
            recorded.marks = MarkedTime([1..<2])
            let cpu = try await PerfReader(process: recorded.process, marks: recorded.marks, threads: recorded.threads)
                .cpu(recorded.file)
            #expect(cpu.profile.total == 0 && cpu.profile.samples.isEmpty)
        }
    }

    private static let handOvers = 20

    @Test(.enabled(if: means[.offcpu].means == .perf, "the kernel's tracepoints may not be used here"))
    func `each wake-up of a thread by another is found, with its cause`() async throws {
        await #expect(processExitsWith: .success) {
            let recorded = try await PerfTests.record(.wakeUps) { names in
                names.take("waker")
                Sleeper(names).wake(times: PerfTests.handOvers)
            }
            let profile = try await PerfReader(
                process: recorded.process, marks: recorded.marks, threads: recorded.threads
            ).offCPU(recorded.file)
            let sleeper = try #require(profile.threads.first { $0.name == "sleeper" })
            let waker = try #require(profile.threads.first { $0.name == "waker" })
            let ended = profile.waits.count { $0.thread == sleeper.id && $0.waker?.thread == waker.id }
            // The thread's start may also be a wait, for its creator. A thread that is woken on its way to sleep waits for
            // no time.
            #expect((PerfTests.handOvers / 2...PerfTests.handOvers + 2).contains(ended), "\(ended)")
            #expect(profile.wakeUps.count >= PerfTests.handOvers)
            #expect(sleeper.voluntary >= PerfTests.handOvers && sleeper.blocked > 0)
            let asleep = profile.blocked.filtered { profile.blocked.threads[Int($0.thread)] == "sleeper" }
            // The caller of a function without a frame, such as syscall(2), is missing from the chain of frame
            // pointers.
            let inFutex = asleep.functions().filter { $0.frame.name.contains("Sleeper.wake") }.map(\.withCallees).max()
            #expect((inFutex ?? 0) > asleep.total * 9 / 10, "\(asleep.folded())")
            #expect(profile.causes.contains { $0.cause == .futex && $0.count >= PerfTests.handOvers })
            #expect(profile.lost == 0 && profile.knowsWakers)
            #expect(recorded.recorderTime ?? 0 > 0 && recorded.laterTime == nil)
        }
    }

    /// A thread that repeatedly sleeps on a word until it is woken.
    private final class Sleeper: @unchecked Sendable {
        private let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        private let id = Atomic<Int32>(0)
        private let names: Names

        init(_ names: Names) {
            self.names = names
            word.initialize(to: Atomic(0))
        }

        deinit { word.deallocate() }

        private var futex: UnsafePointer<UInt32> {
            UnsafePointer(UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self))
        }

        /// Wakes the thread each time that it sleeps.
        func wake(times: Int) {
            let thread = OwnThread { [self] in
                names.take("sleeper")
                id.store(clinux_gettid(), ordering: .releasing)
                for round in 0..<UInt32(times) {
                    while word.pointee.load(ordering: .acquiring) == round { _ = clinux_futex_wait(futex, round, -1) }
                }
            }
            var number: Int32 = 0
            while number == 0 { number = id.load(ordering: .acquiring) }
            for round in 0..<UInt32(times) {
                while clinux_thread_state(-1, number) != Int32(UInt8(ascii: "S")) { sched_yield() }
                word.pointee.store(round + 1, ordering: .releasing)
                clinux_futex_wake(futex, 1)
            }
            thread.join()
        }
    }

    // MARK: Failures

    private func failure(_ program: String) async throws -> PerfFailure? {
        let folder = try Fixture.folder()
        return await Fixture.onOwnThread { () -> PerfFailure? in
            do {
                _ = try PerfRecorder(.cpu, folder: folder, program: program)
                return nil
            } catch { return error as? PerfFailure }
        }
    }

    /// A program that replaces perf.
    private func program(_ script: String) throws -> String {
        let path = "\(try Fixture.folder())/perf"
        ExecutableFile.writeScript(script, to: path)
        return path
    }

    @Test func `a perf that is missing or does not fit the kernel is reported with the remedy`() async throws {
        #expect(try await failure("/nowhere/perf") == .missing)
        let wrapper = try program("echo 'WARNING: perf not found for kernel 5.15.0-91' >&2; exit 2")
        #expect(try await failure(wrapper)?.remedy.contains("linux-tools-$(uname -r)") == true)
        let crashing = try program("kill -SEGV $$")
        #expect(try await failure(crashing)?.reason.contains("SIGSEGV") == true)
    }

    @Test func `a perf that does not end is reported with a remedy`() throws {
        let failure = PerfTrial.failure(of: .cpu, program: try program("exec sleep 1000"), patienceSeconds: 0)
        #expect(failure?.remedy.contains("perf record") == true)
    }

    @Test func `neither a system without permission to record nor a thread that ends meanwhile is a failure`()
        async throws
    {
        let path = try program(
            """
            case "$*" in *' -a '*) exit 255 ;; esac
            test -e "$0.tried" && { printf 'ack\\n' >&4; exec 4>&-; exec sleep 1000; }
            touch "$0.tried"; echo 'WARNING: Ignored open failure for pid 17' >&2; exit 255
            """)
        let folder = try Fixture.folder()
        let failure = await Fixture.onOwnThread { () -> (any Error)? in
            do {
                try PerfRecorder(.cpu, folder: folder, program: path).end()
                return nil
            } catch { return error }
        }
        #expect(failure == nil)
    }

    @Test func `a perf that is killed half way is reported`() async throws {
        let path = try program("trap '' INT; printf 'ack\\n' >&4; exec 4>&-; kill -KILL $$")
        let folder = try Fixture.folder()
        let failure = await Fixture.onOwnThread { () -> PerfFailure? in
            do {
                let recorder = try PerfRecorder(.cpu, folder: folder, program: path)
                try recorder.end()
                return nil
            } catch { return error as? PerfFailure }
        }
        #expect(failure?.reason.contains("SIGKILL") == true)
    }

    @Test func `a perf file that is missing or invalid is reported`() async throws {
        let reader = PerfReader(process: 1, marks: MarkedTime([]), threads: [:])
        let folder = try Fixture.folder()
        await #expect(throws: PerfFailure.self) { _ = try await reader.cpu("\(folder)/none") }
        try Data("none".utf8).write(to: URL(fileURLWithPath: "\(folder)/file"))
        await #expect(throws: PerfFailure.self) { _ = try await reader.cpu("\(folder)/file") }
        var missing = reader
        missing.program = "/nowhere/perf"
        await #expect(throws: PerfFailure.missing) { _ = try await missing.cpu("\(folder)/file") }
    }

    @Test func `a tool ends with the thread that started it`() async throws {
        let process = await Fixture.onOwnThread {
            let null = open("/dev/null", O_RDWR | O_CLOEXEC)
            defer { close(null) }
            return Tool.start("sleep", ["sleep", "1000"], [:], files: [null, null, null])
        }
        #expect(process > 0)
        let status = await Fixture.onOwnThread { clinux_wait_for(process) }
        #expect(status & 0x7F == SIGKILL)
    }

    @Test func `a tool does not inherit ignored signals`() async throws {
        let output = try MemoryFile()
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        // No other test writes more than the limit.
        signal(SIGXFSZ, SIG_IGN)
        defer { signal(SIGXFSZ, SIG_DFL) }
        let status = await Fixture.onOwnThread {
            clinux_wait_for(
                Tool.start(
                    "grep", ["grep", "SigIgn", "/proc/self/status"], [:], files: [null, output.descriptor, null]))
        }
        #expect(status == 0)
        let text = String(decoding: output.contents(), as: UTF8.self)
        let ignored = try #require(UInt64(text.split(separator: "\t")[1].dropLast(), radix: 16))
        // Signals 32 and 33 are the C library's own, and may not be changed.
        #expect(ignored & ~(3 << 31) == 0, "\(text)")
    }

    @Test func `a pipe is closed in every program that starts meanwhile`() {
        var ends: [Int32] = [-1, -1]
        #expect(clinux_pipe(&ends) == 0)
        for end in ends {
            #expect(fcntl(end, F_GETFD) == FD_CLOEXEC)
            close(end)
        }
    }

    @Test func `a tool has only the given descriptors`() async throws {
        let (output, other) = (try MemoryFile(), try MemoryFile())
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        let status = await Fixture.onOwnThread {
            let process = Tool.start(
                "sh", ["sh", "-c", "echo $NAME; exec ls /proc/self/fd"], ["NAME": "a value"],
                files: [null, output.descriptor, null, other.descriptor])
            return clinux_wait_for(process)
        }
        #expect(status == 0)
        // The last is the folder that ls reads.
        #expect(String(decoding: output.contents(), as: UTF8.self) == "a value\n0\n1\n2\n3\n4\n")
    }
}
