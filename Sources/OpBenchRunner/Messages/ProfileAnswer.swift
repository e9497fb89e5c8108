import OpBenchModel

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
