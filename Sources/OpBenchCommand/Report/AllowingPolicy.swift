import Foundation
import OpBenchModel

/// A policy of goals for figures that have no ratio because the figure to compare with is 0. It bounds each one by the
/// measured value, for the user to change.
enum AllowingPolicy {
    static func text(for rows: [some JudgedRow]) -> String {
        let rules = rows.compactMap(\.allowingRule).prefix(GatePolicy.ruleLimit)
        return "{\"version\": 1, \"rules\": [\(rules.joined(separator: ", "))]}"
    }

    /// A file that is not there yet.
    static func freeName() -> String {
        let stem = "policy-from-0"
        return ([stem] + (2...99).map { "\(stem)-\($0)" }).map { "\($0).json" }
            .first { !FileManager.default.fileExists(atPath: $0) } ?? "\(stem).json"
    }

    /// - Parameters:
    ///   - figure: what names it.
    ///   - bounds: what it may be, in JSON.
    fileprivate static func rule(_ figure: FigureName, _ bounds: String) -> String {
        let limit = GatePolicy.patternLimit
        let cell = figure.cellID.unicodeScalars.count > limit ? "\(figure.cellID.prefix(limit / 2))*" : figure.cellID
        let selectors = [
            ("cell", cell), ("backend", figure.backend.rawValue), ("metric", figure.metric), ("stat", figure.stat),
            ("phase", figure.phase), ("class", figure.operationClass),
        ]
        return "{" + selectors.map { "\"\($0)\": \(JSONText.quoted($1))" }.joined(separator: ", ") + ", \(bounds)}"
    }

    /// The next greater number of two digits.
    fileprivate static func above(_ value: Double) -> String? {
        guard value > 0, value.isFinite else { return nil }
        let exponent = Int(floor(log10(value))) - 1
        // The power of a number near the smallest one is 0.
        let digits = value / pow(10, Double(exponent))
        guard digits.isFinite else { return nil }
        return Double("\(Int(digits) + 1)e\(exponent)").map(FigureText.write)
    }
}

extension CompareRow {
    /// Nil: two sides are compared by their difference where they have no ratio.
    var allowingRule: String? { nil }
}

extension GoalRow {
    var allowingRule: String? {
        guard let bound = value.flatMap(AllowingPolicy.above) else { return nil }
        return AllowingPolicy.rule(figure, "\"at_most\": \(bound)")
    }
}
