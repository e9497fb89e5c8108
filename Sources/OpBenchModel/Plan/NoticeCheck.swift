/// The outcome where an operation's slot counts its runs in the lower half, and in the upper half how often an observer
/// was told of it, or its end was announced.
struct NoticeCheck {
    let noticesPerOperation: Int
    /// What was announced: the operation's `finish` or `end`.
    let announced: String

    /// In words; empty if there are none.
    func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        var (missing, repeated, tooFew, tooMany) = (0, 0, 0, 0)
        for operation in 0..<plan.operationCount {
            let slot = traces.slot(operation)
            let runs = slot % RoundTraces.noticeMark
            let notices = Int(slot / RoundTraces.noticeMark)
            if runs == 0 { missing += 1 }
            if runs > 1 { repeated += 1 }
            if notices < noticesPerOperation { tooFew += 1 }
            if notices > noticesPerOperation { tooMany += 1 }
        }
        var violations: [String] = []
        if missing > 0 { violations.append("\(missing) operations did not run") }
        if repeated > 0 { violations.append("\(repeated) operations ran more than once") }
        if tooFew > 0 { violations.append("the \(announced) of \(tooFew) operations was announced too seldom") }
        if tooMany > 0 { violations.append("the \(announced) of \(tooMany) operations was announced too often") }
        return violations
    }
}
