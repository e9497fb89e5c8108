import OpBenchAnalysis
import OpBenchModel

/// Compares recorded runs, by the noise floors that were measured on their host.
struct RunComparison {
    /// Where runs and calibrations are.
    let folder: String
    /// Parameters, separated by commas, in which matching cells may differ.
    var ignoredParameters: String?

    /// Names of parameters; one that no row has is a slip.
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

    func compare(_ base: RecordedRun, _ head: RecordedRun, policy: GatePolicy) throws(InputError) -> [CompareRow] {
        for run in [base, head] where run.samples.contains(where: { !$0.side.isEmpty }) {
            throw InputError(
                file: run.name, message: "the run has two sides already", remedy: "judge it by `opbench gate --ab`")
        }
        let ignored = try ignored(among: [base, head])
        try RecordedRun.checkSameHost(base, head, ignoring: ignored)
        let floors = try CalibrationFolder(in: folder).floors(for: head.facts)
        return try Comparison(
            base: base.samples, head: head.samples,
            question: .init(
                ignoredParameters: ignored, noiseFloor: { floors.floor(of: $0, .unpaired) },
                rule: { policy.rule(for: $0) })
        ).rows
    }

    /// The sides of a run of two interleaved builds.
    func compareSides(of run: RecordedRun, policy: GatePolicy) throws(InputError) -> [CompareRow] {
        let sides = Set(run.samples.map(\.side))
        guard sides.isSuperset(of: ["base", "head"]) else {
            throw InputError(
                file: run.name, message: "the run has no sides `base` and `head`",
                remedy: "name a run of `opbench ab`, or compare two runs with --baseline and --candidate")
        }
        return try SideComparison(
            policy: policy, stages: run.facts?.stages ?? [],
            floors: try CalibrationFolder(in: folder).floors(for: run.facts),
            ignoredParameters: try ignored(among: [run])
        ).rows(run.samples)
    }
}
