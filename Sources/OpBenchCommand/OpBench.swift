import ArgumentParser
import Glibc
import OpBenchHistory
import OpBenchModel
import OpBenchRunner

/// The command line: parses the arguments, runs one subcommand, prints errors, exits.
package struct OpBench: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "opbench",
        abstract: "Measure operation queues, compare builds, and find what got slower.",
        discussion: """
            START HERE
              opbench run workloads/*.json                 # measure, print a summary
              opbench ab --base-ref main workloads/*.json  # compare with a commit
              opbench explain RUN                          # find what got slower

            A workload file has a shape, its parameters and the backends to compare. Every sample runs in a fresh \
            process. Runs are folders under results/. Results go to standard output, progress and diagnostics to \
            standard error.

            EXIT CODES
              0    done; unsupported and skipped cells are not failures
              1    another error, such as a full disk
              2    a gate found a regression
              3    a sample is invalid, crashed or timed out unexpectedly
              5    a gate lacks figures to compare with
              7    a gate is inconclusive
              64   bad usage or bad input; nothing was run or written
              129, 130, 143
                   ended by SIGHUP, SIGINT (Ctrl-C), SIGTERM; finished samples are kept
            """,
        version: ProgramVersion.text(.own),
        groupedSubcommands: [
            CommandGroup(
                name: "Measure",
                subcommands: [
                    RunCommand.self, ListCommand.self, InitCommand.self, DescribeCommand.self, ValidateCommand.self,
                    DoctorCommand.self,
                ]),
            CommandGroup(
                name: "Look",
                subcommands: [
                    ShowCommand.self, ReportCommand.self, RunsCommand.self, HistoryCommand.self,
                ]),
            CommandGroup(
                name: "Compare",
                subcommands: [
                    ABCommand.self, BisectCommand.self, CompareCommand.self, GateCommand.self,
                ]),
            CommandGroup(name: "Explain", subcommands: [ExplainCommand.self, ProfileCommand.self, TraceCommand.self]),
            CommandGroup(
                name: "Manage",
                subcommands: [
                    BaselineCommand.self, MergeCommand.self,
                ]),
        ]
    )

    package init() {}

    /// Runs the command line, or takes a sample if this process was started for one, and ends the process with the exit
    /// code. Call it first in `main`: a sample's process must begin its work before anything has made a thread or a
    /// queue.
    ///
    /// - Parameters:
    ///   - backends: the program's own backends, in addition to the built-in ones.
    ///   - bodies: its own bodies of operations.
    package static func runAndExit(
        declaring backends: [DeclaredBackend] = [], bodies: [DeclaredBodies.Declared] = []
    ) -> Never {
        do {
            try SystemRoom.checkProc()
            try DeclaredBackend.declare(backends)
            try DeclaredBodies.declare(bodies)
            SampleChild.mainIfChild()
            FailedWrites.becomeErrors()
        } catch let error {
            Glibc.exit(report(error))
        }
        Glibc.exit(exitCode(ofRunning: Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs a command line, prints its error, and returns its exit code.
    ///
    /// - Parameter words: the arguments without the program's name.
    static func exitCode(ofRunning words: [String]) -> Int32 {
        do {
            if let help = BriefHelp.text(for: words, of: OpBench.self) {
                try StandardOutput.write(help)
                return ExitStatus.success
            }
            var command = try command(of: words)
            try command.run()
            return ExitStatus.success
        } catch let error {
            return report(Subcommand(in: words, of: OpBench.self).mistake ?? error)
        }
    }

    /// Parses a command line.
    ///
    /// The parser cannot have two lists of words, and drops the `--` between them. So the words after `--` become the
    /// value of an option of `profile`.
    ///
    /// - Parameter words: the arguments without the program's name.
    static func command(of words: [String]) throws -> any ParsableCommand {
        let own = words.prefix { $0 != "--" }
        let (options, rest) = (joiningNegativeNumbers(in: own), words[own.endIndex...])
        guard words.first == ProfileCommand._commandName, !rest.isEmpty else { return try parseAsRoot(options + rest) }
        if rest.count == 1 { _ = try ProgramToProfile([]) }
        return try parseAsRoot(options + ["--\(ProfileCommand.programOption)"] + rest.dropFirst())
    }

    /// Writes `--seed -1` as `--seed=-1`: the parser would take the number for an option.
    private static func joiningNegativeNumbers(in words: ArraySlice<String>) -> [String] {
        words.reduce(into: []) { joined, word in
            let isNegative = word.first == "-" && word.dropFirst().first.map { $0.isNumber || $0 == "." } == true
            if isNegative, let option = joined.last, option.hasPrefix("--"), !option.contains("=") {
                joined[joined.count - 1] += "=" + word
            } else {
                joined.append(word)
            }
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
        case is NoBaseline, is MissingBaseline:
            StandardError.say("Error: \(error)")
            return ExitStatus.missing
        case let error as BuildError:
            for line in "Error: \(error)".split(separator: "\n") { StandardError.say(String(line)) }
            return ExitStatus.failure
        default:
            // Usage errors (64), help and version (0), and the unforeseen (1).
            let code = exitCode(for: error)
            let text = fullMessage(for: error) + "\n"
            if code.isSuccess {
                do { try StandardOutput.write(text) } catch { return report(error) }
            } else {
                StandardError.write(text)
            }
            return code.rawValue
        }
    }
}

/// The subcommand that a command line names.
struct Subcommand {
    private(set) var command: any ParsableCommand.Type
    /// The names of the program, of the subcommand and of those between.
    private(set) var path: [String]
    /// The word after them that is no subcommand, where one is due; nil if there is none.
    private(set) var unknown: String?

    /// - Parameter arguments: the arguments without the program's name.
    init(in arguments: [String], of root: any ParsableCommand.Type) {
        (command, path) = (root, [root._commandName])
        for word in arguments {
            // The words after help are a path of subcommands, too.
            if path.count == 1, word == "help" { continue }
            let subcommands = command.configuration.subcommands
            if word.hasPrefix("-") || subcommands.isEmpty { return }
            guard let next = subcommands.first(where: { $0._commandName == word }) else {
                unknown = word
                return
            }
            command = next
            path.append(word)
        }
    }

    /// The mistake of an unknown word; nil without one. The parser would call it an unexpected argument.
    var mistake: InputError? {
        unknown.map { word in
            let name = path.joined(separator: " ")
            return InputError(
                file: name, message: "no subcommand \"\(word)\"",
                remedy: Suggestion.remedy(
                    for: word, among: command.configuration.subcommands.map { $0._commandName }, from: "\(name) --help")
            )
        }
    }
}
