import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// How a run's rows were measured, and its workloads' words for cells: data besides the rows that tables and sentences
/// need.
struct SummaryContext {
    /// Resolution of the clock that timed the rows, in nanoseconds.
    var clockResolution = RunFacts.histogramUnitNanoseconds
    /// Whether the rows were measured with `--quick`.
    var isQuick = false
    /// Words for cells, by cell id.
    var words: [String: String] = [:]

    /// The figure's text in short tables and sentences; its digits are those that its interval allows.
    func short(_ figure: Figure, _ row: SummaryRow) -> String {
        guard let value = row[figure].value else { return Quantities.absent }
        if figure.column?.isPart == true { return Quantities.count((value * 100).rounded()) + " %" }
        return Quantities.short(
            value, width: row.interval(of: figure).map { $0.high - $0.low }, in: figure.unit,
            resolution: figure.basis == .sample ? clockResolution : 0)
    }
}

extension SummaryContext {
    /// - Parameter facts: the run of the rows; nil if unknown.
    init(_ facts: RunFacts?) {
        self.init()
        guard let facts else { return }
        if let resolution = facts.clockResolutionNanoseconds { clockResolution = resolution }
        isQuick = facts.isQuick
        for workload in facts.workloads { words.merge(workload.cellWords) { first, _ in first } }
    }
}

/// The columns of one workload's table.
struct SummaryColumns {
    /// The reference backend of ratios.
    let baseline: BackendID
    let context: SummaryContext
    private let hasUnlike: Bool

    /// Marks the ratio of two backends that do not make the same promise about the shape.
    static let unlike = "!"

    init(_ rows: [SummaryRow] = [], _ context: SummaryContext = SummaryContext()) {
        // If there is also another form of the baseline, the baseline has the shorter name.
        baseline = RatioFindings.baseline(of: rows) ?? .dispatch
        hasUnlike = rows.contains(where: \.isRatioUnlike)
        self.context = context
    }

    /// The figure in the table's format. Digits of ratios with and without a mark are below each other.
    func text(of figure: Figure, _ row: SummaryRow) -> String {
        let mark = figure.isRatio && hasUnlike ? " " : ""
        guard let value = row[figure].value, figure.topic != .rate || figure == .sustainedRate || row.showsRates else {
            return Quantities.absent + mark
        }
        return switch figure.unit {
        case .nanoseconds where figure.basis == .sample: Quantities.time(value, resolution: context.clockResolution)
        case .nanoseconds: Quantities.time(value)
        case .bytes: Quantities.bytes(value)
        case .perSecond: Quantities.count(value) + "/s"
        case .count: Quantities.count(value)
        case .ratio where figure.column?.isPart == true: Quantities.percent(value)
        case .ratio: Quantities.ratio(value) + (figure.isRatio && row.isRatioUnlike ? Self.unlike : mark)
        }
    }

    /// The ends of the figure's interval.
    func interval(of figure: Figure, _ row: SummaryRow) -> String {
        guard let value = row[figure].value, let (low, high) = row.interval(of: figure) else {
            return Quantities.absent
        }
        return Quantities.interval(low, high, around: value, in: figure.unit)
    }
}

extension SummaryRow {
    typealias Column = Table<SummaryRow>.Column

    /// The columns after the name, in order.
    static func columns(_ table: SummaryColumns) -> [Column] {
        let axis = Column(
            "axis", isText: true,
            """
            How the order of operations is expressed: declared, if the queue knows it by dependencies, completion blocks, \
            barriers or groups; by hand, if bodies submit what follows. Ratios are within an axis.
            """
        ) { Axis($0.flags)?.words ?? "" }
        let marks = Column(
            RowMark.column, isText: true,
            "Letters that restrict the row's interpretation; capitals are the more serious form."
        ) { row in String(RowMark.marks(of: row, isQuick: table.context.isQuick).map(\.rawValue)) }
        return [axis] + Figure.tabled.flatMap { columns(of: $0, table) } + [marks]
    }

    /// The figure's own column, and the one of its interval.
    private static func columns(of figure: Figure, _ table: SummaryColumns) -> [Column] {
        let title = figure.isRatio ? "vs \(table.baseline.rawValue)" : figure.title
        let mark = " A \(SummaryColumns.unlike) marks a ratio between backends that did different things."
        let own = Column(title, figure.meaning + (figure.isRatio ? mark : "")) { table.text(of: figure, $0) }
        guard figure.hasInterval else { return [own] }
        let meaning = "The ends of the interval of \(title), in the unit of the figure before it."
        return [own, Column("95 % interval", isJoined: true, meaning) { table.interval(of: figure, $0) }]
    }

    /// Whether the rates of an open loop are informative. Otherwise the workload states the arrival rate, and the other
    /// rate equals it.
    fileprivate var showsRates: Bool { self[.capacity].value != nil || quality?.overloaded ?? 0 > 0 }
}
