import OpBenchAnalysis
import OpBenchModel

/// What leaves some figures of a comparison open, and the commands that settle them.
struct Settlement: Equatable {
    let remedy: Doubt.Remedy
    /// How many figures, and why: `2 figures are inconclusive (7 of 15 blocks)`.
    let finding: String
    /// What is to be done, in words.
    let advice: String
    /// What is to be given to a shell, one after the other.
    let commands: [String]

    /// The commands as one.
    var command: String { commands.joined(separator: " && ") }

    /// The advice and its commands in one line.
    var line: String { "\(advice): \(command)" }
}
