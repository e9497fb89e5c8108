extension Shape { public static let blocking = Shape("blocking") }

extension ShapeDefinition {
    /// Operations that occupy a thread without using a processor.
    static let blocking = ShapeDefinition(
        shape: .blocking,
        summary: "Operations that sleep, or wait for one another, on the threads that run them.",
        parameters: [
            .count("operations", 1...100_000, 100, "Operations, all together."),
            .choice(
                "kind", ["sleep", "wait"],
                "Every operation sleeps; or, of each successive pair, the first waits until the second, which "
                    + "sleeps, has finished."),
            .nanoseconds("block_ns", 1000...1_000_000_000, 1_000_000, "The time that one operation sleeps."),
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
        },
        estimate: RoundEstimate(whole: Blocking.seconds),
        plan: { cell, plan in
            plan.detail = Blocking(
                kind: BlockingKind(rawValue: cell.text("kind")) ?? .sleep, nanoseconds: cell.integer("block_ns"))
        })
}

package enum BlockingKind: String, Sendable {
    /// Every operation sleeps.
    case sleep
    /// The first of each successive pair waits until the second, which sleeps, has finished.
    case wait
}

/// Operations that occupy a thread and no processor.
package struct Blocking: ShapeDetail {
    package var kind: BlockingKind
    package var nanoseconds: Int

    /// The operation that this one waits for; nil if it waits for none.
    package func partner(of operation: Int, among operationCount: Int) -> Int? {
        guard kind == .wait, operation % 2 == 0, operation + 1 < operationCount else { return nil }
        return operation + 1
    }

    // MARK: Warm-up

    /// The share of blocked operations in a warm-up: they take time, whatever the queue does.
    private static let (shortenedNanoseconds, shortenedOperations) = (100_000, 16)

    package var warmUpLimit: Int { Self.shortenedOperations }

    package func shortened(to operations: Int) -> (any ShapeDetail)? {
        Blocking(kind: kind, nanoseconds: min(nanoseconds, Self.shortenedNanoseconds))
    }

    // MARK: The outcome

    /// The value of an operation's slot after one correct round: a waiting operation adds its partner's mark.
    package func expectedMark(of operation: Int, among operationCount: Int) -> UInt32 {
        partner(of: operation, among: operationCount) == nil ? 1 : 2
    }

    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        MarkCheck.violations(of: traces, in: plan) { expectedMark(of: $0, among: plan.operationCount) }
    }

    // MARK: Time

    /// Threads in a pool for blocked operations, roughly: Dispatch's maximum.
    private static let poolThreads = 64

    /// Sleeping operations take no processor time, but a thread each: at most as many run at once as the limit allows,
    /// or as pools have threads.
    @Sendable
    fileprivate static func seconds(of cell: Cell, on backend: BackendID) -> Double {
        let plan = WorkloadPlan(cell)
        let limit = backend == .serial ? 1 : min(plan.limit ?? poolThreads, poolThreads)
        return Double(plan.idealBlockedMakespan(processors: 1, limit: limit) ?? 0) / 1e9
    }
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var blocking: Blocking? { detail(Blocking.self) }

    /// The makespan of a plan of blocked operations if starting one cost nothing and every thread that the limit allows
    /// existed from the beginning; at the default limit, a thread for each. Nil for other plans.
    package func idealBlockedMakespan(processors: Int) -> Int? {
        idealBlockedMakespan(processors: processors, limit: limit ?? operationCount)
    }

    fileprivate func idealBlockedMakespan(processors: Int, limit: Int) -> Int? {
        guard let blocking else { return nil }
        let width = min(limit, operationCount)
        let (turns, atOnce) =
            blocking.kind == .sleep ? (operationCount, width) : ((operationCount + 1) / 2, max(1, width / 2))
        let waves = (turns + atOnce - 1) / atOnce
        let work = operationCount * workNanoseconds / max(1, processors)
        return max(waves * (blocking.nanoseconds + workNanoseconds), work)
    }
}
