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
            judgeLateStart(subject)
            judgeNotices(subject)
        }
        for (place, record) in queues.enumerated() { judgeQueue(place, record) }
    }

    // MARK: Times

    /// No later than this did the operation finish for its dependents: 0 if nothing says so.
    ///
    /// One that ran finished after main's end; one that ended before its turn, after it began to say so; another, after
    /// the first call that could cancel it.
    func earliestFinish(_ subject: Subject) -> UInt64 {
        if subject.hasRun { return subject.ended.load(ordering: .relaxed) }
        let first = max(firstCancel(subject) ?? 0, subject.addBegin.load(ordering: .relaxed))
        guard subject.hasEndedEarly else { return first }
        let early = subject.endsEarly.load(ordering: .relaxed)
        return firstCancel(subject) == nil ? early : min(early, first)
    }

    func record(of subject: Subject) -> QueueRecord? {
        let place = subject.queue.load(ordering: .relaxed)
        return place < 0 ? nil : queues[place]
    }

    /// When the first call began that may have cancelled it.
    private func firstCancel(_ subject: Subject) -> UInt64? {
        let ofAll = record(of: subject)?.cancelCalls ?? []
        return (subject.cancels.read() + ofAll).map(\.begin).min()
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
        let runs = subject.runs.load(ordering: .relaxed)
        let completions = subject.completions.load(ordering: .relaxed)
        let mayBeLeftOut = firstCancel(subject) != nil || subject.hasEndedEarly
        run.require(runs == 1 || runs == 0 && mayBeLeftOut, "\(subject) ran \(runs) times (contract E24)")
        run.require(!subject.hasRun || !subject.hasEndedEarly, "\(subject) ran, and had ended before (contract C9)")
        let expected = subject.task.hasCompletion ? 1 : 0
        run.require(completions == expected, "\(subject) completed \(completions) times (contract I1)")
        if let operation = subject.operation {
            run.require(operation.hasEnded && !operation.isExecuting, "\(subject) ends up as \(operation) (A1)")
            if subject.kind != .held, !subject.kind.mayEndEarly {
                run.require(operation.isReady, "\(subject) is unready when finished (contract A3)")
            }
            run.require(runs == 1 || operation.isCancelled || subject.hasEndedEarly, "\(subject) is left out (E24)")
            run.require(operation.completionBlock == nil, "\(subject) keeps its completion block (contract I6)")
        }
        guard subject.hasRun else { return }
        let start = subject.started.load(ordering: .relaxed)
        run.require(
            subject.addBegin.load(ordering: .relaxed) < start, "\(subject) runs before it is added (contract M3)")
        if subject.task.hasCompletion {
            run.require(
                subject.completed.load(ordering: .relaxed) > subject.ended.load(ordering: .relaxed),
                "\(subject) completes before its end (contract I1)")
        }
        if subject.kind == .held {
            let opening = subject.firstOpening.load(ordering: .relaxed)
            run.require(opening != 0 && opening < start, "\(subject) runs before its gate opens (contract F1)")
        }
    }

    private func judgeCancellation(_ subject: Subject) {
        let isCancelled = subject.operation?.isCancelled
        let finish = earliestFinish(subject)
        let start = subject.started.load(ordering: .relaxed)
        let first = firstCancel(subject)
        run.require(first != nil || isCancelled != true, "\(subject) is cancelled, and nobody did that (contract J8)")
        for call in subject.cancels.read() where subject.hasRun {
            if call.end < finish { run.require(isCancelled != false, "\(subject) forgets a cancel (contract J1)") }
            if call.end < start {
                run.require(
                    subject.foundCancelled.load(ordering: .relaxed),
                    "\(subject) runs after a cancel and does not see it (contract J13)")
            }
            run.require(call.end > earliestChoice(subject), "\(subject) runs although it was cancelled before (J5)")
        }
        if !subject.hasRun, !subject.hasEndedEarly, subject.task.hasCompletion, let first {
            run.require(
                first < subject.completed.load(ordering: .relaxed), "\(subject) is left out before its cancel (J5)")
        }
        for call in record(of: subject)?.cancelCalls ?? []
        where subject.addEnd.load(ordering: .relaxed) < call.begin && subject.hasRun && finish > call.end {
            run.require(isCancelled != false, "\(subject) escapes a cancel of all (contract J10)")
        }
    }

    private func judgeDependencies(_ subject: Subject) {
        let late = lateEdges.read().filter { $0.dependent == subject.index && $0.addEnd.load(ordering: .relaxed) != 0 }
        if let operation = subject.operation {
            let listed = Set(operation.dependencies.map(ObjectIdentifier.init))
            let expected = (subject.fixed + late).filter { $0.removeEnd.load(ordering: .relaxed) == 0 }
            // An operation keeps what it depends on (contract E21).
            let objects = Set(expected.compactMap { self.operation($0.dependency) }.map(ObjectIdentifier.init))
            run.require(
                listed == objects && listed.count == Set(expected.map(\.dependency)).count,
                "\(subject) lists \(listed.count) dependencies, not \(expected.count) (E11)")
        }
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

    /// No `start` is called on an operation that had finished before it can have been chosen.
    private func judgeLateStart(_ subject: Subject) {
        let start = subject.lateStart.load(ordering: .relaxed)
        guard start > 0 else { return }
        guard !subject.wasSurelyUnchosen.load(ordering: .relaxed) else {
            return run.violated("\(subject) is started, and had finished before it was chosen (C9)")
        }
        // A thread starts what it has chosen before it runs anything else. So it chose this one after it had run the
        // other. Another thread may have chosen it before the announcement, and call `start` at any time.
        let starter = subject.lateStarter.load(ordering: .relaxed)
        let announced = subject.announced.load(ordering: .relaxed)
        let other = subjects.first { other in
            let end = other.ended.load(ordering: .relaxed)
            return other.kind.isOnItsThread && other.endingThread.load(ordering: .relaxed) == starter
                && announced < end && end < start
        }
        if let other { run.violated("\(subject) is started, and had finished before \(other) ended (C9)") }
    }
}
