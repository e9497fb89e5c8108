import OpBenchModel

/// The relation of a backend to the baseline in one cell, from the 95 % interval of the ratio of their times.
public enum RatioVerdict: Sendable {
    /// The whole interval is below 1, or above it.
    case faster, slower
    /// The interval includes 1, or the machine was busy and CPU time shows no such difference.
    case noDifference
    /// The two did different things, so the ratio compares nothing.
    case incomparable
    /// There are too few blocks for an interval.
    case unknown
}

extension SummaryRow {
    /// The relation to the baseline; nil for the baseline itself, and without a ratio.
    public var ratioVerdict: RatioVerdict? {
        guard self[.timeRatio].value != nil, backend != ratioTo else { return nil }
        if isRatioUnlike { return .incomparable }
        if isRatioOfBusyMachine { return .noDifference }
        guard let (low, high) = interval(of: .timeRatio) else { return .unknown }
        return high < 1 ? .faster : low > 1 ? .slower : .noDifference
    }

    /// Whether there is a ratio to the baseline, of two that did the same.
    public var isComparable: Bool { ratioVerdict.map { $0 != .incomparable } ?? false }
}

/// A backend's verdicts against the baseline, over the cells of a run.
public struct RatioFindings: Sendable {
    public let backend: BackendSide
    /// The reference of its ratios: the baseline, or of several forms of it the one with the shortest name.
    public let baseline: BackendID
    private let rows: [RatioVerdict: [SummaryRow]]

    /// The rows with a verdict, by ratio in ascending order.
    public subscript(verdict: RatioVerdict) -> [SummaryRow] { rows[verdict] ?? [] }

    /// The findings of every backend and side that has verdicts, in order of first appearance.
    public static func all(of rows: [SummaryRow]) -> [RatioFindings] {
        var judged: [BackendSide: [RatioVerdict: [SummaryRow]]] = [:]
        for row in rows.sorted(by: { ($0[.timeRatio].value ?? 0) < ($1[.timeRatio].value ?? 0) }) {
            guard let verdict = row.ratioVerdict else { continue }
            judged[row.backendSide, default: [:]][verdict, default: []].append(row)
        }
        return rows.backendSides.compactMap { backend in
            guard let rows = judged[backend], let baseline = baseline(of: rows.values.flatMap(\.self)) else {
                return nil
            }
            return RatioFindings(backend: backend, baseline: baseline, rows: rows)
        }
    }

    /// The reference backend of the ratios; nil without ratios.
    public static func baseline(of rows: [SummaryRow]) -> BackendID? {
        rows.lazy.compactMap(\.ratioTo).min { $0.rawValue.count < $1.rawValue.count }
    }
}
