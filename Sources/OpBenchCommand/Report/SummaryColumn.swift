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
            times[Place(backend: row.backend, cellID: row.cellID, side: row.side)] = row.timePerOperation
        }
    }

    /// Whether the ratio is, as it is written, another than that of the times beside it.
    func isRatioApart(_ row: SummaryRow) -> Bool {
        guard let ratio = row.timeRatio, let ratioTo = row.ratioTo, row.backend != ratioTo,
            let time = row.timePerOperation,
            let other = baselineTimes[Place(backend: ratioTo, cellID: row.cellID, side: row.side)]
        else { return false }
        return Quantities.ratio(time / other) != Quantities.ratio(ratio)
    }

    /// The mark behind a ratio; empty if the ratio needs none.
    func ratioMark(_ row: SummaryRow) -> String {
        row.isRatioUnlike ? SummaryColumn.unlike : isRatioApart(row) ? SummaryColumn.apart : ""
    }

    func time(_ nanoseconds: Double) -> String {
        Quantities.time(nanoseconds: nanoseconds, resolution: clockResolution)
    }
}

/// One column of the summary's table: which figure, how it is written, and what it means.
struct SummaryColumn: Sendable {
    let title: String
    /// As `PrintedTable.Column` has them.
    let rank: Int
    let isText: Bool
    let isJoined: Bool
    /// Whether it stands there although no row has a figure for it.
    let isAlwaysShown: Bool
    let meaning: String
    let text: @Sendable (SummaryRow, SummaryContext) -> String

    /// Marks a ratio that the times beside it do not give.
    static let apart = "*"
    /// Marks the ratio of two backends of which one does not promise what the shape is about.
    static let unlike = "!"
    static let rankOfRatio = 1

    /// Those behind the name, in their order.
    static func all(baseline: BackendID) -> [SummaryColumn] {
        times(baseline) + [cpuTime] + latencies + counts + memory + [marks]
    }

    private static func times(_ baseline: BackendID) -> [SummaryColumn] {
        [
            .init(
                "axis", 2, isText: true,
                """
                Where operations follow one another: declared, if the queue was told of that, by dependencies, completion \
                blocks, barriers or groups; by hand, if bodies submit what follows. Ratios are within an axis.
                """
            ) { row, _ in Axis(row.flags)?.words ?? "" },
            .init(
                "time/op", 0, always: true,
                "Total time per operation (making, submitting and draining it): the median of the samples."
            ) { row, _ in figure(row.timePerOperation) { Quantities.duration(nanoseconds: $0) } },
            .init(
                "95 % interval", 3, isJoined: true,
                "Of time/op: its two ends, in the unit of the figure before it. Few intervals are symmetric."
            ) { row, _ in
                guard let time = row.timePerOperation, let low = row.timePerOperationLow,
                    let high = row.timePerOperationHigh
                else { return Quantities.absent }
                return Quantities.durationInterval(low, high, around: time)
            },
            .init(
                "vs \(baseline.rawValue)", rankOfRatio,
                """
                Time per operation ÷ that of \(baseline.rawValue): the median over the blocks of the ratio within each \
                (Hodges and Lehmann's), where drift hits both alike. Below 1 is faster. A * marks a ratio that differs \
                from the quotient of the medians in the table; a ! one of two backends that did different things: one does \
                not promise what the shape is about, or they are on different axes. Of a backend on the other axis it is to \
                a form of \(baseline.rawValue) on that axis, if one was measured.
                """
            ) { row, context in
                figure(row.timeRatio) { Quantities.ratio($0) + context.ratioMark(row) }
            },
            .init("95 % interval", 2, isJoined: true, "Of the ratio: its two ends.") { row, _ in
                // The baseline's ratio to itself is 1 by definition.
                guard row.backend != row.ratioTo, let low = row.timeRatioLow, let high = row.timeRatioHigh else {
                    return Quantities.absent
                }
                return Quantities.ratioInterval(low, high)
            },
            .init(
                "effi\u{AD}ciency", 5,
                "In shapes with dependencies and work: max(work ÷ processors, span) ÷ makespan; 100 % is a perfect schedule."
            ) { row, _ in figure(row.schedulingEfficiency, Quantities.percent) },
        ]
    }

    private static let cpuTime = SummaryColumn(
        "CPU/op", 5,
        "CPU time of the process per operation, the median of the samples: steadier than time/op where other programs run."
    ) { row, _ in figure(row.cpuPerOperation) { Quantities.duration(nanoseconds: $0) } }

    private static let latencies: [SummaryColumn] =
        latency(
            "start p50", 7,
            """
            From ready to the operation's first line, the median. Where more operations are ready than can run, most of it \
            is the wait behind the others (backlog).
            """, \.startLatencyP50, \.startLatencyP50Bounds)
        + latency(
            "start p99", 4, "The same for the slowest operation of a hundred.", \.startLatencyP99,
            \.startLatencyP99Bounds)
        + latency(
            "service p50", 10, "In an open loop: from the submitting call to the operation's end, the median.",
            \.serviceLatencyP50, \.serviceLatencyP50Bounds)
        + latency(
            "service p99", 9, "The same for the slowest operation of a hundred.", \.serviceLatencyP99,
            \.serviceLatencyP99Bounds)
        + latency(
            "intended p50", 6,
            "In an open loop: from the instant at which the plan has the operation arrive, late or not, to its end.",
            \.intendedLatencyP50, \.intendedLatencyP50Bounds)
        + latency(
            "intended p99", 4, "The same for the slowest operation of a hundred.", \.intendedLatencyP99,
            \.intendedLatencyP99Bounds)

    private static let counts: [SummaryColumn] = [
        .init(
            "arrive", 1,
            "In an open loop: operations that arrived per second, where fewer ended or a load said how many."
        ) { row, _ in row.tellsRates ? figure(row.arrivalRate) { "\(Quantities.count($0))/s" } : Quantities.absent },
        .init(
            "end", 1, "Operations that ended per second meanwhile. Where fewer end than arrive there is no latency."
        ) { row, _ in row.tellsRates ? figure(row.completionRate) { "\(Quantities.count($0))/s" } : Quantities.absent },
        .init("holds", 5, "In an open loop: the highest rate of arrivals found that keeps the workload's bound.") {
            row, _ in figure(row.sustainedRate) { "\(Quantities.count($0))/s" }
        },
        .init(
            "inver\u{AD}sions", 5,
            "Operations of a round that started although one of higher priority had been ready before."
        ) { row, _ in figure(row.inversions, Quantities.count) },
        .init("late starts", 5, "Operations of a round that started after `suspend` had returned.") { row, _ in
            figure(row.startsAfterSuspend, Quantities.count)
        },
        latency(
            "quiesce p99", 6, "From the return of `suspend` to the last start after it, the slowest of a hundred.",
            \.quiesceP99),
        latency("resume p99", 6, "From `resume` to the first start, the slowest of a hundred.", \.resumeToStartP99),
    ]

    private static let memory: [SummaryColumn] = [
        .init("allocs/op", 8, "Calls of malloc per operation.") { row, _ in
            figure(row.allocationsPerOperation, Quantities.count)
        },
        .init("held/pending", 9, "Memory in use per operation while all are submitted and none has started.") {
            row, _ in figure(row.retainedBytesPerPendingOperation, Quantities.bytes)
        },
    ]

    private static let marks = SummaryColumn(
        RowMark.column, 0, isText: true,
        "With what care the row is to be read, in letters; capitals are the graver form."
    ) { row, context in String(RowMark.marks(of: row, isQuick: context.isQuick).map(\.rawValue)) }

    private static func latency(
        _ title: String, _ rank: Int, _ meaning: String, _ figure: @escaping @Sendable (SummaryRow) -> Double?
    ) -> SummaryColumn {
        .init(title, rank, meaning) { row, context in Self.figure(figure(row), context.time) }
    }

    /// A latency and its interval. The interval is left out a little sooner.
    private static func latency(
        _ title: String, _ rank: Int, _ meaning: String, _ figure: @escaping @Sendable (SummaryRow) -> Double?,
        _ bounds: @escaping @Sendable (SummaryRow) -> SummaryRow.Bounds
    ) -> [SummaryColumn] {
        let interval = SummaryColumn("95 % interval", rank + 1, isJoined: true, "Of \(title): its two ends.") {
            row, _ in
            guard let middle = figure(row), let low = bounds(row).low, let high = bounds(row).high else {
                return Quantities.absent
            }
            return Quantities.durationInterval(low, high, around: middle)
        }
        return [latency(title, rank, meaning, figure), interval]
    }

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

    private static func figure(_ value: Double?, _ text: (Double) -> String) -> String {
        value.map(text) ?? Quantities.absent
    }
}

extension SummaryRow {
    /// Whether the rates of an open loop are news. Otherwise the workload states the arrival rate, and the other rate
    /// is the same.
    fileprivate var tellsRates: Bool { capacity != nil || quality?.overloaded ?? 0 > 0 }
}
