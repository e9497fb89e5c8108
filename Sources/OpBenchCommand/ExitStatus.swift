import OpBenchModel

/// The exit codes of opbench. Anything that could not be parsed or checked never reads as success.
enum ExitStatus {
    /// Everything asked for was done.
    static let success: Int32 = 0
    /// An error that is nobody's bad input: a full disk, a child that cannot be started.
    static let failure: Int32 = 1
    /// A gate found something slower, or a goal missed.
    static let regression: Int32 = 2
    /// A sample is invalid, crashed or timed out, and its workload does not expect it.
    static let badSample: Int32 = 3
    /// A gate has no baseline for a figure, no figure for a goal, or nothing to judge.
    static let missing: Int32 = 5
    /// A gate cannot tell.
    static let inconclusive: Int32 = 7
    /// Bad usage or bad input; ArgumentParser's own code too.
    static let badInput: Int32 = 64

    /// The code of a run that a signal ended: 129 for SIGHUP, 130 for SIGINT, 143 for SIGTERM.
    static func interrupted(by signal: Int32) -> Int32 { 128 + signal }
}

/// A command did its work, and its outcome is another exit code than 0. Nothing more is printed.
struct CommandOutcome: Error {
    let status: Int32
}
