import OperationEngine

/// The model's state of a program that hangs.
extension Program {
    var stateOfAffairs: String {
        let unfinished = subjects.filter { !$0.isOver }
        let lines = unfinished.prefix(12).map { subject in
            "  \(subject.operation?.description ?? "no object"), \(subject): \(reasons(subject))"
        }
        let settings = queues.enumerated().map { place, record in
            let queue = record.queue
            return "  queue \(place) of rank \(record.plan.rank): \(queue?.description ?? "dropped, running"), limit "
                + "\(queue?.maxConcurrentOperationCount ?? record.plan.limit), \(record.plan.target), \(record.plan.listener)"
        }
        let silent = subjects.filter {
            $0.isOver && $0.task.hasCompletion && $0.completions.load(ordering: .relaxed) == 0
        }
        return """
            \(subjects.count - unfinished.count) of \(subjects.count) parts have come to their end
            \(settings.joined(separator: "\n"))
            \(lines.joined(separator: "\n"))
            finished without completion block: \(silent.prefix(12).map(\.description))
            """
    }

    /// Why the operation should be finished, or what holds it back.
    private func reasons(_ subject: Subject) -> String {
        guard subject.isAdded else { return "not added" }
        if subject.hasRun, subject.ended.load(ordering: .relaxed) == 0 { return "inside main: \(subject.task.steps)" }
        if subject.hasRun { return "main has ended" }
        if plan.cycle.contains(subject.index) { return "in a cycle: \(plan.cycle)" }
        let waitsFor = (subject.operation?.dependencies ?? []).filter { !$0.hasEnded }
        if !waitsFor.isEmpty, subject.operation?.isCancelled == false { return "waits for \(waitsFor.prefix(4))" }
        return "nothing holds it back in queue \(subject.queue.load(ordering: .relaxed)): it should have run"
    }
}
