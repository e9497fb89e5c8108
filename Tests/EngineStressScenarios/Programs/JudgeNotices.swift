import OperationEngine

/// The reference model's view of what observers heard.
extension Program {
    func judgeNotices(_ subject: Subject) {
        for watch in subject.watches.read() {
            let changes = watch.notices.filter { !$0.isPrior }
            switch watch.key {
            case .isFinished: judgeFinished(subject, watch, changes)
            case .isExecuting: judgeExecuting(subject, watch, changes)
            case .isCancelled: judgeCancelled(subject, watch, changes)
            case .isReady: judgeReady(subject, watch, changes)
            }
            if watch.isEnded, watch.key == .isFinished, subject.hasRun, earliestFinish(subject) > watch.ending.end {
                run.require(
                    watch.notices.isEmpty,
                    "\(subject): an observer hears of a finish that began after it had left (contract D19)")
            }
        }
        judgeNesting(subject)
    }

    /// Whether the observer was there all the time that mattered.
    private func stayed(_ watch: Watch, _ subject: Subject) -> Bool {
        !watch.isEnded || subject.task.hasCompletion && watch.ending.begin > subject.completed.load(ordering: .relaxed)
    }

    private func judgeFinished(_ subject: Subject, _ watch: Watch, _ changes: [Watch.Notice]) {
        // What a class announces is passed on, also before main has returned and after the end (contract D22).
        let most = subject.kind.isOwnEnd ? 2 : 1
        run.require(changes.count <= most, "\(subject): isFinished changes \(changes.count) times (contract D6)")
        for change in changes where !subject.kind.isOwnEnd && !subject.kind.mayEndEarly {
            run.require(
                change.new == true && change.isFinished && !change.isExecuting,
                "\(subject): isFinished is announced as \(change) (contract D8)")
        }
        let wasInTime = watch.isFromBirth || subject.hasRun && watch.registered < earliestFinish(subject)
        if wasInTime, stayed(watch, subject) {
            run.require(!changes.isEmpty, "\(subject): the end is not announced (contract D18)")
        }
    }

    private func judgeExecuting(_ subject: Subject, _ watch: Watch, _ changes: [Watch.Notice]) {
        let values = changes.map { $0.new ?? false }
        // The engine's `start` may find that it has ended.
        guard !subject.kind.mayEndEarly else { return }
        guard subject.hasRun else {
            _ = run.require(values.isEmpty, "\(subject) never ran, but isExecuting was announced: \(values) (D13)")
            return
        }
        let legal = [[], [true], [false], [true, false]]
        run.require(legal.contains(values), "\(subject): isExecuting is announced as \(values) (contract D6)")
        if watch.isFromBirth, stayed(watch, subject) {
            run.require(values == [true, false], "\(subject): isExecuting is announced as \(values) (contract D6)")
        }
        if changes.count == 2 {
            run.require(
                changes[1].time > subject.ended.load(ordering: .relaxed) && changes[1].isFinished,
                "\(subject): the end of executing is announced before the end (contract D7)")
        }
    }

    private func judgeCancelled(_ subject: Subject, _ watch: Watch, _ changes: [Watch.Notice]) {
        let isCancelled = subject.operation?.isCancelled
        run.require(
            changes.count <= (isCancelled == false ? 0 : 1),
            "\(subject): isCancelled is announced \(changes.count) times (D12)")
        run.require(changes.allSatisfy { $0.new == true }, "\(subject): isCancelled is announced as \(changes) (D10)")
        if watch.isFromBirth, !watch.isEnded, isCancelled == true {
            run.require(changes.count == 1, "\(subject): a cancel is announced \(changes.count) times (contract D10)")
        }
    }

    /// Exactly known where readiness can only come: no dependency was added or removed late.
    private func judgeReady(_ subject: Subject, _ watch: Watch, _ changes: [Watch.Notice]) {
        let isDisturbed =
            subject.kind == .held || subject.kind.mayEndEarly
            || subject.fixed.contains { $0.removeBegin.load(ordering: .relaxed) != 0 }
            || lateEdges.read().contains { $0.dependent == subject.index }
        guard watch.isFromBirth, !isDisturbed else { return }
        // Observed before the first dependency was added: that made it unready, once.
        let values = changes.map { $0.new ?? false }
        let expected = subject.fixed.isEmpty ? [] : [false, true]
        guard !watch.isEnded else {
            _ = run.require(
                expected.starts(with: values), "\(subject): isReady is announced as \(values), not \(expected) (D15)")
            return
        }
        run.require(
            values == expected, "\(subject): isReady is announced as \(values), not \(expected) (contract D14, D15)")
    }

    /// A run's whole sequence, before and after each change (contract D7).
    private func judgeNesting(_ subject: Subject) {
        let watches = subject.watches.read().filter { $0.isFromBirth }
        guard subject.hasRun, !subject.kind.isOwnEnd, !subject.kind.mayEndEarly,
            let executing = watches.first(where: { $0.key == .isExecuting }),
            let finished = watches.first(where: { $0.key == .isFinished }),
            !executing.isEnded, !finished.isEnded
        else { return }
        let all =
            executing.notices.map { ($0.time, $0.isPrior ? "willExecute" : "didExecute") }
            + finished.notices.map { ($0.time, $0.isPrior ? "willFinish" : "didFinish") }
        let told = all.sorted { $0.0 < $1.0 }.map(\.1)
        let expected = ["willExecute", "didExecute", "willFinish", "willExecute", "didExecute", "didFinish"]
        run.require(told == expected, "\(subject): \(told), not \(expected) (contract D7)")
    }
}
