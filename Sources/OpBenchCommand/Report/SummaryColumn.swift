import OpBenchModel

/// What the columns of one workload's table have to know beside the row.
struct SummaryContext {
    /// That ratios are to.
    let baseline: BackendID
    /// Of the clock that timed the rows, in nanoseconds.
    let clockResolution: Double
    let isQuick: Bool
    /// The baseline's time per operation in each cell, in nanoseconds.
    private let baselineTimes: [Place: Double]

    private struct Place: Hashable {
        let backend: BackendID
        let cellID: String
        let side: String
    }

    init(_ rows: [SummaryRow], clockResolution: Double, isQuick: Bool) {
        // Beside a form of it there is the baseline itself, whose name is the shorter one.
        baseline = rows.lazy.compactMap(\.ratioTo).min { $0.rawValue.count < $1.rawValue.count } ?? .dispatch
        self.clockResolution = clockResolution
        self.isQuick = isQuick
        baselineTimes = rows.reduce(into: [:]) { times, row in
            guard row.backend == row.ratioTo, row.operationClass.isEmpty else { return }
            times[Place(backend: row.backend, cellID: row.cellID, side: row.side)] = row[.time].value
        }
    }

    /// Whether the ratio is, as it is written, another than that of the times beside it.
    func isRatioApart(_ row: SummaryRow) -> Bool {
        guard let ratio = row[.timeRatio].value, let ratioTo = row.ratioTo, row.backend != ratioTo,
            let time = row[.time].value,
            let other = baselineTimes[Place(backend: ratioTo, cellID: row.cellID, side: row.side)]
        else { return false }
        return Quantities.ratio(time / other) != Quantities.ratio(ratio)
    }

    /// The mark behind a ratio; empty if the ratio needs none.
    func ratioMark(_ row: SummaryRow) -> String {
        row.isRatioUnlike ? SummaryColumn.unlike : isRatioApart(row) ? SummaryColumn.apart : ""
    }

    /// The figure as the table writes it.
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
        case .ratio: Quantities.ratio(value) + (figure.isRatio ? ratioMark(row) : "")
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

/// One column of the summary's table: which figure, how it is written, and what it means.
struct SummaryColumn: Sendable {
    let title: String
    /// As `PrintedTable.Column` has them.
    let rank: Int
    let isText: Bool
    let isJoined: Bool
    /// Whether it is there although no row has a figure for it.
    let isAlwaysShown: Bool
    let meaning: String
    let text: @Sendable (SummaryRow, SummaryContext) -> String

    /// Marks a ratio that the times beside it do not give.
    static let apart = "*"
    /// Marks the ratio of two backends of which one does not promise what the shape is about.
    static let unlike = "!"
    static let rankOfRatio = Figure.timeRatio.column!.rank

    /// Those behind the name, in their order.
    static func all(baseline: BackendID) -> [SummaryColumn] {
        [axis] + Figure.tabled.flatMap { columns(of: $0, baseline) } + [marks]
    }

    private static let axis = SummaryColumn(
        "axis", 2, isText: true,
        """
        Where operations follow one another: declared, if the queue was told of that, by dependencies, completion \
        blocks, barriers or groups; by hand, if bodies submit what follows. Ratios are within an axis.
        """
    ) { row, _ in Axis(row.flags)?.words ?? "" }

    /// The figure's own, and that of its interval.
    private static func columns(of figure: Figure, _ baseline: BackendID) -> [SummaryColumn] {
        let column = figure.column!
        let title = figure.isRatio ? "vs \(baseline.rawValue)" : figure.title
        let own = SummaryColumn(
            title, column.rank, always: figure == .time, figure.meaning + (figure.isRatio ? " " + ratioMarks : "")
        ) { row, context in context.text(of: figure, row) }
        guard figure.hasInterval else { return [own] }
        let interval = SummaryColumn(
            "95 % interval", column.intervalRank, isJoined: true,
            "Of \(title): its two ends, in the unit of the figure before it."
        ) { row, context in context.interval(of: figure, row) }
        return [own, interval]
    }

    private static let ratioMarks = """
        A \(apart) marks a ratio that differs from the quotient of the medians in the table; a \(unlike) one of two backends \
        that did different things.
        """

    private static let marks = SummaryColumn(
        RowMark.column, 0, isText: true,
        "With what care the row is to be read, in letters; capitals are the graver form."
    ) { row, context in String(RowMark.marks(of: row, isQuick: context.isQuick).map(\.rawValue)) }

    private init(
        _ title: String, _ rank: Int, always: Bool = false, isText: Bool = false, isJoined: Bool = false,
        _ meaning: String, text: @escaping @Sendable (SummaryRow, SummaryContext) -> String
    ) {
        self.title = title
        self.rank = rank
        self.isText = isText
        self.isJoined = isJoined
        isAlwaysShown = always
        self.meaning = meaning
        self.text = text
    }
}

extension SummaryRow {
    /// Whether the rates of an open loop are news. Otherwise the workload states the arrival rate, and the other rate
    /// is the same.
    fileprivate var showsRates: Bool { self[.capacity].value != nil || quality?.overloaded ?? 0 > 0 }
}
