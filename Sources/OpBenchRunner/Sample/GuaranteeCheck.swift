import CLinux
import OpBenchBackends
import OpBenchModel

/// Checks a sample against its backend's guarantees.
struct GuaranteeCheck {
    let plan: WorkloadPlan
    let guarantees: BackendGuarantees

    /// The violations in words; empty if there are none.
    func violations(of body: OperationBody, _ analysis: RoundAnalysis) -> [String] {
        var violations: [String] = []
        if plan.detail?.runsEveryBody ?? true, body.countedRuns != plan.operationCount {
            violations.append(
                "\(counted(body.countedRuns, "body", plural: "bodies")) ran for \(counted(plan.operationCount, "operation"))"
            )
        }
        // With groups, the limit counts groups, whose blocks run concurrently.
        if guarantees.contains(.limit), let slots = plan.slots, plan.detail?.groupSize ?? 1 == 1,
            body.highWater > slots
        {
            violations.append("\(body.highWater) operations ran at once at limit \(plan.limit ?? slots)")
        }
        if guarantees.contains(.priorityOrder), plan.slots == 1, analysis.inversions > 0 {
            violations.append(
                "\(counted(analysis.inversions, "operation")) started before a more urgent one at limit 1")
        }
        if guarantees.contains(.suspension), analysis.mostStartsInAHold > slots(body) {
            violations.append("\(counted(analysis.mostStartsInAHold, "operation")) started after suspend had returned")
        }
        if guarantees.contains(.threadPriorities), let classes = plan.classes, plan.threadPriorities != nil {
            violations += Self.disorder(of: classes, analysis, ownNice: Int(clinux_thread_nice(0)))
        }
        return violations
    }

    /// The thread priority at which work certainly has a higher nice value than the submitting thread.
    private static let lowPriority = 0.25
    private static let greatestNice = 19

    /// Thread priorities that ran at the nice values of others.
    private static func disorder(
        of classes: OperationClasses, _ analysis: RoundAnalysis, ownNice: Int
    ) -> [String] {
        let levels = classes.keys.indices.sorted { classes.values[$0] < classes.values[$1] }.compactMap { index in
            analysis.classes[classes.name(index)].map { (priority: classes.values[index], figures: $0) }
        }.filter { $0.figures.operations > 0 }
        var violations = zip(levels, levels.dropFirst()).filter { $0.figures.niceMinimum < $1.figures.niceMaximum }.map
        {
            "thread priority \($0.priority) ran at nice \($0.figures.niceMinimum), \($1.priority) at \($1.figures.niceMaximum)"
        }
        violations += levels.filter {
            $0.priority <= lowPriority && $0.figures.niceMinimum <= ownNice && ownNice < greatestNice
        }.map { "thread priority \($0.priority) ran at nice \($0.figures.niceMinimum), as others do" }
        return violations
    }

    /// The number of slots that may have been running: the limit, or else the most that were seen, at least one per
    /// core.
    private func slots(_ body: OperationBody) -> Int {
        plan.limit ?? max(body.highWater, max(1, Int(clinux_allowed_processors())))
    }
}

/// Checks the stamps of a paced round: `drain` must not return early, and no operation may start before it is
/// submitted.
struct PacingCheck {
    let plan: WorkloadPlan

    /// The violations in words; empty if there are none.
    func violations(of body: OperationBody, _ pace: Pace) -> [String] {
        switch plan.pacing {
        case nil: return []
        case .bursts(let size, _, _):
            let hasty = hastyBursts(of: size, body)
            return hasty == 0 ? [] : ["\(counted(hasty, "burst")) submitted before the previous one had ended"]
        case .arrivals(let instants):
            let early = instants.indices.count { operation in
                // A cancelled operation may never start.
                let start = body.read(.start, operation)
                return start > 0 && start < pace.firstArrival + instants[operation]
            }
            return early == 0 ? [] : ["\(counted(early, "operation")) started early, before the arrival"]
        }
    }

    /// Bursts that began while an operation of an earlier one was running, because the backend's `drain` returned
    /// early.
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
