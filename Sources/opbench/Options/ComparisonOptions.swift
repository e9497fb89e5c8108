import ArgumentParser
import OpBenchAnalysis
import OpBenchModel

/// How sides are matched and where a comparison goes: what `compare` and `gate` have in common.
struct ComparisonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A policy file (JSON).",
            discussion: """
                Without it the engine's time ratio to Dispatch may rise by 5 %, and its allocations not at all. \
                `opbench schema policy` prints what a file may say.
                """,
            valueName: "file"))
    var policy: String?

    @Option(
        name: .customLong("ignore-parameters"),
        help: ArgumentHelp(
            "Parameters, separated by commas, in which cells that are compared may differ.", valueName: "list"))
    var ignoredParameters: String?

    @Option(
        name: .customLong("results"), help: ArgumentHelp("The folder in which runs are looked up.", valueName: "dir"))
    var folder = "results"

    @Flag(name: .customLong("all"), help: "Print every figure, also those that no rule of the policy asks about.")
    var showsAll = false

    @Option(help: ArgumentHelp("How the comparison is printed.", valueName: "format"))
    var format = ComparisonFormat.table

    @Option(help: ArgumentHelp("Write compare.csv there, every figure.", valueName: "file"))
    var csv: String?

    @Option(help: ArgumentHelp("Write a summary in Markdown there, such as a CI job shows.", valueName: "file"))
    var markdown: String?

    @Option(help: ArgumentHelp("Write JUnit XML there, a test case a judged figure.", valueName: "file"))
    var junit: String?

    @Flag(name: .customLong("github-annotations"), help: "Print a workflow command for each figure that fails.")
    var annotates = false

    func loadPolicy() throws(InputError) -> GatePolicy {
        guard let policy else { return .standard }
        return try GatePolicy.load(file: policy)
    }

    /// Names of parameters; one that no row has is a slip.
    func ignored(among rows: [SampleRow]) throws(InputError) -> Set<String> {
        guard let list = ignoredParameters else { return [] }
        let known = Set(rows.flatMap(\.parameters.keys)).sorted()
        var names: Set<String> = []
        for part in list.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(part)
            guard known.contains(name) else {
                throw InputError(
                    file: "--ignore-parameters", message: "no cell has a parameter \"\(name)\"",
                    remedy: Suggestion.remedy(for: name, among: known))
            }
            names.insert(name)
        }
        return names
    }

    func compare(_ base: RecordedRun, _ head: RecordedRun, policy: GatePolicy) throws(InputError) -> [CompareRow] {
        try RecordedRun.checkSameHost(base, head)
        let ignored = try ignored(among: base.samples + head.samples)
        return Comparison(
            base: base.samples, head: head.samples,
            question: .init(ignoredParameters: ignored, rule: { policy.rule(for: $0) })
        ).rows
    }

    /// The sides of a run of two builds in turns.
    func compareSides(of run: RecordedRun, policy: GatePolicy) throws(InputError) -> [CompareRow] {
        let sides = Set(run.samples.map(\.side))
        guard sides.isSuperset(of: ["base", "head"]) else {
            throw InputError(
                file: run.name, message: "the run has no sides `base` and `head`",
                remedy: "name a run of `opbench ab`, or compare two runs with --baseline and --candidate")
        }
        let ignored = try ignored(among: run.samples)
        return Comparison(
            sidesOf: run.samples, question: .init(ignoredParameters: ignored, rule: { policy.rule(for: $0) })
        ).rows
    }

    /// Prints the comparison and writes the files that were asked for.
    func report(_ rows: [CompareRow], policy: GatePolicy, outcome: GateOutcome? = nil) throws {
        for index in policy.unusedRules(among: rows) {
            StandardError.write("opbench: warning: rule \(index + 1) of the policy matches no figure\n")
        }
        let shown = showsAll ? rows : rows.filter { policy.rule(for: $0) != nil }
        try StandardOutput.write(format.text(of: shown, outcome: outcome))
        if annotates { try StandardOutput.write(GitHubAnnotations.text(of: shown)) }
        if let csv { try WholeFile.write(CSVFile.text(of: rows), to: csv) }
        if let markdown { try WholeFile.write(ComparisonMarkdown.text(of: shown, outcome: outcome), to: markdown) }
        if let junit { try WholeFile.write(JUnitReport.text(of: shown), to: junit) }
    }
}

/// `--format` of a comparison.
enum ComparisonFormat: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json, markdown

    func text(of rows: [CompareRow], outcome: GateOutcome?) -> String {
        switch self {
        case .table: ComparisonTable.text(of: rows, outcome: outcome)
        case .csv: CSVFile.text(of: rows)
        case .json: RowJSON.text(of: rows)
        case .markdown: ComparisonMarkdown.text(of: rows, outcome: outcome)
        }
    }
}
