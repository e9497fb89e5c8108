import CLinux
import CLinuxMeasure
import Glibc
import OpBenchLaunch
import OpBenchModel

/// perf, attached to this process or to a child of it. It is a child of this process, and the kernel kills it when this
/// process ends for any reason. So streams, parent and `/proc/self/exe` of a profiled process are the same as of any
/// other.
///
/// Create it on the main thread, preferably before the process has other threads: perf sees threads that start later
/// from their beginning. It records until `end`; `PerfReader` drops everything outside the marks.
final class PerfRecorder: ProfileRecorder {
    static let patienceSeconds = 20
    /// Time for perf to write its data and end.
    fileprivate static let endingSeconds = 60

    let file: String
    private let perf: Attachment

    /// Returns once perf is recording.
    ///
    /// - Parameters:
    ///   - folder: the folder for the raw file, which is not removed.
    ///   - child: the process to record; nil for this one. A program's own process is in the reach of the terminal's
    ///     Ctrl-C, which perf must not get, and may run for long.
    ///   - program: the path of perf; tests use another program.
    /// - Throws: `PerfFailure`; `DiskError` if no file descriptor is free.
    init(_ events: PerfEvents, folder: String, of child: pid_t? = nil, program: String = "perf") throws {
        file = "\(folder)/\(events.fileName)"
        let frequency = child == nil ? PerfEvents.frequency : PerfEvents.programFrequency
        perf = try Self.attach(
            program, ["perf"] + events.record(into: file, frequency: frequency), events.targets(child ?? getpid()),
            hasOwnGroup: child != nil)
    }

    /// Attaches to the first target that is permitted; throws the failure of the last. Tries the last again if a thread
    /// ended while perf attached to all threads.
    private static func attach(
        _ program: String, _ arguments: [String], _ targets: [[String]], hasOwnGroup: Bool
    ) throws -> Attachment {
        for target in targets.dropLast() {
            if let attachment = try? Attachment(program, arguments + target, hasOwnGroup) { return attachment }
        }
        let last = arguments + (targets.last ?? [])
        for _ in 1..<attempts {
            do {
                return try Attachment(program, last, hasOwnGroup)
            } catch let failure as PerfFailure where failure == .threadEnded {
                continue
            }
        }
        return try Attachment(program, last, hasOwnGroup)
    }

    private static let attempts = 5

    /// The CPU time that perf has used, in nanoseconds; nil if it is unknown.
    var cpuTime: Int64? { perf.cpuTime }

    func begin() {}
    func roundBegins() {}
    func roundDrained() {}

    /// Makes perf write its data, and waits for it.
    ///
    /// - Throws: `PerfFailure` if it ended early or could not write everything.
    func end() throws {
        // The missing rest would make every figure per operation too low.
        guard try perf.end() != .early else {
            throw PerfFailure(
                reason: "its file would be larger than \(PerfEvents.largestFile)",
                remedy: "profile a shorter time with --seconds, or fewer operations")
        }
    }

    /// The same for a process that has ended, with which perf may have ended.
    ///
    /// - Returns: whether the file reached its limit before, so that it lacks the rest.
    func endWithProcess() throws -> Bool { try perf.end() == .early && perf.reachedLimit }
}

/// A perf process that records this process.
private final class Attachment {
    private var process: pid_t = 0
    /// perf's messages go to a file in memory, since nobody reads them while it runs.
    private let messages: MemoryFile
    private let commands: Int32
    /// Closes when perf ends, because perf holds the other end.
    private let answers: Int32

    init(_ program: String, _ arguments: [String], _ hasOwnGroup: Bool) throws {
        messages = try MemoryFile()
        let (toPerf, fromPerf) = (try Self.pipe(), try Self.pipe())
        (commands, answers) = (toPerf.write, fromPerf.read)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        process = Tool.start(
            program, arguments + ["--control", "fd:3,4"], PerfEvents.environment,
            hasOwnGroup: hasOwnGroup, files: [null, null, messages.descriptor, toPerf.read, fromPerf.write])
        for descriptor in [null, fromPerf.write] { close(descriptor) }
        // Stays open until perf has answered, because writing to a pipe without a reader fails.
        defer { close(toPerf.read) }
        guard process > 0 else { throw PerfFailure(startError: -process) }
        // perf answers once it is attached.
        try? FileBytes.write("enable\n", to: commands)
        guard waitForAnswer(seconds: PerfRecorder.patienceSeconds) else {
            kill(process, SIGKILL)
            _ = wait()
            throw PerfFailure.noAnswer
        }
        var answer = [UInt8](repeating: 0, count: 16)
        let length = read(answers, &answer, answer.count)
        guard length > 0 else { throw failure(wait()) }
    }

    deinit {
        if process > 0 {
            kill(process, SIGKILL)
            _ = wait()
        }
        close(commands)
        close(answers)
    }

    var cpuTime: Int64? {
        var clock: clockid_t = 0
        guard process > 0, clock_getcpuclockid(process, &clock) == 0 else { return nil }
        let time = clinux_cpu_clock_ns(clock)
        return time < 0 ? nil : time
    }

    enum Ending {
        case asked
        /// By itself: its file reached the limit, or the process that it recorded ended.
        case early
    }

    /// Whether it ended because its file reached the limit.
    var reachedLimit: Bool { String(decoding: messages.tail(8000), as: UTF8.self).contains("size limit reached") }

    func end() throws -> Ending {
        guard process > 0 else { return .asked }
        var early: Int32 = 0
        if waitpid(process, &early, WNOHANG) == process {
            process = 0
            guard early == 0 else { throw failure(early) }
            return .early
        }
        // This signal makes perf end cleanly.
        kill(process, SIGINT)
        guard waitForAnswer(seconds: PerfRecorder.endingSeconds) else {
            kill(process, SIGKILL)
            _ = wait()
            throw PerfFailure(reason: "it did not end within \(PerfRecorder.endingSeconds) s")
        }
        let status = wait()
        // perf re-raises the signal that ended it, or exits with 0.
        guard status == 0 || status & 0x7F == SIGINT else { throw failure(status) }
        return .asked
    }

    private func failure(_ status: Int32) -> PerfFailure {
        PerfFailure(
            text: String(decoding: messages.contents().suffix(8000), as: UTF8.self),
            ending: PerfFailure.ending(status), paranoia: PerfFailure.paranoia)
    }

    private func wait() -> Int32 {
        defer { process = 0 }
        return clinux_wait_for(process)
    }

    /// Whether perf has answered or ended in time.
    private func waitForAnswer(seconds: Int) -> Bool {
        var poll = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
        var count: Int32
        repeat { count = Glibc.poll(&poll, 1, Int32(seconds * 1000)) } while count < 0 && errno == EINTR
        return count > 0
    }

    private static func pipe() throws(DiskError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        let code = clinux_pipe(&ends)
        if code != 0 { throw DiskError(path: "a pipe", code: code) }
        return (ends[0], ends[1])
    }
}
