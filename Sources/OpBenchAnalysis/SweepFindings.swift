import Glibc
import OpBenchModel

/// The place on a sweep where a backend crosses a bound: in a workload whose cells differ in one parameter only.
public struct SweepFinding: Sendable {
    /// By the parameter that differs.
    public enum Kind: String, Sendable, CaseIterable {
        /// The least work of an operation with which half of the processors' time is work: the minimum effective task
        /// granularity at an efficiency of 50 % of Slaughter et al., “Task Bench: A Parameterized Benchmark for
        /// Evaluating Parallel Runtime Performance” (SC20). In nanoseconds.
        case granularity = "work_ns"
        /// The load, or the rate of arrivals per second, at which the 99th percentile of an open loop passes a
        /// millisecond.
        case load, rate
    }

    public enum Place: Sendable, Equatable {
        /// The bound is crossed before the first value, or after the last.
        case before(Double)
        case after(Double)
        /// Between two values, the second of which is overloaded.
        case between(Double, Double)
        /// The ends are those of the 95 % interval; nil if they are off the sweep.
        case at(Double, low: Double?, high: Double?)
    }

    public let kind: Kind
    public let backend: BackendSide
    public let place: Place

    /// A bound is looked for only among as many values: fewer say little about the curve between them.
    private static let fewestValues = 3
    /// The bound of an open loop's 99th percentile, in nanoseconds.
    fileprivate static let latencyBound = 1e6

    /// The findings of each backend in one workload; empty if its cells differ in other parameters, or in none of these.
    public static func all(of rows: [SummaryRow]) -> [SweepFinding] {
        let rows = rows.filter(\.operationClass.isEmpty)
        let names = Set(rows.flatMap(\.parameters.keys)).filter { name in
            Set(rows.map { $0.parameters[name] }).count > 1
        }
        guard names.count == 1, let kind = Kind.allCases.first(where: { names.contains($0.rawValue) }) else {
            return []
        }
        return rows.backendSides.compactMap { backend in
            let points = rows.filter { $0.backendSide == backend }.compactMap(kind.point).sorted { $0.x < $1.x }
            guard points.count >= fewestValues else { return nil }
            return SweepFinding(kind: kind, backend: backend, place: place(among: points))
        }
    }

    /// A value of the parameter, and how far the figure is beyond the bound: negative before it, on a scale that is
    /// nearly a straight line over the logarithm of the parameter.
    fileprivate struct Point {
        var x: Double
        var score: Double
        /// The ends of the interval; no numbers without one.
        var low: Double
        var high: Double
    }

    /// - Parameter points: in ascending order of the parameter.
    private static func place(among points: [Point]) -> Place {
        guard let index = points.firstIndex(where: { $0.score >= 0 }) else { return .after(points[points.count - 1].x) }
        guard index > 0 else { return .before(points[0].x) }
        guard let x = crossing(points, \.score) else { return .between(points[index - 1].x, points[index].x) }
        return .at(x, low: crossing(points, \.high), high: crossing(points, \.low))
    }

    /// The interpolated place of the first crossing; nil if it is not between two finite points.
    private static func crossing(_ points: [Point], _ score: KeyPath<Point, Double>) -> Double? {
        guard let index = points.firstIndex(where: { $0[keyPath: score] >= 0 }), index > 0 else { return nil }
        let (first, second) = (points[index - 1], points[index])
        let (below, above) = (first[keyPath: score], second[keyPath: score])
        guard below.isFinite, above.isFinite else { return nil }
        return exp(log(first.x) + log(second.x / first.x) * below / (below - above))
    }
}

extension SweepFinding.Kind {
    /// Nil for a row that has no such figure.
    fileprivate func point(_ row: SummaryRow) -> SweepFinding.Point? {
        guard let x = row.parameters[rawValue].flatMap(Double.init), x > 0 else { return nil }
        switch self {
        case .granularity:
            // A constant overhead v makes the efficiency w / (w + v), whose logit is log w − log v.
            guard row.backend != .serial, let efficiency = row[.schedulingEfficiency].value else { return nil }
            func logit(_ part: Double) -> Double {
                if part.isNaN { return .nan }
                let inside = min(max(part, 1e-9), 1 - 1e-9)
                return log(inside / (1 - inside))
            }
            let (time, interval) = (row[.time].value ?? .nan, row.interval(of: .time))
            let items = row.parameters["items_per_operation"].flatMap(Double.init) ?? 1
            return .init(
                x: x * items, score: logit(efficiency), low: logit(efficiency * time / (interval?.high ?? .nan)),
                high: logit(efficiency * time / (interval?.low ?? .nan)))
        case .load, .rate:
            if row.quality?.isOverloaded == true {
                return .init(x: x, score: .infinity, low: .infinity, high: .infinity)
            }
            guard let latency = row[.intendedLatencyP99].value, latency > 0 else { return nil }
            let interval = row.interval(of: .intendedLatencyP99)
            func score(_ latency: Double) -> Double { log(latency / SweepFinding.latencyBound) }
            return .init(
                x: x, score: score(latency), low: score(interval?.low ?? .nan),
                high: score(interval?.high ?? .nan))
        }
    }
}
