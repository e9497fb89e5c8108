import OperationEngine

/// The reference model's view of a queue: its limit and its suspensions.
extension Program {
    func judgeQueue(_ place: Int, _ record: QueueRecord) {
        let all = subjects.filter { $0.queue.load(ordering: .relaxed) == place }
        let inOrder = all.filter(\.hasRun).sorted {
            $0.started.load(ordering: .relaxed) < $1.started.load(ordering: .relaxed)
        }
        let members = inOrder.filter { $0.kind != .barrier }
        judgeLimit(members, record)
        if record.plan.target == .serialQueue { judgeSerial(inOrder) }
        if record.plan.isOrderly { judgeOrder(members) }
        judgeSuspensions(members, record)
        for barrier in all where barrier.kind == .barrier { judgeBarrier(barrier, all, record) }
        if let queue = record.queue {
            run.readMetrics(ofEmpty: queue)
            run.require(queue.operationCount == 0, "an empty queue counts \(queue.operationCount) (contract M10)")
            run.require(queue.operations.isEmpty, "an empty queue lists \(queue.operations.count) (contract M9)")
        }
    }

    /// One after the other, in the order of adding.
    private func judgeOrder(_ members: [Subject]) {
        for (subject, next) in zip(members, members.dropFirst()) {
            run.require(
                subject.ended.load(ordering: .relaxed) < next.started.load(ordering: .relaxed)
                    && subject.addBegin.load(ordering: .relaxed) < next.addEnd.load(ordering: .relaxed),
                "\(next) begins before the end of \(subject), or before its turn (contract G5, N3)")
        }
    }

    /// At each start, those that run were all chosen under some limit that may have been in force since the last of
    /// them could be chosen.
    private func judgeLimit(_ members: [Subject], _ record: QueueRecord) {
        var running: [Subject] = []
        for subject in members {
            let now = subject.started.load(ordering: .relaxed)
            running.removeAll { $0.ended.load(ordering: .relaxed) < now }
            running.append(subject)
            guard running.count > 1 || record.plan.mayChangeLimit else { continue }
            let since = running.map { earliestChoice($0) }.max() ?? 0
            let limit = greatestLimit(record, since, now)
            run.require(
                running.count <= limit, "\(subject) is number \(running.count) at once, with a limit of \(limit) (N2)")
        }
    }

    /// A serial queue of Dispatch runs one main at a time; what has left it for a task or another thread goes on
    /// (contract P6).
    private func judgeSerial(_ members: [Subject]) {
        let onQueue = members.filter(\.kind.isOnItsThread)
        for (subject, next) in zip(onQueue, onQueue.dropFirst()) {
            run.require(
                subject.ended.load(ordering: .relaxed) < next.started.load(ordering: .relaxed),
                "\(next) runs beside \(subject) on a serial queue (P6)")
        }
    }

    /// The greatest limit that may have been in force at an instant of a period.
    private func greatestLimit(_ record: QueueRecord, _ begin: UInt64, _ end: UInt64) -> Int {
        let calls = record.calls.filter { if case .limit = $0.setting { true } else { false } }
        var greatest = 0
        for call in calls where call.span.begin <= end {
            // Replaced for certain before the period.
            if calls.contains(where: { $0.span.begin > call.span.end && $0.span.end < begin }) { continue }
            guard case .limit(let limit) = call.setting else { continue }
            greatest = max(greatest, limit < 0 ? .max : limit)
        }
        return greatest
    }

    /// From a suspension until the next resumption, only what was chosen before starts: at most one for each slot.
    private func judgeSuspensions(_ members: [Subject], _ record: QueueRecord) {
        for period in suspensions(of: record) {
            let before = members.filter {
                $0.started.load(ordering: .relaxed) < period.begin && $0.ended.load(ordering: .relaxed) > period.begin
            }
            let during = members.filter {
                period.begin < $0.started.load(ordering: .relaxed) && $0.started.load(ordering: .relaxed) < period.end
            }
            for subject in during where earliestChoice(subject) > period.begin {
                run.violated("\(subject) starts in a suspended queue, and cannot have been chosen before (N9)")
            }
            let limit = greatestLimit(record, 0, period.begin)
            run.require(
                before.count + during.count <= limit,
                "\(during.count) start in a suspended queue beside \(before.count), with a limit of \(limit) (N12)")
        }
    }

    /// Everything before a barrier is finished when it begins, everything after begins when it has ended, and nothing
    /// runs beside it (contract P7). One that was cancelled does not run (P11).
    private func judgeBarrier(_ barrier: Subject, _ members: [Subject], _ record: QueueRecord) {
        let addBegin = barrier.addBegin.load(ordering: .relaxed)
        guard barrier.hasRun else {
            _ = run.require(
                record.cancelCalls.contains { $0.end > addBegin }, "\(barrier) never ran (contract P7)")
            return
        }
        let (start, end) = (barrier.started.load(ordering: .relaxed), barrier.ended.load(ordering: .relaxed))
        for period in suspensions(of: record) where addBegin > period.begin {
            run.require(start < period.begin || start > period.end, "\(barrier) starts in a suspended queue (P8)")
        }
        for subject in members where subject !== barrier {
            if subject.kind.isObject, subject.addEnd.load(ordering: .relaxed) < addBegin {
                run.require(earliestFinish(subject) < start, "\(barrier) begins before the end of \(subject) (P7)")
            }
            guard subject.hasRun else { continue }
            let (began, ended) = (subject.started.load(ordering: .relaxed), subject.ended.load(ordering: .relaxed))
            if subject.addEnd.load(ordering: .relaxed) < addBegin {
                run.require(ended < start, "\(barrier) begins before the end of \(subject) (P7)")
            }
            if subject.addBegin.load(ordering: .relaxed) > barrier.addEnd.load(ordering: .relaxed) {
                run.require(began > end, "\(subject) begins before the end of \(barrier) (P7)")
            }
            run.require(ended < start || began > end, "\(subject) runs beside \(barrier) (P7)")
        }
    }

    /// The periods in which the queue was suspended for certain.
    private func suspensions(of record: QueueRecord) -> [History.Span] {
        let calls = record.calls
        let resumptions = calls.filter { if case .suspended(false) = $0.setting { true } else { false } }
        return calls.compactMap { call in
            guard case .suspended(true) = call.setting else { return nil }
            let ends = resumptions.filter { $0.span.end > call.span.begin }.map(\.span.begin)
            let end = ends.min() ?? .max
            return end > call.span.end ? History.Span(begin: call.span.end, end: end) : nil
        }
    }

    // MARK: Cycles

    /// The operations that a cycle holds back: those for which all says so, and those that it may.
    func behindCycle() -> (certainly: Set<Int>, possibly: Set<Int>) {
        func isCancelled(_ index: Int) -> Bool { operation(index)?.isCancelled ?? true }
        guard !isCancelled(plan.cycle[0]) else { return ([], []) }
        let late = lateEdges.read().filter {
            $0.addEnd.load(ordering: .relaxed) != 0 && $0.removeEnd.load(ordering: .relaxed) == 0
        }
        let fixed = subjects.flatMap { $0.fixed.filter { $0.removeEnd.load(ordering: .relaxed) == 0 } }
        let possibly = reached(by: fixed + late)
        guard !plan.cycle.contains(where: isCancelled) else { return ([], possibly) }
        // Over operations that nobody has cancelled.
        let certainly = reached(by: fixed.filter { !isCancelled($0.dependent) })
        return (certainly.filter { !isCancelled($0) }, possibly)
    }

    private func reached(by edges: [Edge]) -> Set<Int> {
        var reached = Set(plan.cycle)
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for edge in edges where reached.contains(edge.dependency) && !reached.contains(edge.dependent) {
                reached.insert(edge.dependent)
                isGrowing = true
            }
        }
        return reached
    }
}
