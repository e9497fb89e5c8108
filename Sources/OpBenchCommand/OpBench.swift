import ArgumentParser
import Glibc
import OpBenchHistory
import OpBenchModel
import OpBenchRunner

/// The command line: parses the arguments, runs one subcommand, prints errors, exits.
package struct OpBench: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "opbench",
        abstract: "Measures operation queues: workload files in, rows out.",
        discussion: """
            A workload file has a shape, its parameters and the backends to compare. `opbench run` measures each \
            combination of the parameters on each backend, every sample in a fresh process, and writes samples.csv, \
            summary.csv, histograms.csv and run.json under results/. Data goes to standard output, progress and \
            diagnostics to standard error.

            EXAMPLES
              opbench run workloads/*.json
              opbench run --quick --backend engine,dispatch workloads/*.json
              opbench run --shard 2/8 --output parts workloads/*.json
              opbench merge parts/* -o results/sweep
              opbench show 20261121T130501Z-3fa9
              opbench list workloads/*.json
              opbench validate workloads/*.json
              opbench schema
              opbench compare before after
              opbench ab old/opbench new/opbench workloads/*.json
              opbench ab --base-ref main workloads/*.json
              opbench gate --baseline before --candidate after
              opbench calibrate workloads/*.json
              opbench baseline save before --name main
              opbench report before --output report.html
              opbench export --format otava monday tuesday
              opbench runs
              opbench shapes chain
              opbench init chain -o my-chain.json
              opbench completions bash
              opbench history add monday tuesday
              opbench history trend
              opbench profile --filter depth=1000 workloads/dependency-chains.json
              opbench doctor

            EXIT CODES
              0    done; unsupported and skipped cells are not failures
              1    another error, such as a full disk
              2    a gate found a regression
              3    a sample is invalid, crashed or timed out unexpectedly
              5    a gate lacks figures to compare with
              7    a gate is inconclusive
              64   bad usage or bad input; nothing was run or written
              129  ended by SIGHUP (its terminal closed); finished samples are kept
              130  ended by SIGINT (Ctrl-C); finished samples are kept
              143  ended by SIGTERM; finished samples are kept
            """,
        version: ProgramVersion.text(.own),
        subcommands: [
            RunCommand.self, MergeCommand.self, ListCommand.self, ValidateCommand.self,
            SchemaCommand.self, CompareCommand.self,
            GateCommand.self, ABCommand.self, ProfileCommand.self, ExplainCommand.self, CalibrateCommand.self,
            BaselineCommand.self, DoctorCommand.self, ExportCommand.self, ShowCommand.self,
            ExplainColumnsCommand.self, ReportCommand.self, HistoryCommand.self,
            RunsCommand.self, InitCommand.self, ShapesCommand.self, CompletionsCommand.self,
        ]
    )

    package init() {}

    /// Runs the command line, or takes a sample if this process was started for one, and ends the process with the exit
    /// code. Call it first in `main`: a sample's process must begin its work before anything has made a thread or a
    /// queue.
    ///
    /// - Parameter backends: the program's own backends, in addition to the built-in ones.
    package static func runAndExit(declaring backends: [DeclaredBackend] = []) -> Never {
        do {
            try SystemRoom.checkProc()
            try DeclaredBackend.declare(backends)
            SampleChild.mainIfChild()
            FailedWrites.becomeErrors()
            var command = try parseAsRoot()
            try command.run()
            Glibc.exit(ExitStatus.success)
        } catch let error {
            let misspelt = MisspeltSubcommand.error(in: Array(CommandLine.arguments.dropFirst()), of: OpBench.self)
            Glibc.exit(report(misspelt ?? error))
        }
    }

    /// The maximum number of printed mistakes; the rest is only counted.
    private static let mistakeLimit = 20

    /// Prints an error to standard error and returns the exit code. No other code prints errors.
    private static func report(_ error: any Error) -> Int32 {
        switch error {
        case let outcome as CommandOutcome:
            return outcome.status
        case let error as InputError:
            StandardError.say("Error: \(error)")
            return ExitStatus.badInput
        case let input as InputErrors:
            for line in input.lines(limit: mistakeLimit) { StandardError.say("Error: \(line)") }
            return ExitStatus.badInput
        case let error as OutputError where error.code == EPIPE:
            FailedWrites.endAsReaderDid()
        case is OutputError, is DiskError, is ScarcityError, is HistoryError:
            StandardError.say("Error: \(error)")
            return ExitStatus.failure
        case is NoBaseline:
            StandardError.say("Error: \(error)")
            return ExitStatus.missing
        case let error as BuildError:
            for line in "Error: \(error)".split(separator: "\n") { StandardError.say(String(line)) }
            return ExitStatus.failure
        default:
            // Usage errors (64), help and version (0), and the unforeseen (1).
            exit(withError: error)
        }
    }
}

/// An unknown word in the place of a subcommand. The parser would call it an unexpected argument.
enum MisspeltSubcommand {
    /// - Parameter arguments: the arguments without the program's name.
    /// - Returns: nil if there is no such word.
    static func error(in arguments: [String], of root: any ParsableCommand.Type) -> InputError? {
        var command = root
        var path = [root._commandName]
        for word in arguments {
            // The words after help are a path of subcommands, too.
            if path.count == 1, word == "help" { continue }
            let subcommands = command.configuration.subcommands
            if word.hasPrefix("-") || subcommands.isEmpty { return nil }
            guard let next = subcommands.first(where: { $0._commandName == word }) else {
                return error(word, after: path, among: subcommands.map { $0._commandName })
            }
            command = next
            path.append(word)
        }
        return nil
    }

    private static func error(_ word: String, after path: [String], among known: [String]) -> InputError {
        let command = path.joined(separator: " ")
        return InputError(
            file: command, message: "no subcommand \"\(word)\"",
            remedy: Suggestion.remedy(for: word, among: known, from: "\(command) --help"))
    }
}
