extension Shape { public static let asynchronous = Shape("asynchronous") }

extension Capability { package static let announcedEnds = Capability("announced ends") }

extension ShapeDefinition {
    /// Operations that say themselves when they have finished.
    static let asynchronous = ShapeDefinition(
        .asynchronous, needs: .announcedEnds,
        summary: "Operations that continue after their start returns, and announce their own end.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .choice(
                "ended_by", ["thread", "itself"],
                "Who announces the end: a thread of its own, to which each operation is handed by its start; or the "
                    + "start itself."),
        ] + common(work: 0),
        plan: { cell, plan in
            plan.detail = AnnouncedEnd(rawValue: cell.text("ended_by"))
        })
}

/// Who announces the end of an asynchronous operation.
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
