/// One row of `summary.csv`: the summary of all samples of one cell, backend and class.
public struct SummaryRow: Sendable, Hashable {
    public var runID = ""
    public var workload = ""
    public var cellID = ""
    public var backend = BackendID.engine
    /// The class of operations, as `priority=high`; empty for all operations.
    public var operationClass = ""
    /// `base` or `head` if two builds are compared; else empty.
    public var side = ""
    public var status = SampleStatus.ok
    /// The quality of the backend's samples of all classes. Not a column: nil in rows read from a file.
    public var quality: SampleQuality?
    /// All flags of the backend's samples of all classes.
    public var flags: [SampleFlag] = []
    /// The number of samples: of throughput samples or, if there are none, of the kind with the most.
    public var samples = 0
    /// Whether the backend's samples are unsteady more often than the others of the run, beyond chance. Not a column.
    public var isUnsteady = false
    /// The two groups that the times of the throughput samples fall into; empty if they do not, and for classes.
    public var modes = Modes()
    /// The denominator of `Figure.timeRatio`; nil if there is no ratio.
    public var ratioTo: BackendID?
    /// Whether the two backends of the ratio did different things: one does not promise what the shape is about, or
    /// they are on different axes. Not a column, since the flags of the rows show it.
    public var isRatioUnlike = false
    /// Whether the ratio differs from 1 on a busy machine, and CPU time does not show it. Not a column.
    public var isRatioOfBusyMachine = false
    /// Every parameter of the cell, by name, as text.
    public var parameters: [String: String] = [:]
    /// By the figure's name; without figures that no sample reports.
    var figures: [String: Estimate] = [:]

    public var backendSide: BackendSide { BackendSide(backend: backend, side: side) }

    public subscript(figure: Figure) -> Estimate {
        get { figures[figure.name] ?? Estimate() }
        set { figures[figure.name] = newValue == Estimate() ? nil : newValue }
    }

    /// The figure, except for a ratio of two backends that did different things.
    public func comparable(_ figure: Figure) -> Estimate {
        figure.isRatio && isRatioUnlike ? Estimate() : self[figure]
    }

    /// The interval of the figure; nil if there is none, and for the baseline's ratio to itself, which is 1 by
    /// definition.
    public func interval(of figure: Figure) -> (low: Double, high: Double)? {
        let estimate = self[figure]
        guard let low = estimate.low, let high = estimate.high, !(figure.isRatio && backend == ratioTo) else {
            return nil
        }
        return (low, high)
    }
}

/// A backend, and its build if the run compares two.
public struct BackendSide: Sendable, Hashable {
    public let backend: BackendID
    /// `base` or `head` if the run compares two builds; else empty.
    public let side: String

    /// `engine`, or `engine head`.
    public var title: String { backend.rawValue + (side.isEmpty ? "" : " \(side)") }
}

extension [SummaryRow] {
    /// The backends in order of first appearance, each with its sides next to each other.
    public var backendSides: [BackendSide] {
        let found = Set(map(\.backendSide))
        let sides = Set(map(\.side)).sorted()
        var seen: Set<BackendID> = []
        return map(\.backend).filter { seen.insert($0).inserted }.flatMap { backend in
            sides.map { BackendSide(backend: backend, side: $0) }.filter(found.contains)
        }
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
            .init("samples", \.samples), .init("low_mode_ns_per_op", \.modes.low),
            .init("high_mode_ns_per_op", \.modes.high), .init("high_mode_samples", \.modes.highSamples),
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

    public static let blank = SummaryRow()
}

/// The two modes of samples whose figures fall into two groups: the median of each group.
public struct Modes: Sendable, Hashable {
    public var low: Double?
    public var high: Double?
    /// The number of samples in the upper group.
    public var highSamples: Int?

    public init(low: Double? = nil, high: Double? = nil, highSamples: Int? = nil) {
        (self.low, self.high, self.highSamples) = (low, high, highSamples)
    }
}

/// The numbers of samples that need care, by their flags. If a sample was run again, the repetition counts.
public struct SampleQuality: Sendable, Hashable {
    /// The quality of no samples.
    public static let none = SampleQuality()

    /// The number of samples with figures, of any kind.
    public var samples = 0
    /// Samples during which something else used the machine.
    public var noisy = 0
    /// Samples of a backend that does not promise what the shape is about.
    public var unpromised = 0
    /// Samples that time the whole round; times and ratios come from these.
    public var throughputSamples = 0
    /// Throughput samples that lasted less than required. Latency samples may: their figures are of operations.
    public var short = 0
    /// Throughput samples of enough rounds to see their levels, and those of them whose rounds were on several.
    public var levelled = 0
    public var unsteady = 0

    public var latencySamples = 0
    /// Latency samples of an open loop in which operations ended more slowly than they arrived.
    public var overloaded = 0
    /// Noisy samples of the two kinds.
    public var noisyThroughput = 0
    public var noisyLatency = 0
    /// Whether the cell is about waiting.
    public var waits = false

    /// Whether most latencies only reflect the duration of the samples.
    public var isOverloaded: Bool { 2 * overloaded > latencySamples }
}

extension [SampleQuality] {
    /// Whether something else used the machine during most of the samples that time a cell (its throughput samples or,
    /// without any, its latency samples), and the cell is not about waiting.
    package var areOfBusyMachine: Bool {
        if contains(where: \.waits) { return false }
        func most(_ noisy: KeyPath<SampleQuality, Int>, of samples: KeyPath<SampleQuality, Int>) -> Bool? {
            let count = reduce(0) { $0 + $1[keyPath: samples] }
            return count == 0 ? nil : 2 * reduce(0) { $0 + $1[keyPath: noisy] } > count
        }
        return most(\.noisyThroughput, of: \.throughputSamples) ?? most(\.noisyLatency, of: \.latencySamples) ?? false
    }
}
