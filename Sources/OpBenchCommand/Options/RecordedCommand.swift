import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// The command line that a recorded run was made by, to be given again: the same workloads, backends and settings, with
/// another number of blocks and under another name.
struct RecordedCommand {
    private enum Kind {
        case run(RunCommand)
        case sides(ABCommand)
        case calibration(CalibrateCommand)
    }

    private let kind: Kind

    /// - Parameter arguments: as `run.json` has them, the program's name first.
    /// - Returns: nil if this program does not take them; they may be of another version.
    init?(_ arguments: [String]) {
        switch try? OpBench.parseAsRoot(Array(arguments.dropFirst())) {
        case let command as RunCommand where command.part.text == nil: kind = .run(command)
        case let command as ABCommand: kind = .sides(command)
        case let command as CalibrateCommand: kind = .calibration(command)
        default: return nil
        }
    }

    private var options: (selection: SelectionOptions, plan: PlanOptions, destination: DestinationOptions) {
        switch kind {
        case .run(let command): (command.selection, command.plan, command.destination)
        case .sides(let command): (command.workloads, command.plan, command.destination)
        case .calibration(let command): (command.selection, command.plan, command.destination)
        }
    }

    private var limits: LimitOptions {
        switch kind {
        case .run(let command): command.limits
        case .sides(let command): command.limits
        case .calibration(let command): command.limits
        }
    }

    /// The values that were set in place of the files'.
    var settings: [String] { options.selection.cells.settings }

    /// What named the two builds by their commits; nil if nothing did.
    var refs: (base: String?, head: String?)? {
        guard case .sides(let command) = kind, command.refs.base != nil else { return nil }
        return (command.refs.base, command.refs.head)
    }

    /// The folder that the run lies in.
    var directory: String {
        guard case .calibration = kind else { return options.destination.directory }
        return CalibrationFolder(in: options.destination.directory).path
    }

    /// The arguments of a new run of so many blocks.
    ///
    /// - Parameters:
    ///   - calibration: the run whose very work is to be done again; nil to calibrate it anew.
    ///   - commits: those that refs meant then; nil where nobody knows.
    func again(
        blocks: Int, runID: String, calibration: String? = nil, commits: (base: String, head: String)? = nil
    ) -> [String] {
        let (selection, plan, destination) = options
        let counted = plan.words(blocks: blocks) + limits.words + destination.words(runID: runID)
        return switch kind {
        case .run(let command):
            ["run"] + command.gate.words + counted + Words.option("--calibration", calibration) + selection.words()
        case .sides(let command):
            ["ab"] + counted + Words.option("--policy", command.report.policy)
                + command.refs.words(commits)
                + selection.words(after: command.builds)
        case .calibration: ["calibrate"] + counted + selection.words()
        }
    }

    /// The arguments of a calibration of the same cells and backends.
    func calibrating(in folder: String) -> [String] {
        ["calibrate"] + options.plan.words(blocks: nil) + limits.words
            + Words.option("--output", folder, unless: "results") + options.selection.words()
    }

    /// The arguments that compare two interleaved builds on the same cells and backends.
    ///
    /// - Parameters:
    ///   - programs: the two; none where `options` names commits.
    ///   - more: options.
    func interleaved(_ programs: [String], _ more: [String]) -> [String] {
        ["ab"] + options.plan.words(blocks: nil) + limits.words + more
            + Words.option("--output", options.destination.directory, unless: "results")
            + options.selection.words(after: programs)
    }
}

/// Options as words of a command line.
enum Words {
    /// The option with its value, or nothing if that is absent or what is taken without it.
    static func option(_ name: String, _ value: String?, unless standard: String? = nil) -> [String] {
        guard let value, value != standard else { return [] }
        // With a sign of equality, since a value may begin with a dash.
        return value.hasPrefix("-") ? ["\(name)=\(value)"] : [name, value]
    }
}

extension SelectionOptions {
    /// - Parameter others: arguments that stand before the files.
    func words(after others: [String] = []) -> [String] {
        let options =
            Words.option("--backend", cells.backends) + Words.option("--metric", kinds)
            + cells.settings.flatMap { Words.option("--set", $0) } + Words.option("--filter", cells.filter)
        let arguments = others + cells.files
        return options + (arguments.contains { $0.hasPrefix("-") } ? ["--"] : []) + arguments
    }
}

extension PlanOptions {
    func words(blocks: Int?) -> [String] {
        Words.option("--blocks", blocks.map(String.init)) + Words.option("--seed", String(seed), unless: "1")
            + Words.option("--timeout", String(timeout), unless: "30.0")
    }
}

extension DestinationOptions {
    func words(runID: String) -> [String] {
        Words.option("--run-id", runID) + Words.option("--output", directory, unless: "results")
    }
}

extension ComparisonOptions {
    /// Those that decide what is compared, not how it is judged or where the comparison goes.
    var words: [String] {
        Words.option("--ignore-parameters", ignoredParameters) + Words.option("--results", folder, unless: "results")
    }
}
