import OpBenchModel

/// What a profiled sample is to record beside its figures, and where it leaves it.
struct ProfileOrder: Codable, Sendable {
    /// What the sample's process records of itself.
    enum Recorder: String, Codable, Sendable {
        /// Nothing: another process does, or the sample is what profiled ones are compared with.
        case none
        /// Each operation's times and threads.
        case trace
        /// Stacks, by timers on CPU time: `SignalSampler`.
        case signals
        /// The same, by perf: `PerfRecorder`.
        case perfCPU
        /// Switches and wake-ups, by perf.
        case perfWakeUps
        /// Switches alone, by perf.
        case perfSwitches
        /// Allocations, by jemalloc: `HeapSampler`.
        case heap
        /// How long threads ran and waited, as /proc tells.
        case schedule
        /// Nothing by itself: callgrind, which the process runs under, counts instructions between calls of functions that
        /// it knows by their names: `CountingRecorder`.
        case instructions
    }

    /// How much a sample does that runs many times slower than others.
    struct Limits: Codable, Sendable, Equatable {
        /// A plan of more operations is shortened to about as many.
        var operations: Int
        /// As many that count.
        var rounds: Int
    }

    var recorder: Recorder
    /// An absolute path of a folder that is there.
    var folder: String
    /// How long the rounds of the sample should last together, in nanoseconds.
    var targetNanoseconds: Int64
    /// In place of that time.
    var limits: Limits?
}

/// What the process of a profiled sample answers, as JSON. The raw records are in files beside.
struct ProfileAnswer: Codable, Sendable {
    /// A period that counts, in nanoseconds of `MonotonicClock`: a round, without its teardown.
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
    /// Of all rounds.
    var operations = 0
    /// Of the first round; of a sequence, of its first phase.
    var firstOperations = 0
    /// build + submit + cancel + drain of all rounds, without pauses, in nanoseconds.
    var totalNanoseconds: Int64 = 0
    /// Of the whole process, within the marks.
    var cpuNanoseconds: Int64 = 0
    var voluntarySwitches = 0
    var involuntarySwitches = 0
    /// Of a trace: its time in relation to a round without it, the lower median over pairs.
    var perturbation: Double?
    /// How many rounds were traced; the trace is of the least disturbed.
    var tracedRounds: Int?
    var process: Int32 = 0
    var threads: [Thread] = []
}
