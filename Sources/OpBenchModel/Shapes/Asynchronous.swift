extension Shape { public static let asynchronous = Shape("asynchronous") }

extension ShapeDefinition {
    /// Operations that report their own end.
    static let asynchronous = ShapeDefinition(
        shape: .asynchronous,
        summary: "Operations that continue after `start` returns and report their own end.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .choice(
                "ended_by", ["thread", "itself"],
                "What reports the end: a separate thread, to which `start` hands each operation; or the "
                    + "start itself."),
        ] + common(work: 0),
        plan: { cell, plan in
            plan.detail = AnnouncedEnd(rawValue: cell.text("ended_by"))
        })
}

/// The thread that reports the end of an asynchronous operation.
package enum AnnouncedEnd: String, ShapeDetail {
    case thread, itself

    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        NoticeCheck(noticesPerOperation: 1, announced: "end").violations(of: traces, in: plan)
    }
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var announcedEnd: AnnouncedEnd? { detail(AnnouncedEnd.self) }
}
