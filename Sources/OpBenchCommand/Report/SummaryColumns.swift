import OpBenchAnalysis
import OpBenchModel

/// Data besides the row that the columns of one workload's table need.
struct SummaryContext {
    /// The reference backend of ratios.
    let baseline: BackendID
    /// Resolution of the clock that timed the rows, in nanoseconds.
    let clockResolution: Double
    let isQuick: Bool
    private let hasUnlike: Bool

    /// Marks the ratio of two backends that do not make the same promise about the shape.
    static let unlike = "!"

    init(_ rows: [SummaryRow] = [], clockResolution: Double = 0, isQuick: Bool = false) {
        // If there is also another form of the baseline, the baseline has the shorter name.
        baseline = RatioFindings.baseline(of: rows) ?? .dispatch
        hasUnlike = rows.contains(where: \.isRatioUnlike)
        (self.clockResolution, self.isQuick) = (clockResolution, isQuick)
    }

    /// The figure in the table's format. Digits of ratios with and without a mark are below each other.
    func text(of figure: Figure, _ row: SummaryRow) -> String {
        let mark = figure.isRatio && hasUnlike ? " " : ""
        guard let value = row[figure].value, figure.topic != .rate || figure == .sustainedRate || row.showsRates else {
            return Quantities.absent + mark
        }
        return switch figure.unit {
        case .nanoseconds where figure.basis == .sample: Quantities.time(value, resolution: clockResolution)
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
    static func columns(_ context: SummaryContext) -> [Column] {
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
        ) { row in String(RowMark.marks(of: row, isQuick: context.isQuick).map(\.rawValue)) }
        return [axis] + Figure.tabled.flatMap { columns(of: $0, context) } + [marks]
    }

    /// The figure's own column, and the one of its interval.
    private static func columns(of figure: Figure, _ context: SummaryContext) -> [Column] {
        let title = figure.isRatio ? "vs \(context.baseline.rawValue)" : figure.title
        let mark = " A \(SummaryContext.unlike) marks a ratio between backends that did different things."
        let own = Column(title, figure.meaning + (figure.isRatio ? mark : "")) { context.text(of: figure, $0) }
        guard figure.hasInterval else { return [own] }
        let meaning = "The ends of the interval of \(title), in the unit of the figure before it."
        return [own, Column("95 % interval", isJoined: true, meaning) { context.interval(of: figure, $0) }]
    }

    /// Whether the rates of an open loop are informative. Otherwise the workload states the arrival rate, and the other
    /// rate equals it.
    fileprivate var showsRates: Bool { self[.capacity].value != nil || quality?.overloaded ?? 0 > 0 }
}
