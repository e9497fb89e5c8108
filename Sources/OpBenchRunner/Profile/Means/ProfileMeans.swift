import Glibc
import OpBenchModel
import OpBenchProfile

/// By which means this machine can make profiles of each kind, or why it cannot.
public struct ProfileMeans: Sendable, Equatable {
    public enum Means: String, Sendable {
        /// The suite's own records.
        case hooks
        case perf
        /// perf without the kernel's tracepoints: who woke whom is not known.
        case perfSwitches = "perf, switches alone"
        /// A timer's signal.
        case signals = "SIGPROF"
        case jemalloc
        /// What the kernel counts for each thread.
        case schedule = "/proc"
        /// valgrind's tool, which simulates the processor.
        case callgrind
    }

    public struct Answer: Sendable, Equatable {
        /// nil if this machine cannot do it.
        public let means: Means?
        /// Why nothing better, or nothing at all; empty if it is the best there is.
        public let lack: String
        /// What to do for more; empty where there is nothing to do.
        public let remedy: String

        init(_ means: Means?, lack: String = "", remedy: String = "") {
            (self.means, self.lack, self.remedy) = (means, lack, remedy)
        }

        /// What is lacking, with the remedy.
        var advice: String { remedy.isEmpty ? lack : "\(lack); \(remedy)" }

        /// On a line: `cannot be done: …; …`, or the means.
        public var words: String {
            let what = means.map { "by \($0.rawValue)" } ?? "cannot be done"
            return lack.isEmpty ? what : "\(what): \(lack)"
        }

        /// - Parameter option: what asked for it.
        /// - Throws: `InputError` if this machine cannot do it.
        public func require(by option: String) throws(InputError) {
            if means == nil { throw InputError(file: option, message: lack, remedy: remedy) }
        }
    }

    /// One for each kind.
    private let answers: [ProfileKind: Answer]

    public subscript(kind: ProfileKind) -> Answer { answers[kind] ?? Answer(nil, lack: "unknown") }

    /// What was tried, and how it went: nil where it worked.
    struct Trials: Sendable, Equatable {
        var cpuClock: PerfFailure?
        /// The same of all that runs on the processors.
        var processors: PerfFailure?
        var tracepoints: PerfFailure?
        var switches: PerfFailure?
        /// Whether perf may sample the kernel's code.
        var mayUseKernel = true
        var countsSchedules = true
        /// Why jemalloc makes no profiles of this process.
        var heapLack: HeapLack?
    }

    /// Tries what these kinds need, within about a second; starts perf up to four times.
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
                .perf, lack: "of this process alone, with too little of the kernel's code where threads switch often",
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
