import OpBenchModel

/// All rows of one cell on one backend in one run, sorted so that figures are found by what they are.
struct BackendSamples {
    /// What a figure is: everything but whose.
    struct FigureKey: Hashable {
        var metric: String
        var stat: String
        var phase: String
        var operationClass: String
    }

    /// What one sample reports.
    struct Value {
        var sampleID: String
        var block: Int
        var value: Double
        var operations: Int
    }

    /// The first row, for what all rows share.
    let example: SampleRow
    let status: SampleStatus
    /// The classes in the order of appearance, the whole (empty) first.
    let classes: [String]
    let allFigures: [FigureKey: [Value]]
    let quality: SampleQuality
    /// The flags of the samples that count, each one once, sorted.
    let flags: [String]
    /// By the id of a sample, how many times it ran the plan.
    private let rounds: [String: Double]
    /// By class, how many samples have the figure that most have.
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
        let key = FigureKey(metric: Metric.rounds.name, stat: "total", phase: "", operationClass: "")
        rounds = Dictionary((figures[key] ?? []).map { ($0.sampleID, $0.value) }) { $1 }
        mostSamples = figures.reduce(into: [:]) { most, entry in
            most[entry.key.operationClass] = max(entry.value.count, most[entry.key.operationClass] ?? 0)
        }
    }

    /// The axis on which the backend executes the cell.
    var axis: Axis? { Axis(flags) }

    /// Whether the two are on different axes, or the phases of a sequence are.
    func isAcross(_ other: BackendSamples) -> Bool {
        let (own, others) = (Axis.all(in: flags), Axis.all(in: other.flags))
        return !own.isEmpty && !others.isEmpty && own != others
    }

    /// Whether anything can be divided by its times.
    var isTimed: Bool { !figures(.time, stat: "total", phase: "total").isEmpty }

    private static func quality(of rows: [SampleRow], without superseded: Set<String>) -> SampleQuality {
        var seen: Set<String> = []
        var quality = SampleQuality()
        for row in rows where !superseded.contains(row.sampleID) && seen.insert(row.sampleID).inserted {
            quality.samples += 1
            if row.flags.contains("noisy") { quality.noisy += 1 }
            if row.flags.contains("unpromised") { quality.unpromised += 1 }
            if row.sampleID.hasSuffix("-latency") {
                quality.latencySamples += 1
                if row.flags.contains("overloaded") { quality.overloaded += 1 }
            }
            guard row.sampleID.hasSuffix("-throughput") else { continue }
            quality.throughputSamples += 1
            if row.flags.contains("unsteady") { quality.unsteady += 1 }
            if row.flags.contains("short") { quality.short += 1 }
        }
        return quality
    }

    /// The figures of one kind, one a sample, by block; empty if there are none.
    func figures(
        _ metric: Metric, stat: String, phase: String = "", operationClass: String = ""
    ) -> [Value] {
        let key = FigureKey(metric: metric.name, stat: stat, phase: phase, operationClass: operationClass)
        return allFigures[key] ?? []
    }

    /// How many times the sample of a value ran the plan: until it lasted long enough.
    func rounds(of value: Value) -> Double { max(1, rounds[value.sampleID] ?? 1) }

    /// By what a value is divided before samples are compared, which differ in how often they ran the plan.
    func divisor(of value: Value, per basis: Metric.Basis) -> Double {
        switch basis {
        case .sample: 1
        case .operation: Double(value.operations)
        case .round: rounds(of: value)
        }
    }

    /// How many samples stand behind the figures of a class: the throughput samples, else those of the figure that
    /// most samples have.
    func sampleCount(operationClass: String) -> Int {
        let throughput = figures(.time, stat: "total", phase: "total", operationClass: operationClass)
        if !throughput.isEmpty { return throughput.count }
        return mostSamples[operationClass] ?? 0
    }
}

extension SampleStatus {
    /// Which status stands for several: one with figures before one without, and a failure before both.
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

/// The backend that another's times are divided by, in one cell.
///
/// Ratios are taken within an axis: if the baseline is on the other, its first form, by name, that was measured on this one
/// replaces it, as `dispatch:notify` replaces `dispatch`. Without such a form the ratio is across the axes, and marked.
struct Denominator {
    private let baseline: BackendID
    private let axis: Axis?
    private let formOnOtherAxis: BackendID?

    /// - Parameter axes: of the cell's backends.
    init(_ baseline: BackendID, _ axes: [BackendID: Axis]) {
        self.baseline = baseline
        let own = axes[baseline]
        axis = own
        formOnOtherAxis =
            axes.filter { $0.key.rawValue.hasPrefix("\(baseline.rawValue):") && $0.value != own }.keys
            .min { $0.rawValue < $1.rawValue }
    }

    func of(_ axis: Axis?) -> BackendID {
        guard let axis, let own = self.axis, axis != own else { return baseline }
        return formOnOtherAxis ?? baseline
    }
}

/// Samples that were run again after a disturbance.
///
/// The repetition (flag `rerun`) counts whatever it shows, so that no result is chosen for its value; a repetition without
/// figures supersedes nothing.
public enum SupersededSamples {
    private struct Slot: Hashable {
        var cellID: String
        var backend: BackendID
        var side: String
        /// The kind of sample, which ends the id.
        var kind: Substring
        var block: Int

        init(_ row: SampleRow) {
            (cellID, backend, side, block) = (row.cellID, row.backend, row.side, row.block)
            kind = row.sampleID.drop { $0 != "-" }
        }
    }

    /// The ids of those that do not count.
    ///
    /// - Parameter rows: of one run, all of them or those of some cells and backends.
    public static func ids(in rows: [SampleRow]) -> Set<String> {
        let repeated = Set(rows.lazy.filter { $0.status == .ok && $0.flags.contains("rerun") }.map(Slot.init))
        if repeated.isEmpty { return [] }
        return Set(
            rows.lazy.filter { !$0.flags.contains("rerun") && repeated.contains(Slot($0)) }.map(\.sampleID))
    }
}
