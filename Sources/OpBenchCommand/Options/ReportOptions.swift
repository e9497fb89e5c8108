import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// The policy, and the destinations of the comparison: the options that `compare`, `gate` and `ab` share.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A policy file (JSON).",
            discussion: """
                By default, time and CPU time of the engine and of declared backends may rise by 5 % relative to \
                Dispatch, between two interleaved builds by 2 %; allocations and unreleased memory by 1 %; latencies \
                in an open loop by 10 % (p50) and 25 % (p99). Between two interleaved builds, a searched rate may fall \
                by 10 %. `opbench describe policy-schema` prints the format.
                """,
            valueName: "file"),
        completion: .json)
    var policy: String?

    @Flag(name: .customLong("all"), help: "Print all figures, including those without a rule in the policy.")
    var showsAll = false

    @OptionGroup var presentation: PresentationOptions

    @Option(help: ArgumentHelp("Write every figure to this file, as CSV.", valueName: "file"), completion: .file())
    var csv: String?

    @Option(
        help: ArgumentHelp("Write a Markdown summary to this file, for a CI job.", valueName: "file"),
        completion: .file())
    var markdown: String?

    @Option(help: ArgumentHelp("Write JUnit XML to this file, one test case per judged figure.", valueName: "file"))
    var junit: String?

    @Flag(name: .customLong("github-annotations"), help: "Print a workflow command for each figure that fails.")
    var annotates = false

    /// Whether the comparison has a destination besides standard output.
    var isWritten: Bool { csv != nil || markdown != nil || junit != nil || annotates }

    /// A requested file, and its text from all figures and from the report.
    typealias Output = (file: ReportFile, text: ([CompareRow], ComparisonReport) -> String)

    /// The requested files, checked before any work is done.
    func files() throws(InputError) -> [Output] {
        var files: [Output] = []
        if let csv { files.append((try ReportFile(csv), { rows, _ in CSVFile.text(of: rows) })) }
        if let markdown { files.append((try ReportFile(markdown), { ComparisonMarkdown.text(of: $1) })) }
        if let junit { files.append((try ReportFile(junit), { JUnitReport.text(of: $1) })) }
        return files
    }

    func loadPolicy(for compared: ComparedRuns) throws(InputErrors) -> GatePolicy {
        guard case .goals(let runs) = compared else {
            return try .forTwoSides(policy, or: compared.standardPolicy, on: compared.runs.backends)
        }
        let remedy = "name a policy whose rules have at_most, or a --baseline to compare with"
        guard let policy else {
            throw InputErrors(
                InputError(
                    file: "--policy", message: "a single run is judged by goals, but there are none", remedy: remedy))
        }
        let goals = try GatePolicy.load(file: policy, recorded: runs.backends)
        guard goals.isOfGoals else {
            throw InputErrors(
                InputError(
                    file: policy, path: "$.rules", message: "the rules compare two sides, but there is only one run",
                    remedy: remedy))
        }
        return goals
    }

    /// Prints the comparison and writes the requested files.
    ///
    /// - Parameter anchors: the baselines of the policy.
    func report(
        _ rows: [CompareRow], policy: GatePolicy, compared: ComparedRuns,
        anchors: [MeasuredRun], outcome: GateOutcome? = nil, files: [Output]
    ) throws {
        for index in policy.unusedRules(among: rows) {
            StandardError.say("opbench: warning: rule \(index + 1) of the policy matches no figure")
        }
        let shown = ComparisonReport(
            rows: showsAll ? rows : policy.asked(among: rows), outcome: outcome, compared: compared, anchors: anchors)
        // Tables and Markdown have them.
        if presentation.format == .csv {
            for line in shown.surroundings {
                StandardError.say("opbench: warning: the sides differ around the code: \(line)")
            }
        }
        try StandardOutput.write(presentation.text(of: shown))
        if annotates { try StandardOutput.write(GitHubAnnotations.text(of: shown)) }
        try ReportFile.write(files.map { ($0.file, $0.text(rows, shown)) })
    }
}

extension GatePolicy {
    /// A policy file's rules for two sides.
    ///
    /// - Parameters:
    ///   - file: nil for the standard policy.
    ///   - backends: the backends of the judged runs, which other programs may have declared; the file may name them.
    static func forTwoSides(
        _ file: String?, or standard: GatePolicy, on backends: Set<BackendID>
    ) throws(InputErrors) -> GatePolicy {
        guard let file else { return standard }
        let loaded = try GatePolicy.load(file: file, recorded: backends)
        guard !loaded.isOfGoals else {
            throw InputErrors(
                InputError(
                    file: file, path: "$.rules[0].at_most", message: "goals apply to one run, not to two sides",
                    remedy: "judge it with `opbench gate --candidate RUN --policy \(file)`"))
        }
        return loaded
    }
}

extension [MeasuredRun] {
    /// The backends that have rows.
    var backends: Set<BackendID> {
        reduce(into: []) { backends, run in for row in run.samples { backends.insert(row.backend) } }
    }
}
