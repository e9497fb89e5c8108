import OperationEngine

/// The reference model: what the contract says about a mixture that has come to its end.
extension Mixture {
    func judge() {
        for item in items {
            judgeRuns(item)
            judgeLateStart(item)
        }
        for record in queues { judge(record) }
    }

    private func judgeRuns(_ item: MixtureItem) {
        let runs = item.runs.load(ordering: .relaxed)
        let isEndedEarly = item.isEndedEarly.load(ordering: .relaxed)
        let cancels = item.cancels.load(ordering: .relaxed) + queues[item.part.queue].cancels.load(ordering: .relaxed)
        run.require(runs == (isEndedEarly ? 0 : 1) || runs == 0 && cancels > 0, "\(item) ran \(runs) times (E24)")
        if item.part.kind.isObject {
            let completions = item.completions.load(ordering: .relaxed)
            run.require(
                completions == (item.part.hasCompletion ? 1 : 0), "\(item) completed \(completions) times (contract I1)"
            )
        }
        if item.part.isWatched {
            // Where the engine's own end comes between, what the class announces is announced too (contract D22).
            let most = item.part.kind.earlyEnd?.isUnderInheritedStart == true ? 2 : 1
            let heard = item.finishesHeard.load(ordering: .relaxed)
            run.require(1...most ~= heard, "\(item): the end is announced \(heard) times (contract D6, C11)")
        }
    }

    /// No `start` is called on an operation that had finished before it can have been chosen.
    private func judgeLateStart(_ item: MixtureItem) {
        let start = item.lateStart.load(ordering: .relaxed)
        guard start > 0 else { return }
        let isUnchosen = item.wasSurelyUnchosen.load(ordering: .relaxed)
        run.require(!isUnchosen, "\(item) is started, and had finished before it was chosen (C9)")
        guard !isUnchosen else { return }
        // A thread starts what it has chosen before it runs anything else. So it chose this one after it had run the
        // other. Another thread may have chosen it before the announcement, and call `start` at any time.
        let (announced, starter) = (item.announced.load(ordering: .relaxed), item.lateStarter.load(ordering: .relaxed))
        let other = items.first { other in
            let end = other.ended.load(ordering: .relaxed)
            return other.runningThread.load(ordering: .relaxed) == starter && announced < end && end < start
        }
        if let other { run.violated("\(item) is started, and had finished before \(other) ended (C9)") }
    }

    // MARK: Queues

    private func judge(_ record: MixtureQueue) {
        let (queue, peak) = (record.queue, record.level.peak)
        run.readMetrics(ofEmpty: queue)
        run.require(queue.operationCount == 0, "an empty \(queue) counts \(queue.operationCount) (contract M10)")
        run.require(queue.operations.isEmpty, "an empty \(queue) lists \(queue.operations) (contract M9)")
        if let limit = record.greatestLimit {
            run.require(peak <= limit, "\(peak) run at once in \(queue) with limit \(limit) (contract N2, P6)")
        }
        let members = items.filter { $0.part.queue == record.plan.rank && $0.hasRun && !$0.part.kind.isByHand }
        if record.plan.isOrderly { judgeOrder(members) }
        for barrier in members where barrier.part.kind.isBarrier { judgeBarrier(barrier, members) }
    }

    private func judgeOrder(_ members: [MixtureItem]) {
        for (item, next) in zip(members, members.dropFirst()) {
            run.require(
                item.ended.load(ordering: .relaxed) < next.started.load(ordering: .relaxed),
                "\(next) begins before the end of \(item), in the order of adding (contract G5, N3)")
        }
    }

    /// There is one adding thread, so the order of adding is that of the plan.
    private func judgeBarrier(_ barrier: MixtureItem, _ members: [MixtureItem]) {
        let (start, end) = (barrier.started.load(ordering: .relaxed), barrier.ended.load(ordering: .relaxed))
        for item in members where item !== barrier {
            if item.index < barrier.index {
                run.require(item.ended.load(ordering: .relaxed) < start, "\(barrier) begins before \(item) ends (P7)")
            } else {
                run.require(item.started.load(ordering: .relaxed) > end, "\(item) begins before \(barrier) ends (P7)")
            }
        }
    }

    // MARK: A mixture that hangs

    /// The model's state, in words.
    var stateOfAffairs: String {
        let unfinished = items.filter(isUnfinished)
        let lines = unfinished.prefix(12).map { "  \($0): \(state(of: $0))" }
        let settings = queues.map { record in
            "  \(record.queue), limit \(record.queue.maxConcurrentOperationCount), \(record.plan.target), "
                + "\(record.plan.listener), \(record.added.load(ordering: .relaxed)) added, \(record.level.now) running"
        }
        return """
            \(items.count - unfinished.count) of \(items.count) parts have come to their end
            \(settings.joined(separator: "\n"))
            \(lines.joined(separator: "\n"))
            """
    }

    private func isUnfinished(_ item: MixtureItem) -> Bool {
        if let operation = item.operation { return !operation.hasEnded }
        return !item.part.kind.isObject && item.ended.load(ordering: .relaxed) == 0
    }

    private func state(of item: MixtureItem) -> String {
        guard item.isAdded else { return "not added" }
        if item.hasRun, item.ended.load(ordering: .relaxed) == 0 { return "inside main" }
        let dependencies = item.part.dependencies.filter { items[$0].operation?.hasEnded == false }
        return "\(item.operation?.description ?? "no object"), waits for \(dependencies)"
    }
}
