import CLinuxMeasure
import Glibc
import OpBenchBackends
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile

extension ProfileMeans.Trials {
    /// - Parameters:
    ///   - kinds: the kinds whose methods are tried.
    ///   - program: the path of perf; tests use another program.
    static func take(for kinds: [ProfileKind] = ProfileKind.allCases, program: String = "perf") -> Self {
        var trials = Self()
        trials.heapLack = HeapProfiler.lack
        guard kinds.contains(.cpu) || kinds.contains(.offcpu) else { return trials }
        trials.cpuClock = PerfTrial.failure(of: .cpu, program: program)
        trials.processors = trials.cpuClock ?? PerfTrial.failure(of: .cpu, ["-a"], program: program)
        trials.mayUseKernel = geteuid() == 0 || (PerfFailure.paranoia ?? 2) < 2
        guard kinds.contains(.offcpu) else { return trials }
        trials.tracepoints = trials.cpuClock ?? PerfTrial.failure(of: .wakeUps, program: program)
        if let failure = trials.tracepoints {
            trials.switches = trials.cpuClock == nil ? PerfTrial.failure(of: .switches, program: program) : failure
        }
        trials.countsSchedules = RunQueue.isCounted
        return trials
    }
}

/// Runs perf for a moment, on a program that does nothing.
enum PerfTrial {
    /// The failure; nil if perf recorded.
    static func failure(
        of events: PerfEvents, _ target: [String] = [], program: String,
        patienceSeconds: Int32 = ToolTrial.patienceSeconds
    ) -> PerfFailure? {
        let arguments = ["perf"] + events.record(into: "-") + target + ["--", "true"]
        return switch ToolTrial.run(program, arguments, PerfEvents.environment, patienceSeconds: patienceSeconds) {
        case .succeeded: nil
        case .notStarted(let code): PerfFailure(startError: code)
        case .endless: PerfFailure(reason: "it did not end within \(patienceSeconds) s")
        case .failed(let ending, let text):
            PerfFailure(text: text, ending: ending, paranoia: PerfFailure.paranoia)
        }
    }
}

/// Runs a tool for a moment to see whether it works here.
enum ToolTrial {
    enum Outcome: Equatable {
        case succeeded
        /// The value is an errno.
        case notStarted(Int32)
        /// How it ended, and the tail of its messages.
        case failed(ending: String, text: String)
        /// It was killed after a timeout.
        case endless
    }

    /// The timeout of a tool.
    static let patienceSeconds: Int32 = 10

    /// - Parameters:
    ///   - arguments: the arguments, with the tool's name.
    ///   - environment: changes to this process's.
    static func run(
        _ program: String, _ arguments: [String], _ environment: [String: String],
        patienceSeconds: Int32 = ToolTrial.patienceSeconds
    ) -> Outcome {
        guard let messages = try? MemoryFile() else { return .notStarted(errno) }
        var ends: [Int32] = [0, 0]
        let code = clinux_pipe(&ends)
        guard code == 0 else { return .notStarted(code) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        // The pipe closes when the tool and its program end.
        let process = Tool.start(
            program, arguments, environment, files: [null, null, messages.descriptor, ends[1]])
        close(null)
        close(ends[1])
        defer { close(ends[0]) }
        guard process > 0 else { return .notStarted(-process) }
        var poll = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        var count: Int32
        repeat { count = Glibc.poll(&poll, 1, patienceSeconds * 1000) } while count < 0 && errno == EINTR
        let hasEnded = count > 0
        if !hasEnded { kill(process, SIGKILL) }
        let status = clinux_wait_for(process)
        if !hasEnded { return .endless }
        guard status != 0 else { return .succeeded }
        return .failed(
            ending: PerfFailure.ending(status),
            text: String(decoding: messages.contents().suffix(8000), as: UTF8.self))
    }
}
