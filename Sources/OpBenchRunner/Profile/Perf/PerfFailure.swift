import Glibc

/// The reason for a failure of perf, and a remedy.
struct PerfFailure: Error, Equatable, CustomStringConvertible {
    /// In words, without a period.
    var reason: String
    /// A command or a sentence.
    var remedy: String

    var description: String { "perf: \(reason); \(remedy)" }

    /// For a failure that only perf can explain.
    private static let byHand = "see what it says by itself: perf record -e cpu-clock:u -o /dev/null -- true"

    static let missing = PerfFailure(
        reason: "it is not installed",
        remedy: "sudo apt-get install linux-perf; on Ubuntu, linux-tools-generic and linux-tools-$(uname -r)")

    static let noAnswer = PerfFailure(reason: "it did not start within \(PerfRecorder.patienceSeconds) s")

    /// Transient: perf lists the threads of a process, and then attaches to each.
    static let threadEnded = PerfFailure(reason: "a thread ended while it was attached", remedy: "try again")

    /// perf could not be started.
    init(startError code: Int32) {
        self =
            code == ENOENT
            ? .missing : PerfFailure(reason: "it cannot be started: \(String(cString: strerror(code)))")
    }

    init(reason: String, remedy: String = byHand) { (self.reason, self.remedy) = (reason, remedy) }

    /// Interprets perf's messages after a failure.
    ///
    /// - Parameters:
    ///   - text: its standard error.
    ///   - ending: how it ended, in words.
    ///   - paranoia: `kernel.perf_event_paranoid`; nil if the kernel has no such events.
    init(text: String, ending: String, paranoia: Int?) {
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        let wanted = says("sched:") ? -1 : 1
        if says("not found for kernel") {
            self.init(
                reason: "the installed version does not match the kernel",
                remedy: "sudo apt-get install linux-tools-$(uname -r)")
        } else if says("No space left on device", "Disk quota exceeded") {
            self.init(reason: "no space left on the disk", remedy: "free some, or name another folder with --output")
        } else if says("can't access trace events", "No permissions to read") {
            self.init(
                reason: "the kernel's tracepoints are not readable",
                remedy: "run as root, or: sudo mount -o remount,mode=755 /sys/kernel/tracing "
                    + "&& sudo sysctl kernel.perf_event_paranoid=-1")
        } else if says("unknown tracepoint", "tracefs not mounted", "File not found", "debugfs") {
            self.init(
                reason: "the kernel's tracepoints are not available",
                remedy: "sudo mount -t tracefs none /sys/kernel/tracing")
        } else if says("Permission error mapping pages", "perf_event_mlock_kb") {
            self.init(
                reason: "too little memory may be locked", remedy: "sudo sysctl kernel.perf_event_mlock_kb=16384")
        } else if let paranoia, paranoia >= wanted + 1,
            says("perf_event_paranoid", "Permission denied", "not permitted")
        {
            self.init(
                reason: "kernel.perf_event_paranoid is \(paranoia)",
                remedy: "sudo sysctl kernel.perf_event_paranoid=\(wanted), or run as root")
        } else if says("Operation not permitted", "not permitted", "Permission denied", "Access to performance") {
            self.init(
                reason: "perf_event_open(2) is not permitted",
                remedy: "in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined")
        } else if says("Function not implemented", "not supported", "No such file or directory", "ENOSYS") {
            self.init(reason: "this kernel has no perf events", remedy: "use another kernel or host")
        } else if says("Ignored open failure", "No such process") {
            self = .threadEnded
        } else if says("unknown option") {
            self.init(reason: "it is too old", remedy: "install perf of Linux 5.10 or later")
        } else {
            let line = text.split(separator: "\n").last { $0.contains { $0.isLetter } } ?? ""
            self.init(reason: "it \(ending)" + (line.isEmpty ? "" : ": \(line.prefix(200))"))
        }
    }

    /// How a process ended, from the status of waitpid(2).
    static func ending(_ status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "ended with \((status >> 8) & 0xFF)" : "was ended by \(SignalName.of(signal))"
    }

    static var paranoia: Int? { SystemFile.line("/proc/sys/kernel/perf_event_paranoid").flatMap { Int($0) } }
}
