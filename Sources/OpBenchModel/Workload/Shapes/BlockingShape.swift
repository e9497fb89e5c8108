extension ShapeDefinition {
    /// Operations that occupy a thread without using a processor.
    static let blocking = ShapeDefinition(
        shape: .blocking,
        summary: "Operations that sleep, or wait for one another, on the threads that run them.",
        parameters: [
            .count("operations", 1...100_000, 100, "Operations, all together."),
            .choice(
                "kind", ["sleep", "wait"],
                "Every operation sleeps; or, of each two in succession, the first waits until the second, which "
                    + "sleeps, has finished."),
            .nanoseconds("block_ns", 1000...1_000_000_000, 1_000_000, "How long one operation sleeps."),
        ] + common(work: 0),
        problem: { cell in
            if cell.text("kind") == "wait", cell.maxConcurrent == 1 {
                return (
                    "an operation waits for the next one, which cannot start at max_concurrent 1",
                    "give kind \"wait\" a max_concurrent of at least 2"
                )
            }
            let seconds = Double(cell.operationCount) * Double(cell.integer("block_ns")) / 1e9
            guard seconds > secondsLimit else { return nil }
            return (
                "its operations sleep for \(FigureText.write(seconds)) s in all",
                "operations × block_ns is at most \(FigureText.write(secondsLimit)) s"
            )
        })
}
