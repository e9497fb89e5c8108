import CLinux
import Glibc

/// How one schedule of a scenario came out.
public struct ScheduleResult: Sendable {
    /// Nil if every check held.
    public let failure: String?
    public let steps: Int
    /// A digest of which thread did what in which order.
    public let trace: UInt64
    /// The departures that were made, which replay the schedule.
    public let departures: [Departure]
}

/// Runs single schedules of one scenario, each in a child process: they all begin in the same state, whatever the
/// engine keeps for the life of a process, and a crash is one schedule's failure.
///
/// This process must have one thread, and must never have used the program under exploration.
public final class ScheduleRunner {
    let scenario: Scenario
    let report = SharedReport()

    /// A child that has not ended after this many seconds hangs where the explorer does not see it.
    private static let hangSeconds: UInt32 = 30

    public init(_ scenario: Scenario) {
        self.scenario = scenario
    }

    public func run(_ strategy: Strategy, isTraced: Bool = false) -> ScheduleResult {
        report.clear()
        fflush(nil)
        let child = fork()
        precondition(child >= 0, "fork: \(String(cString: strerror(errno)))")
        if child == 0 { runAsChild(strategy, isTraced: isTraced) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1 && errno == EINTR {}
        let header = report.header.pointee
        return ScheduleResult(
            failure: failure(status), steps: header.steps, trace: header.trace, departures: report.departures)
    }

    private func failure(_ status: Int32) -> String? {
        switch report.outcome {
        case .passed: return nil
        case .failed: return report.message
        case .none: break
        }
        let signal = status & 0x7f
        if signal == SIGALRM { return "hangs outside the explorer's sight" }
        return signal != 0 ? "crash: \(String(cString: strsignal(signal)))" : "the process ended early"
    }

    private func runAsChild(_ strategy: Strategy, isTraced: Bool) -> Never {
        for signal in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] { Glibc.signal(signal, SIG_DFL) }
        var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
        // Inherited from the process that started this program.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        alarm(Self.hangSeconds)
        if !isTraced {
            let nowhere = open("/dev/null", O_WRONLY)
            dup2(nowhere, STDERR_FILENO)
        }
        // One thread runs at a time: the turn passes several times faster on one processor than between two.
        clinux_stay_on_processor()
        let scheduler = Scheduler(
            report: report, strategy: strategy, processors: scenario.processors, isTraced: isTraced)
        Scheduler.shared = scheduler
        let body = scenario.body
        // Not on this thread: the Swift runtime remembers the number that it had in the parent, and its `once` loops
        // for ever on that when two threads meet there.
        scheduler.startFirstThread {
            body(Exploration())
            scheduler.endExploring()
            scheduler.pass()
        }
        while true { pause() }
    }
}
