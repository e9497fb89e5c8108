/// One row of `summary.csv`: what the samples of one cell, backend and class say together.
public struct SummaryRow: Sendable, Hashable {
    public var runID: String
    public var workload: String
    public var cellID: String
    public var backend: BackendID
    /// Empty for the whole, or what the figures are restricted to: `priority=high`.
    public var operationClass: String
    /// `base` or `head` where two builds are compared, else empty.
    public var side = ""
    public var status: SampleStatus
    /// How good the samples of the backend are, whatever the class. Not a column: unknown of a row that was read.
    public var quality: SampleQuality?
    /// The flags of the backend's samples of all classes, each one once.
    public var flags: [String] = []
    /// Samples behind the row: the throughput samples, or where there are none, those of the kind with the most.
    public var samples: Int
    /// The backend that `Figure.timeRatio` is relative to; nil where there is no ratio.
    public var ratioTo: BackendID?
    /// Whether one of the two backends does not promise what the shape is about, or they are on different axes, so that
    /// they did different things. This is no column, since the rows' flags say it.
    public var isRatioUnlike = false
    /// Every parameter of the cell, by name, as text.
    public var parameters: [String: String]
    /// By the figure's name; without those that no sample reports.
    private var figures: [String: Estimate] = [:]

    /// A row without any figure.
    public init(
        runID: String, workload: String, cellID: String, backend: BackendID, operationClass: String = "",
        status: SampleStatus, samples: Int, parameters: [String: String]
    ) {
        self.runID = runID
        self.workload = workload
        self.cellID = cellID
        self.backend = backend
        self.operationClass = operationClass
        self.status = status
        self.samples = samples
        self.parameters = parameters
    }

    public subscript(figure: Figure) -> Estimate {
        get { figures[figure.name] ?? Estimate() }
        set { figures[figure.name] = newValue == Estimate() ? nil : newValue }
    }

    /// The figure, without a ratio of two backends that did different things.
    public func comparable(_ figure: Figure) -> Estimate {
        figure.isRatio && isRatioUnlike ? Estimate() : self[figure]
    }

    /// The interval of the figure; nil where there is none, and for the ratio of the baseline to itself, which is 1 by
    /// definition.
    public func interval(of figure: Figure) -> (low: Double, high: Double)? {
        let estimate = self[figure]
        guard let low = estimate.low, let high = estimate.high, !(figure.isRatio && backend == ratioTo) else {
            return nil
        }
        return (low, high)
    }
}

extension SummaryRow: CSVRow {
    public static let fileName = "summary.csv"
    public static let hasParameters = true
    public static let isExport = true

    public static let columnList: [CSVColumn<SummaryRow>] =
        [
            .schemaVersion, .init("run_id", \.runID), .init("workload", \.workload), .init("cell_id", \.cellID),
            .init("backend", \.backend), .init("operation_class", \.operationClass), .init("side", \.side),
            .init("status", \.status), .flags(\.flags), .init(derived: "axis") { Axis($0.flags)?.rawValue ?? "" },
            .init("samples", \.samples),
        ]
        + Figure.catalogue.flatMap { figure in
            columns(of: figure) + (figure.isRatio ? [.init(optional: "ratio_to", \.ratioTo)] : [])
        }

    private static func columns(of figure: Figure) -> [CSVColumn<SummaryRow>] {
        let parts: [WritableKeyPath<Estimate, Double?> & Sendable] = [\.value, \.low, \.high]
        return zip(figure.columns, parts).map { column, part in
            CSVColumn(
                figure: column.name, get: { $0[figure][keyPath: part] },
                set: { row, value in if let value { row[figure][keyPath: part] = value } })
        }
    }

    public static let blank = SummaryRow(
        runID: "", workload: "", cellID: "", backend: .engine, status: .ok, samples: 0, parameters: [:])
}

/// How many of the samples behind a figure are to be read with care, by their flags. Of a sample that was run again, the
/// repetition counts.
public struct SampleQuality: Sendable, Hashable {
    /// All samples with figures, of any kind.
    public var samples: Int
    /// Something else used the machine meanwhile.
    public var noisy: Int
    /// How many samples are of a backend that does not promise what the shape is about.
    public var unpromised: Int
    /// Samples that time the whole, from which the times and ratios come.
    public var throughputSamples: Int
    /// Throughput samples whose rounds still grew or shrank at their end.
    public var unsteady: Int
    /// Whether the times of the throughput samples fall into two groups.
    public var hasTwoModes: Bool
    /// Throughput samples that lasted less than a sample should. Latency samples may: their figures are of operations.
    public var short: Int

    public var latencySamples: Int
    /// How many latency samples of an open loop had operations end more slowly than they arrived.
    public var overloaded: Int

    /// Whether most latencies only say how long the samples lasted.
    public var isOverloaded: Bool { 2 * overloaded > latencySamples }

    public init(
        samples: Int = 0, noisy: Int = 0, unpromised: Int = 0, throughputSamples: Int = 0, unsteady: Int = 0,
        short: Int = 0, latencySamples: Int = 0, overloaded: Int = 0, hasTwoModes: Bool = false
    ) {
        self.latencySamples = latencySamples
        self.overloaded = overloaded
        self.samples = samples
        self.unpromised = unpromised
        self.throughputSamples = throughputSamples
        self.noisy = noisy
        self.unsteady = unsteady
        self.short = short
        self.hasTwoModes = hasTwoModes
    }
}
