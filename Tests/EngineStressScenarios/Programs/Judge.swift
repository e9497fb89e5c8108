import OperationEngine
import TestSupport

/// The reference model: what the contract says about a finished program, from its plan and the times of its events.
/// Single-threaded, and as plain as it can be.
extension Program {
    func judge() {
        for subject in subjects {
            judgeEnd(subject)
            judgeCancellation(subject)
            judgeDependencies(subject)
            judgeNotices(subject)
        }
        for (place, record) in queues.enumerated() { judgeQueue(place, record) }
    }

    // MARK: Times

    /// No later than this did the operation finish for its dependents: 0 if nothing says so.
    ///
    /// One that ran finished after main's end; one that did not, after the first call that could cancel it.
    func earliestFinish(_ subject: Subject) -> UInt64 {
        if subject.hasRun { return subject.ended.load(ordering: .relaxed) }
        return max(firstCancel(subject) ?? 0, subject.addBegin.load(ordering: .relaxed))
    }

    /// When the first call began that may have cancelled it.
    private func firstCancel(_ subject: Subject) -> UInt64? {
        let direct = subject.cancels.read().map(\.begin)
        return (direct + queues[subject.queue.load(ordering: .relaxed)].cancelCalls.map(\.begin)).min()
    }

    /// For one that ran: its queue cannot have chosen it before this.
    func earliestChoice(_ subject: Subject) -> UInt64 {
        let start = subject.started.load(ordering: .relaxed)
        var earliest = max(subject.addBegin.load(ordering: .relaxed), subject.firstOpening.load(ordering: .relaxed))
        for edge in subject.fixed where isInForce(edge, at: start) {
            earliest = max(earliest, earliestFinish(subjects[edge.dependency]))
        }
        return earliest
    }

    /// Whether nobody had begun to remove it.
    private func isInForce(_ edge: Edge, at time: UInt64) -> Bool {
        let removal = edge.removeBegin.load(ordering: .relaxed)
        return removal == 0 || removal > time
    }

    // MARK: One operation

    private func judgeEnd(_ subject: Subject) {
        let operation = operation(subject.index)
        let runs = subject.runs.load(ordering: .relaxed)
        run.require(operation.hasEnded && !operation.isExecuting, "\(subject) ends up as \(operation) (A1)")
        if !subject.isHeld { run.require(operation.isReady, "\(subject) is unready when finished (contract A3)") }
        run.require(runs == 1 || operation.isCancelled, "\(subject) ran \(runs) times (contract E24)")
        let completions = subject.completions.load(ordering: .relaxed)
        run.require(completions == 1, "\(subject) completed \(completions) times (contract I1)")
        run.require(operation.completionBlock == nil, "\(subject) keeps its completion block (contract I6)")
        let start = subject.started.load(ordering: .relaxed)
        guard runs > 0 else { return }
        run.require(
            subject.addBegin.load(ordering: .relaxed) < start, "\(subject) runs before it is added (contract M3)")
        run.require(
            subject.completed.load(ordering: .relaxed) > subject.ended.load(ordering: .relaxed),
            "\(subject) completes before its end (contract I1)")
        if subject.isHeld {
            let opening = subject.firstOpening.load(ordering: .relaxed)
            run.require(opening != 0 && opening < start, "\(subject) runs before its gate opens (contract F1)")
        }
    }

    private func judgeCancellation(_ subject: Subject) {
        let operation = operation(subject.index)
        let cancels = subject.cancels.read()
        let finish = earliestFinish(subject)
        let start = subject.started.load(ordering: .relaxed)
        let first = firstCancel(subject)
        if operation.isCancelled {
            run.require(first != nil, "\(subject) is cancelled, and nobody did that (contract J8)")
        }
        for call in cancels {
            if subject.hasRun {
                if call.end < finish { run.require(operation.isCancelled, "\(subject) forgets a cancel (contract J1)") }
                if call.end < start {
                    run.require(
                        subject.foundCancelled.load(ordering: .relaxed),
                        "\(subject) runs after a cancel and does not see it (contract J13)")
                }
                run.require(
                    call.end > earliestChoice(subject), "\(subject) runs although it was cancelled before (J5)")
            }
        }
        if !subject.hasRun, let first {
            run.require(
                first < subject.completed.load(ordering: .relaxed), "\(subject) is left out before its cancel (J5)")
        }
        for call in queues[subject.queue.load(ordering: .relaxed)].cancelCalls
        where subject.addEnd.load(ordering: .relaxed) < call.begin && subject.hasRun && finish > call.end {
            run.require(operation.isCancelled, "\(subject) escapes a cancel of all (contract J10)")
        }
    }

    private func judgeDependencies(_ subject: Subject) {
        let late = lateEdges.read().filter { $0.dependent == subject.index }
        let listed = Set(operation(subject.index).dependencies.map(ObjectIdentifier.init))
        let expected = Set(
            (subject.fixed + late).filter { $0.removeEnd.load(ordering: .relaxed) == 0 }
                .map { ObjectIdentifier(operation($0.dependency)) })
        run.require(listed == expected, "\(subject) lists \(listed.count) dependencies, not \(expected.count) (E11)")
        guard subject.hasRun else { return }
        let start = subject.started.load(ordering: .relaxed)
        for edge in subject.fixed where isInForce(edge, at: start) {
            run.require(
                earliestFinish(subjects[edge.dependency]) < start,
                "\(subject) ran before the end of \(subjects[edge.dependency]) (contract E24)")
        }
        for edge in late where isInForce(edge, at: start) && mustHold(edge, subject) {
            run.require(
                earliestFinish(subjects[edge.dependency]) < start,
                "\(subject) ran before the end of \(subjects[edge.dependency]), added late but in time (E18)")
        }
    }

    /// Whether a late dependency came when the operation cannot have begun: it was seen to hold it back, or another
    /// dependency, from the start and not removed, finished later.
    private func mustHold(_ edge: Edge, _ subject: Subject) -> Bool {
        if edge.wasSeenHolding.load(ordering: .relaxed) { return true }
        let came = edge.addEnd.load(ordering: .relaxed)
        let start = subject.started.load(ordering: .relaxed)
        return subject.fixed.contains {
            isInForce($0, at: start) && subjects[$0.dependency].hasRun && earliestFinish(subjects[$0.dependency]) > came
        }
    }
}
