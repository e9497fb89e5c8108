import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench merge PART… -o RUN`
struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge the parts of a run.",
        discussion: """
            Checks that the parts belong to one sweep, that each is finished and complete, and that no shard appears \
            twice. Then writes the rows that a run on one machine would have, under the new run's name, and prints \
            the summary. The error for a missing shard includes the command that measures it. If anything is wrong, \
            all mistakes are reported and nothing is written.

            Figures of different classes of hosts are never compared: `opbench compare` and `opbench gate` match each \
            cell with one that was measured on the same class, and refuse other runs.

            EXAMPLES
              opbench merge parts/* -o results/sweep
              opbench merge parts/3fa9c2d41b07-* -o results/sweep
              opbench merge --allow-missing parts/* -o results/so-far
            """)

    @Argument(help: ArgumentHelp("The folders of finished parts.", valueName: "part"), completion: .directory)
    var parts: [String]

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The new run's folder, which gives the run its name.", valueName: "run"))
    var output: String

    @Flag(
        name: .customLong("allow-missing"),
        help: "Merge the parts that are finished. The run then counts as interrupted.")
    var allowsMissing = false

    @OptionGroup var presentation: PresentationOptions

    func run() throws {
        let path = WrittenFolder.withoutSlashes(output)
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        try RunIdentifier.check(runID: name, option: "--output")
        let merge = try PartsMerge(parts, allowsMissing: allowsMissing, command: ShellWords.ofThisProgram)
        var summary: [SummaryRow] = []
        let run = try merge.write(to: path, runID: name, arguments: OwnProgram.arguments) { run in
            try RowLimits.checkSize(run.samples, file: path)
            summary = try ShownRun(run).rows
            try WrittenFolder(run.folder).replace(SummaryRow.fileName, by: CSVFile.text(of: summary))
        }
        try StandardOutput.write(presentation.text(ofSummary: summary, facts: run.facts))
        if run.hasBadSample {
            StandardError.say("opbench: warning: \(counted(run.badSamples, "sample")) failed; see the notes")
        }
        for shard in merge.missing { StandardError.say("opbench: warning: shard \(shard) is missing") }
        let machines = merge.machines
        let noun = machines.count == 1 ? "machine" : "machines"
        StandardError.say(
            "opbench: merged \(counted(merge.count, "part")) of the sweep "
                + "\(merge.sweep.prefix(12)), measured on the \(noun) \(machines.joined(separator: ", "))")
        StandardError.say("opbench: the rows are in \(path)")
    }
}
