import OpBenchModel

/// The summary as people read it: a table per workload, a group of lines per cell, a line per backend and class.
enum SummaryTable {
    /// - Parameters:
    ///   - clockResolution: of the clock that timed the rows, in nanoseconds.
    ///   - width: nil for as much as the tables take.
    static func text(
        of rows: [SummaryRow], clockResolution: Double, width: Int? = TableWidth.ofOutput()
    ) -> String {
        rows.map(\.workload).uniqued()
            .map { workload in section(rows.filter { $0.workload == workload }, clockResolution, width) }
            .joined(separator: "\n") + SummaryNotes(rows: rows, clockResolution: clockResolution).text
    }

    private static func section(_ rows: [SummaryRow], _ clockResolution: Double, _ width: Int?) -> String {
        let cells = CellNames(rows)
        let baseline = rows.compactMap(\.ratioTo).first ?? .dispatch
        let columns = SummaryColumn.all(baseline: baseline, clockResolution: clockResolution).filter { column in
            column.isAlwaysShown || rows.contains { column.text($0) != Quantities.absent }
        }
        let lines = rows.indices.map { index in
            let opensGroup = index == 0 || rows[index - 1].cellID != rows[index].cellID
            return [opensGroup ? cells.name(of: rows[index]) : ""] + columns.map { $0.text(rows[index]) }
        }
        let table = PrintedTable(
            [.init(title: "cell", isText: true)] + columns.map { .init(title: $0.title, isText: $0.isText) },
            rows: lines)
        return TerminalText.escaped(cells.heading, limit: TerminalText.messageLimit) + "\n" + table.text(width: width)
    }
}

/// The cells of one workload by what sets them apart; what they have in common stands above the table.
private struct CellNames {
    /// The workload's name and what is the same in all ids.
    let heading: String
    private let varying: [String]

    /// - Parameter rows: at least one row, all of one workload.
    init(_ rows: [SummaryRow]) {
        let ids = rows.map { $0.cellID.split(separator: " ") }
        heading = ids[0].filter { part in ids.allSatisfy { $0.contains(part) } }.joined(separator: " ")
        varying = Set(rows.flatMap(\.parameters.keys)).sorted().filter { name in
            Set(rows.map { $0.parameters[name] }).count > 1
        }
    }

    func name(of row: SummaryRow) -> String {
        varying.map { "\($0)=\(row.parameters[$0] ?? "")" }.joined(separator: " ")
    }
}

/// One column of the table: which figure, and how it is written.
private struct SummaryColumn {
    let title: String
    let isText: Bool
    /// Whether it stands there although no row has a figure for it.
    let isAlwaysShown: Bool
    let text: (SummaryRow) -> String

    static func all(baseline: BackendID, clockResolution: Double) -> [SummaryColumn] {
        let time = { Quantities.time(nanoseconds: $0, resolution: clockResolution) }
        return [
            .init("backend", always: true, isText: true) { $0.backend.rawValue },
            .init("class", isText: true) { $0.operationClass.isEmpty ? Quantities.absent : $0.operationClass },
            .init("time/op", always: true) {
                figure($0.operationsPerSecond) { Quantities.duration(nanoseconds: 1e9 / $0) }
            },
            .init("95 % interval") { row in
                guard let rate = row.operationsPerSecond, let low = row.operationsPerSecondLow,
                    let high = row.operationsPerSecondHigh
                else { return Quantities.absent }
                // The highest rate is the shortest time.
                return Quantities.interval(low: 1 / high, high: 1 / low, around: 1 / rate)
            },
            .init("vs \(baseline.rawValue)", always: true) { figure($0.timeRatio, Quantities.ratio) },
            .init("95 % interval") { row in
                // The baseline's ratio to itself is 1 by definition.
                guard row.backend != row.ratioTo, let low = row.timeRatioLow, let high = row.timeRatioHigh else {
                    return Quantities.absent
                }
                return "\(Quantities.ratio(low)) – \(Quantities.ratio(high))"
            },
            .init("efficiency") { figure($0.schedulingEfficiency, Quantities.percent) },
            .init("start p50") { figure($0.startLatencyP50, time) },
            .init("start p99") { figure($0.startLatencyP99, time) },
            .init("service p50") { figure($0.serviceLatencyP50, time) },
            .init("service p99") { figure($0.serviceLatencyP99, time) },
            .init("intended p50") { figure($0.intendedLatencyP50, time) },
            .init("intended p99") { figure($0.intendedLatencyP99, time) },
            .init("holds") { figure($0.sustainedRate) { "\(Quantities.count($0))/s" } },
            .init("inversions") { figure($0.inversions, Quantities.count) },
            .init("late starts") { figure($0.startsAfterSuspend, Quantities.count) },
            .init("quiesce p99") { figure($0.quiesceP99, Quantities.duration) },
            .init("resume p99") { figure($0.resumeToStartP99, time) },
            .init("allocs/op") { figure($0.allocationsPerOperation, Quantities.count) },
            .init("held/pending") { figure($0.retainedBytesPerPendingOperation, Quantities.bytes) },
            .init("status", always: true, isText: true) { $0.status.rawValue },
        ]
    }

    private init(
        _ title: String, always: Bool = false, isText: Bool = false, text: @escaping (SummaryRow) -> String
    ) {
        self.title = title
        self.isText = isText
        isAlwaysShown = always
        self.text = text
    }

    private static func figure(_ value: Double?, _ text: (Double) -> String) -> String {
        value.map(text) ?? Quantities.absent
    }
}

extension Sequence where Element: Hashable {
    /// The elements without repetitions, in order of first appearance.
    fileprivate func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
