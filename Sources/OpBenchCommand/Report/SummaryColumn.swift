import OpBenchAnalysis
import OpBenchModel

/// Data besides the row that the columns of one workload's table need.
struct SummaryContext {
    /// The reference backend of ratios.
    let baseline: BackendID
    /// Resolution of the clock that timed the rows, in nanoseconds.
    let clockResolution: Double
    let isQuick: Bool

    init(_ rows: [SummaryRow], clockResolution: Double, isQuick: Bool) {
        // If there is also another form of the baseline, the baseline has the shorter name.
        baseline = RatioFindings.baseline(of: rows) ?? .dispatch
        self.clockResolution = clockResolution
        self.isQuick = isQuick
    }

    /// The figure in the table's format.
    func text(of figure: Figure, _ row: SummaryRow) -> String {
        guard let value = row[figure].value, figure.topic != .rate || figure == .sustainedRate || row.showsRates else {
            return Quantities.absent
        }
        return switch figure.unit {
        case .nanoseconds where figure.basis == .sample:
            Quantities.time(nanoseconds: value, resolution: clockResolution)
        case .nanoseconds: Quantities.duration(nanoseconds: value)
        case .bytes: Quantities.bytes(value)
        case .perSecond: Quantities.count(value) + "/s"
        case .count: Quantities.count(value)
        case .ratio where figure.column?.isPart == true: Quantities.percent(value)
        case .ratio: Quantities.ratio(value) + (figure.isRatio && row.isRatioUnlike ? SummaryColumn.unlike : "")
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

/// One column of the summary's table: its title, format and explanation.
struct SummaryColumn: Sendable {
    let title: String
    /// Whether its fields may have marks.
    let isRatio: Bool
    let isText: Bool
    let isJoined: Bool
    /// Whether it is shown even if no row has a figure for it.
    let isAlwaysShown: Bool
    let meaning: String
    let text: @Sendable (SummaryRow, SummaryContext) -> String

    /// Marks the ratio of two backends that do not make the same promise about the shape.
    static let unlike = "!"

    /// The columns after the name, in order.
    static func all(baseline: BackendID) -> [SummaryColumn] {
        [axis] + Figure.tabled.flatMap { columns(of: $0, baseline) } + [marks]
    }

    private static let axis = SummaryColumn(
        "axis", isText: true,
        """
        How the order of operations is expressed: declared, if the queue knows it by dependencies, completion blocks, \
        barriers or groups; by hand, if bodies submit what follows. Ratios are within an axis.
        """
    ) { row, _ in Axis(row.flags)?.words ?? "" }

    /// The figure's own column, and the one of its interval.
    private static func columns(of figure: Figure, _ baseline: BackendID) -> [SummaryColumn] {
        let title = figure.isRatio ? "vs \(baseline.rawValue)" : figure.title
        let own = SummaryColumn(
            title, isRatio: figure.isRatio, always: figure == .time,
            figure.meaning
                + (figure.isRatio ? " A \(unlike) marks a ratio between backends that did different things." : "")
        ) { row, context in context.text(of: figure, row) }
        guard figure.hasInterval else { return [own] }
        let interval = SummaryColumn(
            "95 % interval", isJoined: true,
            "The ends of the interval of \(title), in the unit of the figure before it."
        ) { row, context in context.interval(of: figure, row) }
        return [own, interval]
    }

    private static let marks = SummaryColumn(
        RowMark.column, isText: true,
        "Letters that restrict the row's interpretation; capitals are the more serious form."
    ) { row, context in String(RowMark.marks(of: row, isQuick: context.isQuick).map(\.rawValue)) }

    private init(
        _ title: String, isRatio: Bool = false, always: Bool = false, isText: Bool = false, isJoined: Bool = false,
        _ meaning: String, text: @escaping @Sendable (SummaryRow, SummaryContext) -> String
    ) {
        self.title = title
        self.isRatio = isRatio
        self.isText = isText
        self.isJoined = isJoined
        isAlwaysShown = always
        self.meaning = meaning
        self.text = text
    }
}

extension SummaryRow {
    /// Whether the rates of an open loop are informative. Otherwise the workload states the arrival rate, and the other
    /// rate equals it.
    fileprivate var showsRates: Bool { self[.capacity].value != nil || quality?.overloaded ?? 0 > 0 }
}
