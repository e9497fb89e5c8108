import OpBenchModel

/// Judges the figures of runs by the goals of a policy.
///
/// A goal is met if the whole interval of its figure lies within the bound, and missed if all of it lies beyond and
/// there are as many blocks as the rule needs. Otherwise it is inconclusive: missing data never meet a goal. Figures
/// that barely vary are compared without an interval.
public struct GoalJudgement: Sendable {
    /// A row for every figure that a goal bounds, in the order of the goals; one row for a goal that matches no figure.
    public let rows: [CompareRow]

    /// - Parameters:
    ///   - runs: runs of different cells, each with the name that the user gave it.
    ///   - hosts: the hosts of the cells, as far as they are known.
    /// - Throws: `InputError` if two runs have a cell in common, or if a goal compares a cell with one of another kind
    ///   of host.
    public init(
        _ goals: [GatePolicy.Rule], of runs: [(name: String, samples: [SampleRow])], hosts: [String: HostKind] = [:]
    ) throws(InputError) {
        let figures = try MeasuredFigures(runs)
        let found = goals.map { figures.places(of: $0.selector) }
        for (goal, places) in zip(goals, found) { try Self.checkHosts(of: places.map(\.cellID), goal, hosts) }
        rows = zip(goals, found).flatMap { goal, places in
            places.isEmpty ? [goal.missing] : places.map { figures.judge($0, by: goal) }
        }
    }
}

extension GoalJudgement {
    private static func checkHosts(
        of cells: [String], _ goal: GatePolicy.Rule, _ hosts: [String: HostKind]
    ) throws(InputError) {
        guard case .cell(let other) = goal.against, let against = hosts[other] else { return }
        for cell in cells {
            guard let (what, own, others) = hosts[cell]?.difference(from: against) else { continue }
            throw InputError(
                file: "--policy",
                message:
                    "the cell \"\(cell)\" is compared with \"\(other)\", whose \(what) is \"\(others)\" and not "
                    + "\"\(own)\"",
                remedy: "measure both on machines of one class")
        }
    }
}

/// The figures of several runs, by identity.
private struct MeasuredFigures {
    /// Like `CellFigures.Key`, with the cell's id.
    typealias Place = CellFigures.Key
    /// The denominator of a ratio; it is paired with the figure within blocks, unless it is another cell's.
    private typealias Reference = (place: Place, isPaired: Bool)

    private var series: [Place: CellFigures.Series] = [:]

    init(_ runs: [(name: String, samples: [SampleRow])]) throws(InputError) {
        var names: [String: String] = [:]
        for (name, samples) in runs {
            for cell in Set(samples.map(\.cellID)).sorted() {
                if let other = names.updateValue(name, forKey: cell) {
                    throw InputError(
                        file: name, message: "the cell \"\(cell)\" is also in the run \(other)",
                        remedy: "name runs of different cells, or judge each by itself")
                }
            }
            for (key, series) in CellFigures(rows: samples).series {
                var place = key
                place.cellID = series.cellID
                self.series[place] = series
            }
        }
    }

    /// The figures that a goal's rule matches, among those with an upper bound.
    func places(of selector: GatePolicy.Selector) -> [Place] {
        series.keys.filter { place in
            Metric.named(place.metric)?.direction ?? .lower == .lower
                && selector.matches(place.name)
        }.sorted()
    }

    func judge(_ place: Place, by goal: GatePolicy.Rule) -> CompareRow {
        let (own, atMost) = (series[place]!, goal.figure.atMost ?? .infinity)
        var row = goal.row(of: place.name)
        (row.runID, row.head, row.blocks) = (own.runID, own.centre, own.valueOfBlock.count)
        var reference: Reference?
        if let against = goal.against {
            reference = find(against, of: place)
            guard let reference, let base = series[reference.place] else { return row }
            row.against = reference.isPaired ? reference.place.backend.rawValue : reference.place.cellID
            row.base = base.centre
        }
        let measured = [own] + [reference.flatMap { series[$0.place] }].compactMap(\.self)
        if measured.allSatisfy(\.isExact) {
            if let base = row.base { row.ratio = row.head.map { $0 / base }.flatMap { $0.isFinite ? $0 : nil } }
            let bounded = reference == nil ? row.head : row.ratio
            row.take(bounded.map { Judgement(verdict: $0 <= atMost ? .met : .missed) } ?? .inconclusive(.noRatio))
            return row
        }
        var effect = self.effect(of: place, to: reference)
        var interval = medianInterval(of: own.values)
        if reference != nil {
            row.blocks = effect?.blocks ?? row.blocks
            row.ratio = effect?.ratio
            interval = effect?.ratioInterval
            if row.ratio == nil { effect = nil }
        }
        (row.ratioLow, row.ratioHigh) = (interval?.lowerBound, interval?.upperBound)
        row.take(goal.figure.judgement(on: effect, atMost: atMost, blocks: row.blocks ?? 0))
        let isRatio = reference != nil || BaselineRatio.names.contains(place.metric)
        // A busy machine only lengthens a time, but either moves a ratio.
        guard place.isOfWallClock, measured.contains(where: \.isOfBusyMachine),
            row.verdict == .missed || row.verdict == .met && isRatio
        else { return row }
        let other = reference.map { (place: $0.place.ofCPUTime, isPaired: $0.isPaired) }
        let cpuTime = isRatio ? self.effect(of: place.ofCPUTime, to: other) : nil
        let isConfirmed = cpuTime?.side(of: atMost) == (row.verdict == .met ? .minus : .plus)
        if !isConfirmed || cpuTime?.scale != effect?.scale { row.take(.inconclusive(.busyMachine)) }
        return row
    }

    /// The figure or, if there is a reference, its ratio to that.
    private func effect(of place: Place, to reference: Reference?) -> Effect? {
        guard let own = series[place] else { return nil }
        guard let reference else { return Effect(of: own.values) }
        guard let base = series[reference.place] else { return nil }
        return reference.isPaired
            ? Effect(pairs: base.pairs(with: own)) : Effect(base: base.replicates, head: own.replicates)
    }

    /// Nil if none was measured.
    private func find(_ reference: GatePolicy.Rule.Reference, of place: Place) -> Reference? {
        var other = place
        switch reference {
        case .baseline: return nil
        case .cell(let id):
            other.cellID = id
            return (other, false)
        case .fastest(let backends):
            let found = backends.compactMap { backend -> (place: Place, middle: Double)? in
                other.backend = backend
                return series[other]?.centre.map { (other, $0) }
            }
            return found.min { $0.middle < $1.middle }.map { ($0.place, true) }
        }
    }
}

extension CellFigures.Series {
    /// Whether the figure is a count on which two samples agree. A count with a single sample is exact too.
    fileprivate var isExact: Bool { counts.map { $0.values.count == 1 || $0.agreed != nil } ?? false }
}

extension Effect {
    /// The side of the bound on which the whole interval lies; nil if it includes the bound.
    fileprivate func side(of atMost: Double) -> FloatingPointSign? {
        interval?.side(of: bound(atMost)...bound(atMost))
    }
}

extension GatePolicy.Rule {
    /// A row of the goal, without a figure.
    fileprivate func row(of figure: FigureName) -> CompareRow {
        var row = CompareRow(figure, verdict: .missing)
        (row.against, row.atMost) = (against?.text ?? "", self.figure.atMost)
        return row
    }

    /// The row of a goal that matches no figure, named by its rule.
    fileprivate var missing: CompareRow {
        func name(_ pattern: String) -> String { pattern == "*" ? "" : pattern }
        return row(
            of: FigureName(
                cellID: selector.cell == "*" ? selector.workload : selector.cell,
                backend: BackendID(rawValue: selector.backend), metric: selector.metric, phase: name(selector.phase),
                operationClass: name(selector.operationClass), stat: name(selector.stat)))
    }
}

extension FigureRule {
    /// The judgement of a goal's figure or ratio that varies, as if it were a worsening by as much as the bound allows.
    ///
    /// - Parameter effect: nil if there is no ratio.
    fileprivate func judgement(on effect: Effect?, atMost: Double, blocks: Int) -> Judgement {
        guard var effect else {
            let enough = max(minBlocks, minimumForInterval)
            return .inconclusive(blocks < minimumForInterval ? .tooFewBlocks(blocks, enough: enough) : .noRatio)
        }
        effect.mostBlocks = BlockStages.mostOfRun
        var judgement = self.judgement(
            on: effect, margin: Margin(atMost: effect.bound(atMost)), adjustedProbability: 0, direction: .lower)
        if judgement.verdict != .inconclusive { judgement.verdict = judgement.verdict == .pass ? .met : .missed }
        return judgement
    }
}
