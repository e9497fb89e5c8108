import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// Compares recorded runs.
struct RunComparison {
    /// Parameters, separated by commas, that matching cells may differ in.
    var ignoredParameters: String?

    /// The ignored parameters, which must appear in some row.
    private func ignored(among runs: [RecordedRun]) throws(InputError) -> Set<String> {
        guard let list = ignoredParameters else { return [] }
        let known = runs.reduce(into: Set<String>()) { known, run in
            for row in run.samples { known.formUnion(row.parameters.keys) }
        }.sorted()
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

    /// - Parameter anchors: the baselines of the policy; without them, their rules judge nothing.
    func compare(
        _ base: RecordedRun, _ head: RecordedRun, policy: GatePolicy, anchors: [RecordedRun] = []
    ) throws(InputError) -> [CompareRow] {
        for run in [base, head] where run.hasSides {
            throw InputError(
                file: run.name, message: "the run already has two sides", remedy: "judge it with `opbench gate --ab`")
        }
        let ignored = try ignored(among: [base, head])
        try RecordedRun.checkSameHost(base, head, ignoring: ignored)
        let question = AppliedPolicy(policy, ignoring: ignored).question()
        let rows = try Comparison(base: base.samples, head: head.samples, question: question).rows
        let staged = AppliedPolicy(policy, stages: head.facts?.stages ?? [], ignoring: ignored)
        return try add(anchors, to: rows, of: head, staged, ignored)
    }

    /// The figures with those that are compared with the policy's baselines.
    private func add(
        _ anchors: [RecordedRun], to rows: [CompareRow], of head: RecordedRun, _ policy: AppliedPolicy,
        _ ignored: Set<String>
    ) throws(InputError) -> [CompareRow] {
        for anchor in anchors { try RecordedRun.checkSameHost(anchor, head, ignoring: ignored) }
        return rows.adding(anchored: try AnchoredComparison(anchors.baselines, policy).rows(head.samples))
    }

    /// Compares two backends of a run of one build. The rows have the base's name and no verdicts.
    func compareBackends(
        _ base: BackendID, _ head: BackendID, of run: RecordedRun
    ) throws(InputError) -> [CompareRow] {
        if run.hasSides {
            throw InputError(
                file: run.name, message: "the run compares two builds",
                remedy: "compare backends of a run of one build, of `opbench run`")
        }
        let known = [run].backends.map(\.rawValue).sorted()
        for backend in [base, head] where !known.contains(backend.rawValue) {
            throw InputError(
                file: run.name, message: "the run has no backend \"\(backend.rawValue)\"",
                remedy: Suggestion.remedy(for: backend.rawValue, among: known))
        }
        return try Comparison(backends: base, head, of: run.samples).rows
    }

    /// Compares the sides of a run of two interleaved builds.
    func compareSides(
        of run: RecordedRun, policy: GatePolicy, anchors: [RecordedRun] = []
    ) throws(InputError) -> [CompareRow] {
        let sides = Set(run.samples.map(\.side))
        guard sides.isSuperset(of: ["base", "head"]) else {
            throw InputError(
                file: run.name, message: "the run has no sides `base` and `head`",
                remedy: "name a run of `opbench ab`, or compare two runs with --baseline and --candidate")
        }
        let ignored = try ignored(among: [run])
        let applied = AppliedPolicy(policy, stages: run.facts?.stages ?? [], ignoring: ignored)
        return try add(anchors, to: try SideComparison(applied).rows(run.samples), of: run, applied, ignored)
    }
}

/// The place of runs, and how cells match: the options that `compare` and `gate` share.
struct ComparisonOptions: ParsableArguments {
    @Option(
        name: .customLong("ignore-parameters"),
        help: ArgumentHelp(
            "Parameters, separated by commas, that compared cells may differ in.", valueName: "list"))
    var ignoredParameters: String?

    @Option(
        name: .customLong("results"), help: ArgumentHelp("The folder to look runs up in.", valueName: "dir"),
        completion: .directory)
    var folder = "results"

    func validate() throws { try FolderArgument.check(folder, option: "--results") }

    func compare(
        _ base: RecordedRun, _ head: RecordedRun, policy: GatePolicy, anchors: [RecordedRun]
    ) throws(InputError) -> [CompareRow] {
        try comparison.compare(base, head, policy: policy, anchors: anchors)
    }

    /// Compares the sides of a run of two interleaved builds.
    func compareSides(
        of run: RecordedRun, policy: GatePolicy, anchors: [RecordedRun]
    ) throws(InputError) -> [CompareRow] {
        try comparison.compareSides(of: run, policy: policy, anchors: anchors)
    }

    private var comparison: RunComparison { RunComparison(ignoredParameters: ignoredParameters) }
}
