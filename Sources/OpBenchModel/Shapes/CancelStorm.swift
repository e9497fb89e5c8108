extension Shape { public static let cancelStorm = Shape("cancel_storm") }

extension ShapeDefinition {
    /// Operations that are cancelled in great numbers.
    static let cancelStorm = ShapeDefinition(
        shape: .cancelStorm,
        summary: "Many submitted operations are cancelled at once.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations submitted in total."),
            .init(
                name: "cancelled_percent", format: .wholeNumber(0...100), defaultValue: .integer(50),
                summary: "Percentage of operations to be cancelled, chosen by the seed; used only by call each.",
                unit: "count"),
            .choice(
                "call", ["each", "all"],
                "One call per operation to be cancelled, or one call for everything in the queue."),
            .choice(
                "enqueue", ["suspended", "live"],
                "Whether the queue is suspended until everything is added and cancelled, or runs during that time."),
            .count(
                "producers", 1...256, 1,
                "Threads that submit, each an equal share; once all have, each cancels its own operations."),
        ] + common(work: 1000),
        plan: { cell, plan in
            plan.producers = cell.integer("producers")
            plan.startsSuspended = cell.text("enqueue") == "suspended"
            plan.detail = Cancellation(cell, of: plan.operationCount, isBeforeRelease: plan.startsSuspended)
        })
}

/// Operations that are cancelled between submitting and draining.
package struct Cancellation: ShapeDetail, Equatable {
    package enum Call: String, Sendable {
        /// One call for each chosen operation.
        case each
        /// One call for everything in the queue.
        case all
    }

    package var call: Call
    /// Whether no operation can begin before the cancelling, so that the outcome is fully determined.
    package var isBeforeRelease: Bool
    /// For each operation, whether it is to be cancelled.
    package var isChosen: [Bool]

    package var chosenCount: Int { isChosen.count { $0 } }
    package var runsEveryBody: Bool { false }

    /// Operations that are cancelled one by one while the queue runs.
    init(live isChosen: [Bool]) { (call, isBeforeRelease, self.isChosen) = (.each, false, isChosen) }

    fileprivate init(_ cell: Cell, of operations: Int, isBeforeRelease: Bool) {
        call = Call(rawValue: cell.text("call")) ?? .each
        self.isBeforeRelease = isBeforeRelease
        isChosen = Self.chosen(
            percent: call == .all ? 100 : cell.integer("cancelled_percent"), of: operations, seed: cell.integer("seed"))
    }

    /// Chooses that percentage of the operations, spread randomly, with an exact total.
    private static func chosen(percent: Int, of operations: Int, seed: Int) -> [Bool] {
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var (left, wanted) = (operations, operations * percent / 100)
        return (0..<operations).map { _ in
            defer { left -= 1 }
            guard Int(generator.next() % UInt64(left)) < wanted else { return false }
            wanted -= 1
            return true
        }
    }

    package func shortened(to operations: Int) -> (any ShapeDetail)? {
        var shortened = self
        shortened.isChosen.removeSubrange(operations...)
        return shortened
    }

    /// Checks that every operation ended once, in an allowed way.
    ///
    /// The lower half of an operation's slot counts its runs, the upper half its ends as cancelled. An operation that
    /// was not chosen ran. One that was chosen before anything could begin did not run. One that was chosen while the
    /// queue was running ran, or did not, or was cancelled while it ran.
    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        var (lost, repeated, ranCancelled, unasked) = (0, 0, 0, 0)
        for operation in 0..<plan.operationCount {
            let slot = traces.slot(operation)
            let runs = slot % RoundTraces.cancelledMark
            let cancellations = slot / RoundTraces.cancelledMark
            let isChosen = isChosen[operation]
            if runs == 0 && cancellations == 0 { lost += 1 }
            if runs > 1 || cancellations > 1 { repeated += 1 }
            if isChosen && isBeforeRelease && runs > 0 { ranCancelled += 1 }
            if !isChosen && cancellations > 0 { unasked += 1 }
        }
        return findings(
            (lost, "\(counted(lost, "operation")) neither ran nor was cancelled"),
            (repeated, "\(counted(repeated, "operation")) ran or ended as cancelled more than once"),
            (ranCancelled, "\(counted(ranCancelled, "operation")) ran after a cancellation in a suspended queue"),
            Self.unasked(unasked))
    }
}

extension Cancellation {
    static func unasked(_ count: Int) -> (count: Int, words: String) {
        let operations = counted(count, "operation was", plural: "operations were")
        return (count, "\(operations) cancelled without a call of cancel()")
    }
}

extension WorkloadPlan {
    /// Nil in shapes that cancel nothing.
    package var cancellation: Cancellation? { detail(Cancellation.self) ?? replay?.cancellation }
}
