import Glibc
import OpBenchModel

/// Judges the figures of runs by the goals of a policy.
///
/// A goal is met if the whole interval of its figure lies within the bound, and missed if all of it lies beyond and
/// there are as many blocks as the rule needs. Otherwise it is inconclusive: missing data never meet a goal. Figures
/// that barely vary are compared without an interval.
public struct GoalJudgement: Sendable {
    /// A row for every figure that a goal bounds, in the order of the goals; one row for a goal that matches no figure.
    public let rows: [GoalRow]

    /// - Parameters:
    ///   - runs: runs of different cells, each with the name that the user gave it.
    ///   - hosts: the hosts of the cells, as far as they are known.
    /// - Throws: `InputError` if two runs have a cell in common, or if a goal compares a cell with one of another kind
    ///   of host.
    public init(
        _ goals: [GatePolicy.Goal], of runs: [(name: String, samples: [SampleRow])], hosts: [String: HostKind] = [:]
    ) throws(InputError) {
        let figures = try MeasuredFigures(runs)
        let found = goals.map { figures.places(of: $0.selector) }
        for (goal, places) in zip(goals, found) { try Self.checkHosts(of: places.map(\.cell), goal, hosts) }
        rows = zip(goals, found).flatMap { goal, places in
            places.isEmpty ? [goal.missing] : places.map { figures.judge($0, by: goal) }
        }
    }
}

extension GoalJudgement {
    private static func checkHosts(
        of cells: [String], _ goal: GatePolicy.Goal, _ hosts: [String: HostKind]
    ) throws(InputError) {
        guard case .cell(let other) = goal.reference, let against = hosts[other] else { return }
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

    private var series: [Place: CellFigures.Series] = [:]
    private var runIDs: [String: String] = [:]

    init(_ runs: [(name: String, samples: [SampleRow])]) throws(InputError) {
        var names: [String: String] = [:]
        for (name, samples) in runs {
            let cells = Dictionary(samples.map { ($0.cellID, $0.runID) }, uniquingKeysWith: { $1 })
            for (cell, runID) in cells.sorted(by: { $0.key < $1.key }) {
                if let other = names.updateValue(name, forKey: cell) {
                    throw InputError(
                        file: name, message: "the cell \"\(cell)\" is also in the run \(other)",
                        remedy: "name runs of different cells, or judge each by itself")
                }
                runIDs[cell] = runID
            }
            let figures = CellFigures(rows: samples)
            for (key, series) in figures.series {
                var place = key
                place.cell = series.cellID
                self.series[place] = series
            }
        }
    }

    /// The figures that a goal's rule matches, among those with an upper bound.
    func places(of selector: GatePolicy.Selector) -> [Place] {
        series.keys.filter { place in
            Metric.named(place.metric)?.direction ?? .lower == .lower
                && selector.matches(place.name(cellID: place.cell))
        }.sorted()
    }

    func judge(_ place: Place, by goal: GatePolicy.Goal) -> GoalRow {
        let own = series[place]!
        var row = GoalRow(place.name(cellID: place.cell))
        (row.runID, row.atMost, row.reference) = (runIDs[place.cell]!, goal.atMost, goal.reference?.text ?? "")
        (row.value, row.blocks) = (own.centre, own.valueOfBlock.count)
        guard let reference = goal.reference else {
            let judged = goal.judged(
                row, estimate: row.value, interval: medianInterval(of: own.values), isExact: own.isExact)
            // A busy machine only lengthens a time, but either moves a ratio.
            guard BaselineRatio.names.contains(place.metric) || judged.verdict == .missed else { return judged }
            let ofCPUTime = BaselineRatio.names.contains(place.metric) ? series[place.ofCPUTime] : nil
            return goal.confirmed(
                judged, isOfBusyMachine: place.isOfWallClock && own.isOfBusyMachine,
                cpuTime: ofCPUTime.flatMap { medianInterval(of: $0.values) })
        }
        guard let found = find(reference, of: place) else { return row }
        row.reference = found.name
        row.base = found.series.centre
        if own.isExact, found.series.isExact {
            row.ratio = row.base.flatMap { base in row.value.map { $0 / base } }.flatMap { $0.isFinite ? $0 : nil }
            return goal.judged(row, estimate: row.ratio, interval: nil, isExact: true)
        }
        let effect = Self.effect(of: own, to: found.series, isPaired: found.isPaired)
        row.ratio = effect?.ratio
        row.blocks = effect?.blocks ?? row.blocks
        let ofCPUTime = series[place.ofCPUTime].flatMap { own in
            series[found.place.ofCPUTime].flatMap { Self.effect(of: own, to: $0, isPaired: found.isPaired) }
        }
        return goal.confirmed(
            goal.judged(row, estimate: effect?.ratio, interval: effect?.ratioInterval, isExact: false),
            isOfBusyMachine: place.isOfWallClock && (own.isOfBusyMachine || found.series.isOfBusyMachine),
            cpuTime: ofCPUTime?.ratioInterval)
    }

    private static func effect(
        of own: CellFigures.Series, to other: CellFigures.Series, isPaired: Bool
    ) -> Effect? {
        isPaired
            ? Effect(pairs: other.pairs(with: own)) : Effect(base: other.replicates, head: own.replicates)
    }

    /// The reference of a goal's figure; nil if it was not measured.
    private func find(
        _ reference: GatePolicy.Goal.Reference, of place: Place
    ) -> (name: String, place: Place, series: CellFigures.Series, isPaired: Bool)? {
        var other = place
        switch reference {
        case .cell(let id):
            other.cell = id
            return series[other].map { (id, other, $0, false) }
        case .fastest(let backends):
            let found = backends.compactMap { backend -> (place: Place, series: CellFigures.Series, middle: Double)? in
                other.backend = backend.rawValue
                return series[other].flatMap { series in series.centre.map { (other, series, $0) } }
            }
            return found.min { $0.middle < $1.middle }.map { ($0.place.backend, $0.place, $0.series, true) }
        }
    }
}

extension CellFigures.Series {
    /// Whether the figure is a count on which two samples agree. A count with a single sample is exact too.
    fileprivate var isExact: Bool { counts.map { $0.values.count == 1 || $0.agreed != nil } ?? false }
}

extension GatePolicy.Goal {
    /// The row of a goal that matches no figure, named by its rule.
    fileprivate var missing: GoalRow {
        GoalRow(
            cellID: selector.cell == "*" ? selector.workload : selector.cell,
            backend: BackendID(rawValue: selector.backend), phase: selector.phase == "*" ? "" : selector.phase,
            operationClass: selector.operationClass == "*" ? "" : selector.operationClass, metric: selector.metric,
            stat: selector.stat == "*" ? "" : selector.stat, reference: reference?.text ?? "",
            atMost: atMost)
    }

    /// - Parameters:
    ///   - estimate: the bounded ratio or figure; nil if the denominator is 0.
    ///   - interval: nil for counts that agree, and for too few figures.
    ///   - isExact: whether the figures are counts that agree.
    fileprivate func judged(
        _ row: GoalRow, estimate: Double?, interval: ClosedRange<Double>?, isExact: Bool
    ) -> GoalRow {
        var row = row
        (row.low, row.high) = (interval?.lowerBound, interval?.upperBound)
        let judgement = isExact ? exactJudgement(estimate) : judgement(estimate, interval, blocks: row.blocks ?? 0)
        (row.verdict, row.doubt) = (judgement.verdict, judgement.doubt)
        return row
    }

    /// The row, or without its verdict if a busy machine may be the reason, and CPU time does not lie on the same side of
    /// the bound.
    fileprivate func confirmed(_ row: GoalRow, isOfBusyMachine: Bool, cpuTime: ClosedRange<Double>?) -> GoalRow {
        guard isOfBusyMachine, row.verdict == .met || row.verdict == .missed,
            cpuTime?.side(of: atMost...atMost) != (row.verdict == .met ? .minus : .plus)
        else { return row }
        var row = row
        (row.verdict, row.doubt) = (.inconclusive, .busyMachine)
        return row
    }

    private func exactJudgement(_ estimate: Double?) -> Judgement {
        guard let estimate else { return .inconclusive(.noRatio) }
        return Judgement(verdict: estimate <= atMost ? .met : .missed)
    }

    private func judgement(_ estimate: Double?, _ interval: ClosedRange<Double>?, blocks: Int) -> Judgement {
        let needed = max(minBlocks, minimumForInterval)
        guard let estimate else {
            return .inconclusive(blocks < minimumForInterval ? .tooFewBlocks(blocks, enough: needed) : .noRatio)
        }
        guard let interval else { return .inconclusive(.tooFewBlocks(blocks, enough: needed)) }
        if interval.upperBound <= atMost { return Judgement(verdict: .met) }
        guard interval.lowerBound > atMost else {
            let clearing = blocksToClear(
                log(atMost), low: log(interval.lowerBound), centre: log(estimate), high: log(interval.upperBound),
                blocks: blocks, most: BlockStages.mostOfRun)
            let enough = clearing.map { max($0, minBlocks) } ?? (blocks < minBlocks ? minBlocks : nil)
            return .inconclusive(.wideInterval(blocks: blocks, enough: enough))
        }
        guard blocks >= minBlocks else { return .inconclusive(.tooFewBlocks(blocks, enough: minBlocks)) }
        return Judgement(verdict: .missed)
    }
}
