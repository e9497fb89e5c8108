import OpBenchModel

/// All rows of one cell on one backend in one run, indexed by figure.
struct BackendSamples {
    /// The identity of a figure within a backend and cell.
    struct FigureKey: Hashable {
        var metric: String
        var stat: String
        var phase: String
        var operationClass: String
    }

    /// One sample's value of a figure.
    struct Value {
        var sampleID: String
        var block: Int
        var value: Double
        var operations: Int
    }

    /// The first row, for columns that all rows share.
    let example: SampleRow
    let status: SampleStatus
    /// The classes in order of appearance; the whole (empty) comes first.
    let classes: [String]
    let allFigures: [FigureKey: [Value]]
    let quality: SampleQuality
    /// The flags of the samples that count, sorted, without duplicates.
    let flags: [SampleFlag]
    /// The program's layout in each block; empty if all blocks ran the linker's own.
    let layoutOfBlock: [Int: Int]
    /// The number of times that each sample ran the plan, by sample id.
    private let rounds: [String: Double]
    /// The largest number of samples of any figure, by class.
    private let mostSamples: [String: Int]

    init(rows: [SampleRow]) {
        example = rows[0]
        status = rows.map(\.status).max { $0.severity < $1.severity }!
        let counted = rows.filter { $0.status == .ok && $0.phase != "warmup" && $0.iteration == nil }
        let superseded = SupersededSamples.ids(in: counted)
        var classes = [""]
        var known: Set = [""]
        var figures: [FigureKey: [Value]] = [:]
        for row in counted {
            guard let value = row.value, !superseded.contains(row.sampleID) else { continue }
            if known.insert(row.operationClass).inserted { classes.append(row.operationClass) }
            let key = FigureKey(
                metric: row.metric, stat: row.stat, phase: row.phase, operationClass: row.operationClass)
            figures[key, default: []].append(
                Value(sampleID: row.sampleID, block: row.block, value: value, operations: row.operations))
        }
        self.classes = classes
        flags = Set(counted.lazy.filter { !superseded.contains($0.sampleID) }.flatMap(\.flags)).sorted()
        quality = Self.quality(of: counted, without: superseded)
        allFigures = figures.mapValues { $0.sorted { ($0.block, $0.sampleID) < ($1.block, $1.sampleID) } }
        // Some kinds of sample have no layout.
        layoutOfBlock = counted.reduce(into: [:]) { layouts, row in
            if let layout = row.layout { layouts[row.block] = layout }
        }
        let key = FigureKey(metric: Metric.rounds.name, stat: "total", phase: "", operationClass: "")
        rounds = Dictionary((figures[key] ?? []).map { ($0.sampleID, $0.value) }) { $1 }
        mostSamples = figures.reduce(into: [:]) { most, entry in
            most[entry.key.operationClass] = max(entry.value.count, most[entry.key.operationClass] ?? 0)
        }
    }

    /// The axis on which the backend executes the cell.
    var axis: Axis? { Axis(flags) }

    /// Whether the backends are on different axes.
    func isAcross(_ other: BackendSamples) -> Bool {
        guard let axis, let others = other.axis else { return false }
        return axis != others
    }

    /// Whether there are times to divide by.
    var isTimed: Bool { !figures(.time, stat: "total", phase: "total").isEmpty }

    private static func quality(of rows: [SampleRow], without superseded: Set<String>) -> SampleQuality {
        var seen: Set<String> = []
        var quality = SampleQuality.none
        for row in rows where !superseded.contains(row.sampleID) {
            // Samples of enough rounds have this figure, once.
            if row.metric == Metric.roundChange.name {
                quality.levelled += 1
                if row.flags.contains(.unsteady) { quality.unsteady += 1 }
            }
            guard seen.insert(row.sampleID).inserted else { continue }
            quality.samples += 1
            let noisy = row.flags.contains(.noisy) ? 1 : 0
            quality.noisy += noisy
            if row.flags.contains(.waits) { quality.waits = true }
            if row.flags.contains(.unpromised) { quality.unpromised += 1 }
            if row.kind == .latency {
                quality.latencySamples += 1
                quality.noisyLatency += noisy
                if row.flags.contains(.overloaded) { quality.overloaded += 1 }
            }
            guard row.kind == .throughput else { continue }
            quality.throughputSamples += 1
            quality.noisyThroughput += noisy
            if row.flags.contains(.short) { quality.short += 1 }
        }
        return quality
    }

    /// The values of one figure, one per sample, sorted by block.
    func figures(
        _ metric: Metric, stat: String, phase: String = "", operationClass: String = ""
    ) -> [Value] {
        let key = FigureKey(metric: metric.name, stat: stat, phase: phase, operationClass: operationClass)
        return allFigures[key] ?? []
    }

    /// The number of times that the value's sample ran the plan: until it lasted long enough.
    func rounds(of value: Value) -> Double { max(1, rounds[value.sampleID] ?? 1) }

    /// The divisor of a value before samples are compared: they differ in how often they ran the plan.
    func divisor(of value: Value, per basis: Metric.Basis) -> Double {
        switch basis {
        case .sample: 1
        case .operation: Double(value.operations)
        case .round: rounds(of: value)
        }
    }

    /// The number of samples behind the figures of a class: of throughput samples or, if there are none, of the figure
    /// with the most.
    func sampleCount(operationClass: String) -> Int {
        let throughput = figures(.time, stat: "total", phase: "total", operationClass: operationClass)
        if !throughput.isEmpty { return throughput.count }
        return mostSamples[operationClass] ?? 0
    }
}

extension SampleStatus {
    /// The order in which one status represents several: a status with figures ranks below one without, and a failure
    /// above both.
    var severity: Int {
        switch self {
        case .skipped: 0
        case .unsupported: 1
        case .ok: 2
        case .timeout: 3
        case .crashed: 4
        case .invalid: 5
        }
    }
}

/// Samples that were run again after a disturbance.
///
/// The repetition (flag `rerun`) counts whatever its value, so no result is chosen by its value. A repetition without
/// figures replaces nothing.
public enum SupersededSamples {
    private struct Slot: Hashable {
        var cellID: String
        var backend: BackendID
        var side: String
        var flavour: SampleFlavour?
        var block: Int

        init(_ row: SampleRow) {
            (cellID, backend, side, flavour, block) = (row.cellID, row.backend, row.side, row.flavour, row.block)
        }
    }

    /// The ids of the samples that a repetition replaces.
    ///
    /// - Parameter rows: rows of one run, all of them or those of some cells and backends.
    public static func ids(in rows: [SampleRow]) -> Set<String> {
        let repeated = Set(rows.lazy.filter { $0.status == .ok && $0.flags.contains(.rerun) }.map(Slot.init))
        if repeated.isEmpty { return [] }
        return Set(
            rows.lazy.filter { !$0.flags.contains(.rerun) && repeated.contains(Slot($0)) }.map(\.sampleID))
    }
}
