import OpBenchModel

/// The order to a sample process to record a profile besides its figures.
struct ProfileOrder: Codable, Sendable {
    /// The recorder within the sample's process.
    enum Recorder: String, Codable, Sendable {
        /// Nothing: another process records, or the sample is the reference for profiled ones.
        case none
        /// Each operation's times and threads.
        case trace
        /// Stacks, sampled by timers on CPU time: `SignalSampler`.
        case signals
        /// Stacks, sampled by perf: `PerfRecorder`.
        case perfCPU
        /// Context switches and wake-ups, by perf.
        case perfWakeUps
        /// Only context switches, by perf.
        case perfSwitches
        /// Allocations, by jemalloc: `HeapSampler`.
        case heap
        /// The times that threads ran and waited, from /proc.
        case schedule
    }

    var recorder: Recorder
    /// The absolute path of an existing folder.
    var folder: String
    /// Intended total duration of the sample's rounds, in nanoseconds.
    var targetNanoseconds: Int64
}

/// The answer of a profiled sample's process, as JSON. The raw records are in separate files.
struct ProfileAnswer: Codable, Sendable {
    /// A recorded period, in nanoseconds of `MonotonicClock`: a round, without its teardown.
    struct Mark: Codable, Sendable, Equatable {
        var begin: Int64
        var end: Int64
    }

    struct Thread: Codable, Sendable, Equatable {
        var id: Int32
        var name: String
    }

    /// Status, notes and flags; no figures.
    var report = SampleReport()
    /// In order, without overlap.
    var marks: [Mark] = []
    /// The operations of all rounds.
    var operations = 0
    /// The operations of one round.
    var roundOperations = 0
    /// build + submit + cancel + drain of all rounds, without pauses, in nanoseconds.
    var totalNanoseconds: Int64 = 0
    /// CPU time of the whole process within the marks.
    var cpuNanoseconds: Int64 = 0
    var voluntarySwitches = 0
    var involuntarySwitches = 0
    /// For traces: the ratio of a traced round's time to an untraced round's time, the lower median over pairs.
    var perturbation: Double?
    /// The number of traced rounds; the trace is that of the least disturbed round.
    var tracedRounds: Int?
    var process: Int32 = 0
    var threads: [Thread] = []
}

/// The reason why a sample has no profile.
struct ProfileFailure: Error, CustomStringConvertible {
    let description: String
}
