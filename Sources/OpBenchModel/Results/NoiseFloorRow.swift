/// How two compared sides were measured.
public enum ComparisonKind: String, CaseIterable, Sendable {
    /// Interleaved, within the same blocks, by one program for each side.
    case paired
    /// Interleaved, by a program of another layout in each block.
    case layouts
    /// In separate runs, at different times.
    case unpaired
}

/// One row of `noise-floors.csv`: the difference of one figure between equal builds on one class of host.
public struct NoiseFloorRow: FigureRow, Hashable {
    public var hostClass: String
    public var allocator: String
    /// `debug` or `release`.
    public var configuration: String
    public var comparison: ComparisonKind
    public var figure: FigureName
    /// Relative: 0.02 is 2 %.
    public var noiseFloor: Double?
    /// The number of runs that measured it.
    public var runs: Int
    public var blocks: Int

    public init(
        comparison: ComparisonKind, figure: FigureName, noiseFloor: Double, runs: Int, blocks: Int
    ) {
        (hostClass, allocator, configuration) = ("", "", "")
        self.comparison = comparison
        self.figure = figure
        self.noiseFloor = noiseFloor
        self.runs = runs
        self.blocks = blocks
    }
}

extension NoiseFloorRow {
    public static let fileName = "noise-floors.csv"
    public static let hasParameters = false

    public static let columnList: [CSVColumn<NoiseFloorRow>] =
        [
            .schemaVersion, .init("host_class", \.hostClass), .init("allocator", \.allocator),
            .init("configuration", \.configuration), .init("comparison", \.comparison),
        ] + figureColumns + [
            .init("noise_floor", \.noiseFloor), .init("runs", \.runs), .init("blocks", \.blocks),
        ]

    public static let blank = NoiseFloorRow(
        comparison: .paired, figure: CompareRow.blank.figure, noiseFloor: 0, runs: 0, blocks: 0)
}

extension NoiseFloorRow {
    /// The kind of host that measured it.
    public var host: HostKind {
        get { HostKind(hostClass: hostClass, allocator: allocator, configuration: configuration) }
        set { (hostClass, allocator, configuration) = (newValue.hostClass, newValue.allocator, newValue.configuration) }
    }
}
