import ArgumentParser
import OpBenchAnalysis
import OpBenchModel

/// What figures are judged by and where the comparison goes: what `compare`, `gate` and `ab` have in common.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A policy file (JSON).",
            discussion: """
                Without it the engine's ratios of time and CPU time to Dispatch may rise by 5 %, between two interleaved \
                builds its total time and CPU time by 2 %; its allocations and what it does not give back by 1 %; of an \
                open loop the latencies by 10 % (p50) and 25 % (p99), and a searched rate may fall by 10 % between two \
                interleaved builds; the same of backends that a program declares. \
                `opbench schema policy` prints what a file may say.
                """,
            valueName: "file"))
    var policy: String?

    @Flag(name: .customLong("all"), help: "Print every figure, including those that no rule of the policy judges.")
    var showsAll = false

    @OptionGroup var presentation: PresentationOptions

    @Option(help: ArgumentHelp("Write every figure to this file, as CSV.", valueName: "file"))
    var csv: String?

    @Option(help: ArgumentHelp("Write a Markdown summary to this file, for a CI job to show.", valueName: "file"))
    var markdown: String?

    @Option(help: ArgumentHelp("Write JUnit XML to this file, one test case per judged figure.", valueName: "file"))
    var junit: String?

    @Flag(name: .customLong("github-annotations"), help: "Print a workflow command for each figure that fails.")
    var annotates = false

    /// Whether the comparison goes elsewhere than to standard output.
    var isWritten: Bool { csv != nil || markdown != nil || junit != nil || annotates }

    /// The files that were asked for, found fit to be written before any work is done.
    func files() throws(InputError) -> ReportFiles {
        ReportFiles(
            csv: try csv.map { (path) throws(InputError) in try ReportFile(path) },
            markdown: try markdown.map { (path) throws(InputError) in try ReportFile(path) },
            junit: try junit.map { (path) throws(InputError) in try ReportFile(path) })
    }

    /// - Parameter backends: those of what is judged, which may be of other programs.
    func loadPolicy(or standard: GatePolicy, on backends: Set<BackendID>) throws(InputErrors) -> GatePolicy {
        try .forTwoSides(policy, or: standard, on: backends)
    }

    func loadGoals(of runs: [RecordedRun]) throws(InputErrors) -> [GatePolicy.Goal] {
        guard let policy else {
            throw InputErrors(
                InputError(
                    file: "--policy", message: "a run by itself is judged by goals, and none are given",
                    remedy: "name a policy whose rules have at_most, or a --baseline to compare with"))
        }
        let goals = try GatePolicy.load(file: policy, recorded: runs.backends).goals
        guard !goals.isEmpty else {
            throw InputErrors(
                InputError(
                    file: policy, path: "$.rules", message: "the rules compare two sides, and there is one run",
                    remedy: "name a policy whose rules have at_most, or a --baseline to compare with"))
        }
        return goals
    }

    /// Prints the comparison and writes the files that were asked for.
    func report(
        _ rows: [CompareRow], policy: GatePolicy, compared: ComparisonReport<CompareRow>.Compared,
        outcome: GateOutcome? = nil,
        files: ReportFiles
    ) throws {
        for index in policy.unusedRules(among: rows) {
            StandardError.say("opbench: warning: rule \(index + 1) of the policy matches no figure")
        }
        let raised = rows.count { $0.isRaisedToFloor }
        if raised > 0 {
            StandardError.say(
                "opbench: warning: \(raised) \(raised == 1 ? "margin is" : "margins are") raised to the noise floor of this host"
            )
        }
        let shown = ComparisonReport(
            rows: showsAll ? rows : rows.filter { policy.rule(for: $0) != nil }, outcome: outcome, compared: compared)
        try write(shown, allRows: rows, files: files)
    }

    /// - Parameter allRows: those that are not printed, too: a file has them all.
    func write<Row>(_ shown: ComparisonReport<Row>, allRows: [Row], files: ReportFiles) throws {
        try StandardOutput.write(presentation.text(of: shown))
        if annotates { try StandardOutput.write(GitHubAnnotations.text(of: shown)) }
        var reports: [(file: ReportFile, text: String)] = []
        if let file = files.csv { reports.append((file, CSVFile.text(of: allRows))) }
        if let file = files.markdown { reports.append((file, ComparisonMarkdown.text(of: shown))) }
        if let file = files.junit { reports.append((file, JUnitReport.text(of: shown))) }
        try ReportFile.write(reports)
        // A reader of the table has seen them there.
        if !(presentation.format == .table && StandardOutput.isTerminal && StandardError.isTerminal) {
            for remedy in shown.remedies { StandardError.say("opbench: \(remedy)") }
        }
    }
}

extension GatePolicy {
    /// A policy file's rules for two sides.
    ///
    /// - Parameters:
    ///   - file: nil for the standard.
    ///   - backends: those of what is judged, which may be of other programs and stand in the file.
    static func forTwoSides(
        _ file: String?, or standard: GatePolicy, on backends: Set<BackendID>
    ) throws(InputErrors) -> GatePolicy {
        guard let file else { return standard }
        let loaded = try GatePolicy.load(file: file, recorded: backends)
        guard loaded.goals.isEmpty else {
            throw InputErrors(
                InputError(
                    file: file, path: "$.rules[0].at_most", message: "goals are about one run, and not two sides",
                    remedy: "judge it by `opbench gate --candidate RUN --policy \(file)`"))
        }
        return loaded
    }
}

extension [RecordedRun] {
    /// Those that have rows.
    var backends: Set<BackendID> {
        reduce(into: []) { backends, run in for row in run.samples { backends.insert(row.backend) } }
    }
}

/// Where a comparison's reports go.
struct ReportFiles {
    var csv: ReportFile?
    var markdown: ReportFile?
    var junit: ReportFile?
}
