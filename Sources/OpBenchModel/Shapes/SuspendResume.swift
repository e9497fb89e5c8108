extension Shape { public static let suspendResume = Shape("suspend_resume") }

extension ShapeDefinition {
    /// A queue that is suspended and resumed while it works.
    static let suspendResume = ShapeDefinition(
        shape: .suspendResume,
        summary: "A thread suspends and resumes the queue while operations are submitted and run.",
        parameters: [
            .count("operations", 1...operationLimit, 100_000, "Operations submitted in total."),
            .count("toggles", 1...100_000, 20, "The number of suspensions, each followed by a resumption."),
            .nanoseconds("run_ns", 1000...10_000_000_000, 2_000_000, "Time from a resumption to the next suspension."),
            .nanoseconds("hold_ns", 1000...10_000_000_000, 2_000_000, "Time from a suspension to its resumption."),
            producers,
        ] + common(work: 1000),
        problem: { cell in
            let cycle = Double(cell.integer("run_ns") + cell.integer("hold_ns"))
            let seconds = Double(cell.integer("toggles")) * cycle / 1e9
            guard seconds > secondsLimit else { return nil }
            return (
                "its suspensions take \(FigureText.write(seconds)) s",
                "toggles × (run_ns + hold_ns) is at most \(FigureText.write(secondsLimit)) s"
            )
        },
        estimate: RoundEstimate(
            pause: { cell in Double(cell.integer("toggles")) * Double(cell.integer("hold_ns")) / 1e9 }),
        plan: { cell, plan in
            plan.concerns = .suspension
            plan.form = .closure
            plan.producers = cell.integer("producers")
            plan.detail = Storm(
                toggles: cell.integer("toggles"), runNanoseconds: cell.integer("run_ns"),
                holdNanoseconds: cell.integer("hold_ns"))
        })
}

/// A separate thread suspends and resumes the queue.
package struct Storm: ShapeDetail {
    package let toggles: Int
    package let runNanoseconds: Int
    package let holdNanoseconds: Int

    package func shortened(to operations: Int) -> (any ShapeDetail)? { nil }
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var storm: Storm? { detail(Storm.self) }

    /// The plan without suspensions of the queue.
    package var withoutStorm: WorkloadPlan {
        guard storm != nil else { return self }
        var plan = self
        plan.detail = nil
        plan.concerns = []
        return plan
    }
}
