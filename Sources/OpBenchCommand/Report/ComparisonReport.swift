import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

extension Verdict {
    /// The verdicts of judged figures, the worst first.
    fileprivate static let inOrder: [Verdict] = [
        .regression, .missed, .missing, .inconclusive, .improved, .pass, .met,
    ]

    fileprivate var words: String {
        switch self {
        case .pass: "unchanged"
        case .improved: "better"
        case .regression: "worse"
        case .met, .missed, .inconclusive, .missing, .unjudged: rawValue
        }
    }

    fileprivate var isBad: Bool { self == .regression || self == .missed }
}

/// Judged figures, ready to be printed.
struct ComparisonReport {
    let rows: [CompareRow]
    /// nil without a gate.
    let outcome: GateOutcome?
    /// Remedies for inconclusive rows, one line each.
    let remedies: [String]
    /// Resolution of the clock that timed the figures, in nanoseconds.
    let clockResolution: Double
    let columns: [CompareRow.Column]
    let compared: ComparedRuns
    /// The baselines that the policy bounds drift against.
    private let anchors: [MeasuredRun]

    init(rows: [CompareRow], outcome: GateOutcome?, compared: ComparedRuns, anchors: [MeasuredRun] = []) {
        self.outcome = outcome
        self.rows = rows
        self.compared = compared
        self.anchors = anchors
        remedies = Doubt.remedies(of: rows.compactMap(\.doubt))
        let resolutions = compared.runs.compactMap { $0.facts?.clockResolutionNanoseconds }
        clockResolution = resolutions.max() ?? RunFacts.histogramUnitNanoseconds
        columns = CompareRow.columns(clockResolution, ofGoals: rows.contains { $0.atMost != nil })
    }

    /// The sources of variance, if two interleaved builds were compared.
    var variances: [VarianceFinding] {
        guard case .sides(let run) = compared else { return [] }
        return VarianceFinding.all(of: run.samples)
    }

    /// The names of the cells, by workload. A cell that is in no run has no parameters.
    var cellNames: [Substring: CellNames] {
        let known = compared.runs.flatMap { $0.samples.uniqued(by: \.cellID) }.map { ($0.cellID, $0.parameters) }
        let parameters = Dictionary(known) { first, _ in first }
        return Dictionary(grouping: rows, by: \.workload).mapValues { rows in
            CellNames(rows.map(\.cellID).uniqued().map { ($0, parameters[$0]) })
        }
    }

    /// The reason why the gate fails if it is not a figure.
    var failure: String? {
        switch outcome {
        case .badSample: "some samples are invalid, crashed or timed out"
        case nil, .pass: nil
        case .regression, .missed, .missing, .inconclusive:
            rows.contains { $0.verdict != .unjudged } ? nil : "no figure was judged"
        }
    }

    /// The command that ranks the functions behind a regression, and keeps the result in the judged run's folder; nil
    /// without a regression between two builds.
    var explainingWords: [String]? {
        guard !regressed.isEmpty else { return nil }
        let folders = compared.runs.map(\.folder)
        return folders.last.map { ["opbench", "explain", "--output", "\($0)/explanation"] + folders }
    }

    /// The explanations of regressions in the folder of a run of two builds, each with a heading in its first line.
    var explanations: [String] {
        guard case .sides(let run) = compared else { return [] }
        let beginnings = regressed.map { "\($0.cellID) on \($0.backend.rawValue), " }
        return run.explanations.filter { text in beginnings.contains(where: text.hasPrefix) }
    }

    /// The figures that `opbench explain` explains.
    private var regressed: [CompareRow] { rows.filter { $0.verdict == .regression && $0.isOfTwoBuilds } }

    /// A sentence per backend: `engine: 2 figures worse (most: 1.3×, CPU time of …), 1 better, 36 unchanged`
    var findings: [String] {
        let byBackend = Dictionary(grouping: rows, by: \.backend)
        return rows.map(\.backend).uniqued().compactMap { backend in
            let judged = Dictionary(grouping: byBackend[backend] ?? [], by: \.verdict)
            let counts = Verdict.inOrder.compactMap { verdict in judged[verdict].map { (verdict: verdict, rows: $0) } }
            let parts = counts.enumerated().map { index, part in
                let noun = index > 0 ? "" : part.rows.count == 1 ? " figure" : " figures"
                let worst = part.verdict.isBad ? worst(of: part.rows) : ""
                return "\(part.rows.count)\(noun) \(part.verdict.words)\(worst)"
            }
            return parts.isEmpty ? nil : "\(backend.rawValue): \(parts.joined(separator: ", "))"
        }
    }

    /// The ratio and the name of the figure that changed most; empty without ratios.
    private func worst(of rows: [CompareRow]) -> String {
        let changed = rows.compactMap { row in row.excess.map { (row: row, size: $0) } }
        guard let most = changed.max(by: { $0.size < $1.size })?.row, let ratio = most.ratio else { return "" }
        let text = Quantities.short(ratio, width: nil, in: .ratio, resolution: 0)
        return " (\(rows.count == 1 ? "" : "most: ")\(text), \(most.figureName) of \(most.cellID))"
    }

    /// A figure in one line, with the remedy if it is inconclusive.
    func sentence(_ row: CompareRow) -> String {
        let figures = columns.dropFirst(3).map { "\($0.title) \($0.text(row))" }.joined(separator: ", ")
        let remedy = row.doubt.map { "; \($0.remedy)" } ?? ""
        return "\(row.cellID), \(row.backend.rawValue), \(row.figureName): \(figures)\(remedy)"
    }
}

// The origin of a comparison's figures, what differs around the code, and the noise.

extension ComparisonReport {
    /// A line for each known fact around the code that differs between the sides: `compiler: A → B`.
    var surroundings: [String] {
        let runs = compared.runs
        let own: [String] =
            switch compared {
            case .runs where runs.count == 2: MeasuredRun.surroundingChanges(runs[0], runs[1]).lines
            case .sides(let run):
                run.facts?.builds.map(Self.lines) ?? []
            case .runs, .goals:
                runs.dropFirst().flatMap { Self.lines(since: runs[0], to: $0) }.uniqued()
            }
        return own + anchors.flatMap { anchor in runs.last.map { Self.lines(since: anchor, to: $0) } ?? [] }
    }

    private static func lines(_ builds: ComparedBuilds) -> [String] {
        builds.base.description.surroundings.changes(to: builds.head.description.surroundings).lines
    }

    private static func lines(since earlier: MeasuredRun, to run: MeasuredRun) -> [String] {
        MeasuredRun.surroundingChanges(earlier, run).lines.map { "since \(earlier.name), \($0)" }
    }

    /// For two interleaved builds: `base main (00a160b1c2), head HEAD (afe90963d4); blocks: 25 throughput, 2 memory`.
    /// Nil if they are unknown.
    var origin: String? {
        guard case .sides(let run) = compared, let facts = run.facts, let builds = facts.builds else { return nil }
        let blocks = RunDescription(run).blocks.map { "; blocks: \($0)" } ?? ""
        return "base \(Self.words(builds.base, ref: facts.refs?.base)), "
            + "head \(Self.words(builds.head, ref: facts.refs?.head))\(blocks)"
    }

    private static func words(_ build: BuildFacts, ref: String?) -> String {
        // Someone who compares commits doesn't know the paths of the binaries.
        guard let commit = build.description.commit else { return ref ?? build.path }
        let short = String(commit.prefix(10))
        return ref.map { commit.hasPrefix($0) ? short : "\($0) (\(short))" } ?? short
    }

    /// The bound of what inconclusive figures may hide: `no regression larger than 9.6 %`. Without inconclusive
    /// figures, the bound of times that are not judged because the machine is too noisy. Nil if there are none, or if
    /// the bound is unknown.
    var bound: String? {
        let open = rows.filter { $0.verdict == .inconclusive }
        let unseen = open.compactMap(\.mostUnseen)
        guard let most = unseen.max() else {
            let left = open.isEmpty ? rows.filter { $0.verdict == .unjudged }.compactMap(\.mostUnseen) : []
            return left.max().map { "time is not judged: no regression larger than \(Quantities.percent($0))" }
        }
        let silent = open.count - unseen.count
        let rest = silent == 0 ? "" : ", except \(silent) of \(open.count) without a result yet"
        return "inconclusive: no regression larger than \(Quantities.percent(most))\(rest)"
    }

    /// The number of disturbed samples, in words; nil if none.
    var noise: String? {
        let samples = DoubtfulSamples(compared.runs.map(\.samples))
        return samples.noisy == 0
            ? nil
            : "\(samples.noisy) of \(counted(samples.total, "sample")), while something else used the machine"
    }
}
