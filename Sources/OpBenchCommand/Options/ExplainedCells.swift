import OpBenchAnalysis
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// The cells to explain. Of two builds: those with judged figures that regressed, or may have. Of two backends: those
/// whose time or CPU time differs.
struct ExplainedCells {
    private let rows: [CompareRow]
    private let run: MeasuredRun
    /// Nil for two builds.
    private let two: ExplainedBackends?

    /// The number of cells without a filter; each takes a minute or more.
    static let most = 5

    /// - Parameters:
    ///   - rows: the comparison of both sides; of two backends, under the name of the base.
    ///   - run: the base's run.
    init(_ rows: [CompareRow], of run: MeasuredRun, between two: ExplainedBackends?) {
        (self.rows, self.run, self.two) = (rows, run, two)
    }

    /// - Parameters:
    ///   - filter: selects cells whatever their figures, without a limit.
    ///   - backends: nil for all.
    /// - Returns: the targets, worst first, and a note on those left out.
    /// - Throws: `InputError` if the filter selects no cell with figures of both backends.
    func chosen(
        filter: CellFilter?, backends: [BackendID]?
    ) throws -> (targets: [ExplainedTarget], note: String?) {
        let cells = try recordedCells()
        var worst: [ExplainedTarget: Double] = [:]
        var lacking: Set<String> = []
        for row in rows where backends?.contains(row.backend) ?? true {
            let known = cells[row.cellID]
            let isChosen = filter.map { filter in known.map { filter.matches($0) } ?? filter.matches(row.cellID) }
            guard isChosen ?? isSuspect(row) else { continue }
            if two != nil, row.base == nil || row.head == nil {
                lacking.insert(row.cellID)
                continue
            }
            guard let cell = known else {
                throw InputError(
                    file: run.name, message: "its run.json lacks the workload of the cell \"\(row.cellID)\"",
                    remedy: "measure again with this opbench")
            }
            let target = ExplainedTarget(cell: cell, backends: two ?? ExplainedBackends(row.backend))
            worst[target] = max(worst[target] ?? 0, severity(row))
        }
        if let filter, worst.isEmpty { throw withoutCell(filter, lacking) }
        func rank(_ target: ExplainedTarget) -> (Double, String, String) {
            (-(worst[target] ?? 0), target.cell.id, target.backends.base.rawValue)
        }
        let targets = worst.keys.sorted { rank($0) < rank($1) }
        guard filter == nil, targets.count > Self.most else { return (targets, nil) }
        let what = two == nil ? "regressions" : "cells that differ"
        return (
            Array(targets.prefix(Self.most)),
            "explains the \(Self.most) worst of \(targets.count) \(what); --filter selects others"
        )
    }

    /// The cells of the original files with the run's settings, by id.
    private func recordedCells() throws -> [String: Cell] {
        let settings = try ParameterSettings.parse(run.facts?.settings ?? [])
        let specs = try WorkloadSpec.overriding(run.facts?.workloads ?? [], with: settings)
        return Dictionary(specs.flatMap { $0.cells }.map { ($0.id, $0) }) { $1 }
    }

    /// - Parameter lacking: the selected cells in which a backend has no figures.
    private func withoutCell(_ filter: CellFilter, _ lacking: Set<String>) -> InputError {
        guard let two, let cell = lacking.min() else {
            let backends = two.map { "\($0.base.rawValue) and \($0.head.rawValue)" } ?? "those backends"
            return InputError(
                file: "--filter", message: "\"\(filter.pattern)\" matches no cell of \(run.name) on \(backends)",
                remedy: "`opbench compare --all` prints the cells of runs")
        }
        func samples(_ backend: BackendID) -> [SampleRow] {
            run.samples.filter { $0.cellID == cell && $0.backend == backend }
        }
        let missing = [two.base, two.head].first { !samples($0).contains { $0.status == .ok } } ?? two.head
        let reason = samples(missing).first { !$0.notes.isEmpty }.map { " (\($0.notes))" } ?? ""
        return InputError(
            file: run.name, message: "\(missing.rawValue) has no figures in the cell \"\(cell)\"\(reason)",
            remedy: "name two backends that execute the cell, or another cell with --filter")
    }

    /// Whether a figure of two builds is judged to be worse, or is inconclusive with an estimate beyond the threshold;
    /// or a time of two backends differs by its interval.
    private func isSuspect(_ row: CompareRow) -> Bool {
        guard two == nil else {
            guard row.isWholeTime, let low = row.ratioLow, let high = row.ratioHigh else { return false }
            return low > 1 || high < 1
        }
        return switch row.verdict {
        case .regression: true
        case .inconclusive: (row.worsening ?? 0) > 1 + (row.threshold ?? 0)
        case .pass, .improved, .met, .missed, .missing, .unjudged: false
        }
    }

    private func severity(_ row: CompareRow) -> Double {
        guard let worsening = row.worsening else { return 0 }
        return two == nil ? worsening : row.isWholeTime ? max(worsening, 1 / worsening) : 0
    }
}

extension CompareRow {
    /// Whether it is the time or CPU time of all operations.
    fileprivate var isWholeTime: Bool {
        [Metric.time.name, Metric.cpuTime.name].contains(figure.metric) && figure.phase == "total"
            && figure.operationClass.isEmpty
    }
}

extension MeasuredChange {
    /// Time and CPU time of a target, as estimated by the comparison of both sides.
    static func all(of target: ExplainedTarget, in rows: [CompareRow]) -> [MeasuredChange] {
        let own = rows.filter {
            $0.isWholeTime && $0.cellID == target.cell.id && $0.backend == target.backends.base
        }
        return [("time", Metric.time), ("CPU time", .cpuTime)].flatMap { name, metric in
            own.filter { $0.metric == metric.name }.compactMap { row in
                guard let base = row.base, let head = row.head, let ratio = row.ratio else { return nil }
                let ends = [row.ratioLow, row.ratioHigh].compactMap(\.self)
                return MeasuredChange(
                    name: name, base: base, head: head, ratio: ratio,
                    interval: ends.count == 2 ? ends[0]...max(ends[0], ends[1]) : nil)
            }
        }
    }
}

extension ChanceTest {
    /// The statistics that comparisons use.
    static let ofVerdicts = ChanceTest(
        probability: { mannWhitneyTest($0, $1) ?? 1 },
        shift: { base, head in
            let estimate = hodgesLehmannShift(from: base, to: head) ?? 0
            return (estimate, hodgesLehmannShiftInterval(from: base, to: head) ?? -.infinity ... .infinity)
        },
        adjusted: holmAdjusted)
}
