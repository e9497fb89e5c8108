import OpBenchAnalysis
import OpBenchModel

/// The exit codes of opbench. Success is never reported for anything that could not be parsed or checked.
enum ExitStatus {
    /// Everything was done.
    static let success: Int32 = 0
    /// An error other than bad input: a full disk, a child that cannot be started.
    static let failure: Int32 = 1
    /// A gate found something slower, or a goal missed.
    static let regression: Int32 = 2
    /// A sample is invalid, crashed or timed out unexpectedly.
    static let badSample: Int32 = 3
    /// A gate has no baseline for a figure, no figure for a goal, or nothing to judge.
    static let missing: Int32 = 5
    /// A gate is inconclusive.
    static let inconclusive: Int32 = 7
    /// Bad usage or bad input; also ArgumentParser's code.
    static let badInput: Int32 = 64

    /// The code of a run that a signal ended: 129 for SIGHUP, 130 for SIGINT, 143 for SIGTERM.
    static func interrupted(by signal: Int32) -> Int32 { 128 + signal }
}

extension GateOutcome {
    var status: Int32 {
        switch self {
        case .pass: ExitStatus.success
        case .regression, .missed: ExitStatus.regression
        case .badSample: ExitStatus.badSample
        case .missing: ExitStatus.missing
        case .inconclusive: ExitStatus.inconclusive
        }
    }
}

/// A command did its work and exits with a status other than 0. Nothing more is printed.
struct CommandOutcome: Error {
    let status: Int32
}
