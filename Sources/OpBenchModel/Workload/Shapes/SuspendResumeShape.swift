extension ShapeDefinition {
    /// A queue that is suspended and resumed while it works.
    static let suspendResume = ShapeDefinition(
        shape: .suspendResume,
        summary: "A thread suspends and resumes the queue while operations are submitted and run.",
        parameters: [
            .count("operations", 1...operationLimit, 100_000, "Operations submitted, all together."),
            .count("toggles", 1...100_000, 20, "Suspensions, each followed by a resumption."),
            .nanoseconds("run_ns", 1000...10_000_000_000, 2_000_000, "Time from a resumption to the next suspension."),
            .nanoseconds("hold_ns", 1000...10_000_000_000, 2_000_000, "Time from a suspension to its resumption."),
            producers,
        ] + common(work: 1000),
        problem: { cell in
            let cycle = Double(cell.integer("run_ns") + cell.integer("hold_ns"))
            let seconds = Double(cell.integer("toggles")) * cycle / 1e9
            guard seconds > secondsLimit else { return nil }
            return (
                "its toggles take \(FigureText.write(seconds)) s",
                "toggles × (run_ns + hold_ns) is at most \(FigureText.write(secondsLimit)) s"
            )
        })
}
