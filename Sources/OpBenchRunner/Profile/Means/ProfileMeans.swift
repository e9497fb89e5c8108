import Glibc
import OpBenchModel
import OpBenchProfile

/// This machine's methods for profiles of each kind, or the reasons why it has none.
public struct ProfileMeans: Sendable, Equatable {
    public enum Means: String, Sendable {
        /// The suite's own records.
        case hooks
        case perf
        /// perf without the kernel's tracepoints, so wake-ups have no known waker.
        case perfSwitches = "perf, only switches"
        /// A timer's signal.
        case signals = "SIGPROF"
        case jemalloc
        /// The kernel's counters of each thread.
        case schedule = "/proc"
        /// valgrind's tool, which simulates the processor.
        case callgrind
        /// The processor's counters.
        case counters = "perf_event_open(2)"
    }

    public struct Answer: Sendable, Equatable {
        /// nil if this machine has none.
        public let means: Means?
        /// Why no better method, or no method at all, is available; empty if this is the best.
        public let lack: String
        /// How to get more; empty if nothing can be done.
        public let remedy: String

        init(_ means: Means?, lack: String = "", remedy: String = "") {
            (self.means, self.lack, self.remedy) = (means, lack, remedy)
        }

        /// The reason with the remedy.
        var advice: String { remedy.isEmpty ? lack : "\(lack); \(remedy)" }

        /// On one line: `cannot be done: …; …`, or the method.
        public var words: String {
            let what = means.map { "by \($0.rawValue)" } ?? "not possible"
            return lack.isEmpty ? what : "\(what): \(lack)"
        }

        /// - Parameter option: the option that needs it.
        /// - Throws: `InputError` if this machine cannot.
        public func require(by option: String) throws(InputError) {
            if means == nil { throw InputError(file: option, message: lack, remedy: remedy) }
        }
    }

    /// One answer for each kind.
    var answers: [ProfileKind: Answer]

    public subscript(kind: ProfileKind) -> Answer { answers[kind] ?? Answer(nil, lack: "unknown") }

    /// Results of trying the methods; nil for success.
    struct Trials: Sendable, Equatable {
        var cpuClock: PerfFailure?
        /// The same for everything that runs on the processors.
        var processors: PerfFailure?
        var tracepoints: PerfFailure?
        var switches: PerfFailure?
        /// Whether perf may sample the kernel's code.
        var mayUseKernel = true
        var countsSchedules = true
        /// Why jemalloc cannot profile this process.
        var heapLack: HeapLack?
    }

    /// Tries the methods for these kinds, within about a second; starts perf up to four times.
    public static func probe(for kinds: [ProfileKind] = ProfileKind.allCases) -> ProfileMeans {
        ProfileMeans(.take(for: kinds))
    }

    init(_ trials: Trials) {
        answers = [
            .trace: Answer(.hooks), .cpu: Self.cpu(trials), .offcpu: Self.offCPU(trials), .heap: Self.heap(trials),
        ]
    }

    private static func cpu(_ trials: Trials) -> Answer {
        if let failure = trials.cpuClock {
            return Answer(.signals, lack: "perf: \(failure.reason)", remedy: failure.remedy)
        }
        if !trials.mayUseKernel {
            return Answer(
                .perf, lack: "without the kernel's code",
                remedy: "sudo sysctl kernel.perf_event_paranoid=1, or run as root")
        }
        if trials.processors != nil {
            return Answer(
                .perf, lack: "only of this process, and too few samples of kernel code where threads switch often",
                remedy: "sudo sysctl kernel.perf_event_paranoid=0, or run as root")
        }
        return Answer(.perf)
    }

    private static func offCPU(_ trials: Trials) -> Answer {
        guard let failure = trials.tracepoints else { return Answer(.perf) }
        let means: Means? = trials.switches == nil ? .perfSwitches : trials.countsSchedules ? .schedule : nil
        return Answer(means, lack: "perf: \(failure.reason)", remedy: failure.remedy)
    }

    private static func heap(_ trials: Trials) -> Answer {
        trials.heapLack.map { Answer(nil, lack: $0.reason, remedy: $0.remedy) } ?? Answer(.jemalloc)
    }
}
