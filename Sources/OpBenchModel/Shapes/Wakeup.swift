extension Shape { public static let wakeup = Shape("wakeup") }

extension ShapeDefinition {
    /// An idle queue that gets work.
    static let wakeup = ShapeDefinition(
        shape: .wakeup,
        summary: "Bursts submitted to an idle queue, each after the previous one has ended and a pause has passed.",
        parameters: [
            .count("operations", 1...operationLimit, 1000, "Operations submitted in total."),
            .count("burst", 1...100_000, 1, "Operations per burst; the next burst waits for all of them."),
            .nanoseconds(
                "pause_ns", 0...1_000_000_000, 0,
                "Time from the end of a burst to the next one; 0 for no pause."),
            .choice(
                "pause_by", ["sleep", "spin"],
                "How the submitting thread waits for pause_ns: asleep, or spinning on the clock, "
                    + "so that its own processor never sleeps."),
            stall,
        ] + common(work: 0),
        kinds: [.throughput, .latency, .check],
        problem: { cell in
            let bursts = (cell.integer("operations") + cell.integer("burst") - 1) / cell.integer("burst")
            let seconds = Double(bursts) * Double(cell.integer("pause_ns")) / 1e9
            guard seconds > secondsLimit else { return nil }
            return (
                "its pauses take \(FigureText.write(seconds)) s",
                "operations ÷ burst × pause_ns is at most \(FigureText.write(secondsLimit)) s"
            )
        },
        estimate: RoundEstimate(
            operationNanoseconds: 30_000,
            pause: { cell in
                Double(cell.integer("operations") / cell.integer("burst")) * Double(cell.integer("pause_ns")) / 1e9
            }),
        plan: { cell, plan in
            plan.form = .closure
            plan.pacing = .bursts(
                size: cell.integer("burst"), pauseNanoseconds: cell.integer("pause_ns"),
                staysAwake: cell.text("pause_by") == "spin")
            plan.stall = Stall(cell, of: plan.operationCount)
        })
}
