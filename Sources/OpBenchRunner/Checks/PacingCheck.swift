import OpBenchBackends
import OpBenchModel

/// Holds the stamps of a paced round against the pace: what a backend is bound to by returning from `drain`, and by
/// starting nothing before it is submitted.
struct PacingCheck {
    let plan: WorkloadPlan

    /// In words; empty if the pace was kept.
    func violations(of body: OperationBody, _ pace: Pace) -> [String] {
        switch plan.pacing {
        case nil: return []
        case .bursts(let size, _, _):
            let hasty = hastyBursts(of: size, body)
            return hasty == 0 ? [] : ["\(hasty) bursts were submitted before the one before had ended"]
        case .arrivals(let instants):
            let early = instants.indices.count { body.read(.start, $0) < pace.firstArrival + instants[$0] }
            return early == 0 ? [] : ["\(early) operations started before they had arrived"]
        }
    }

    /// Bursts that began although an operation of an earlier one was not over: the backend's wait had returned early.
    private func hastyBursts(of size: Int, _ body: OperationBody) -> Int {
        var hasty = 0
        var lastEnd = Int64.min
        for first in stride(from: 0, to: plan.operationCount, by: size) {
            if body.read(.submit, first) < lastEnd { hasty += 1 }
            for operation in first..<min(first + size, plan.operationCount) {
                lastEnd = max(lastEnd, body.read(.end, operation))
            }
        }
        return hasty
    }
}
