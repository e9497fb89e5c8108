import Glibc
import OperationEngine
import TestSupport

/// The actions of the storm, of operations on others, and of deinits, with their times recorded.
extension Program {
    /// False if that is not to be. One that ends once it is cancelled must be in its queue by then.
    @discardableResult
    func cancel(_ subject: Subject) -> Bool {
        guard let operation = subject.operation, subject.isAdded || subject.kind != .ownEnd(.whenCancelled) else {
            return false
        }
        let span = history.span { operation.cancel() }
        subject.cancels.withLock { $0.append(span) }
        return true
    }

    func open(_ subject: Subject) {
        let begin = history.markCall()
        _ = subject.firstOpening.compareExchange(expected: 0, desired: begin, ordering: .relaxed)
        setGate(of: subject, isOpen: true)
    }

    func close(_ subject: Subject) { setGate(of: subject, isOpen: false) }

    private func setGate(of subject: Subject, isOpen: Bool) {
        guard let operation = subject.operation else { return }
        operation.willChangeValue(forKey: "isReady")
        subject.isOpen.store(isOpen, ordering: .releasing)
        operation.didChangeValue(forKey: "isReady")
    }

    /// Adds a dependency late. If the operation is unready afterwards it had not begun when the dependency came, so
    /// that one holds (contract E18). One with a readiness of its own may be unready for another reason.
    func addLate(_ edge: Edge) {
        let subject = subjects[edge.dependent]
        guard let dependent = subject.operation, let dependency = operation(edge.dependency) else { return }
        dependent.addDependency(dependency)
        edge.addEnd.store(history.markCall(), ordering: .relaxed)
        if subject.kind != .held, !dependent.isReady {
            edge.wasSeenHolding.store(true, ordering: .relaxed)
            subject.holding.withLock { $0.append(edge) }
        }
    }

    func remove(_ edge: Edge) {
        guard let dependent = operation(edge.dependent), let dependency = operation(edge.dependency) else { return }
        edge.removeBegin.store(history.markCall(), ordering: .releasing)
        dependent.removeDependency(dependency)
        edge.removeEnd.store(history.markCall(), ordering: .relaxed)
    }

    func waitShortly(_ subject: Subject) {
        guard let operation = subject.operation, operation.waitUntilFinished(timeout: .microseconds(30)) else { return }
        run.require(operation.hasEnded, "a timed wait for \(subject) lies (contract O7)")
    }

    func raise(_ subject: Subject, to priority: Operation.QueuePriority) {
        if !plan.queues[subject.task.queue].isOrderly { subject.operation?.queuePriority = priority }
    }

    /// One step of an operation's main.
    func take(_ step: Plan.Step, in subject: Subject) {
        switch step {
        case .work(let turns): for _ in 0..<turns { _ = subject.operation?.isCancelled }
        case .nap(let microseconds): usleep(microseconds)
        case .wait(let wait):
            // Where observers hold up adding threads, only for what they have added.
            let mayCome = plan.queues[subject.task.queue].listener != .locking
            if mayCome || subjects[wait.target].isAdded { self.wait(wait, of: subject, "main") }
        case .waitShortly(let other): waitShortly(subjects[other])
        case .cancel(let other):
            guard let operation = operation(other), cancel(subjects[other]) else { return }
            run.require(operation.isCancelled || operation.hasEnded, "\(subjects[other]) is not cancelled (J1)")
        case .raise(let other): raise(subjects[other], to: .veryHigh)
        case .holdUpOwnQueue:
            let place = subject.queue.load(ordering: .relaxed)
            guard place >= 0 else { return }
            queues[place].set(.suspended(true), history)
            queues[place].set(.suspended(false), history)
        }
    }

    private func wait(_ wait: Plan.Wait, of subject: Subject, _ place: String) {
        let other = subjects[wait.target]
        guard let operation = other.operation else { return }
        if HastyThread.isCurrent {
            operation.waitUntilFinished(timeout: .microseconds(30))
        } else if wait.isUnlimited {
            operation.waitUntilFinished()
            run.require(operation.hasEnded, "a wait of \(subject) for \(other) returns early (contract O1)")
        } else {
            run.require(
                operation.waitUntilFinished(timeout: limit),
                "\(subject) waits in its \(place) for \(other) in vain (O1, Q1): \(stateOfAffairs)")
        }
    }

    // MARK: Deinits

    /// Looks at the queue that the engine says is the current one, which must be alive (contract P2, Q3), and drops the
    /// subject's own if the plan says so.
    func isAt(_ point: Plan.Drop, of subject: Subject) {
        if let queue = OperationQueue.current { run.require(queue.operationCount >= 0, "\(queue) counts wrong (M10)") }
        let place = subject.queue.load(ordering: .relaxed)
        if subject.task.drop == point, place >= 0 { queues[place].drop(history) }
    }

    /// The deinit of an operation, or of what its block has captured.
    func lastWords(of subject: Subject) {
        isAt(.inDeinit, of: subject)
        if let other = subject.task.lastEnd.map({ subjects[$0] }), other.isAdded,
            let operation = other.operation as? any EndableEarly
        {
            // At limit 1 with the slot in the hands of this one nobody can have chosen the other.
            let isFirst = isSurelyUnchosen(other, by: subject)
            if operation.endEarly(), isFirst { other.wasSurelyUnchosen.store(true, ordering: .relaxed) }
        }
        if let wait = subject.task.lastWait, subjects[wait.target].isAdded { self.wait(wait, of: subject, "deinit") }
    }

    /// Whether a worker of their queue releases the operation right after its end, and holds its only slot.
    private func isSurelyUnchosen(_ other: Subject, by subject: Subject) -> Bool {
        let queue = plan.queues[subject.task.queue]
        let isHeldByOthers = plan.tasks.contains { task in
            task.dependencies.contains { $0.on == subject.index } || task.lastWait?.target == subject.index
                || task.steps.contains { if case .wait(let wait) = $0 { wait.target == subject.index } else { false } }
        }
        let place = subject.queue.load(ordering: .relaxed)
        return queue.limit == 1 && !queue.mayChangeLimit && queue.listener == .none && !isHeldByOthers
            && !subject.task.hasCompletion && subject.hasRun && !HastyThread.isCurrent && place >= 0
            && OperationQueue.current === queues[place].queue
    }

    // MARK: Listings

    /// Lists a queue, and checks the list against what is certain (contract M9, M10, M11).
    @discardableResult
    func list(_ place: Int, _ probe: Subject) -> [Operation] {
        let record = queues[place]
        guard let queue = record.queue else { return [] }
        let isIn = probe.kind.isObject && probe.isAdded && probe.queue.load(ordering: .relaxed) == place
        let wasOver = probe.isOver
        run.readMetrics(of: queue)
        let closures = subjects.filter { $0.kind == .closure && $0.queue.load(ordering: .relaxed) == place }
        let begun = closures.count(where: \.hasRun)
        let listed = queue.operations
        let count = queue.operationCount
        let added = subjects.filter { $0.queue.load(ordering: .relaxed) == place && $0.kind != .barrier }.filter {
            $0.addBegin.load(ordering: .acquiring) != 0
        }
        run.require(
            Set(listed.map(ObjectIdentifier.init)).count == listed.count, "\(queue) lists an operation twice (M9)")
        run.require(
            0 <= count && count <= Self.mostCounted(added.count),
            "\(queue) counts \(count) of \(added.count) added (M10)")
        judgeProbe(probe, isIn: isIn, wasOver: wasOver, listed, count)
        let subjects = listed.map { operation in added.first { $0.operation === operation } }
        judgeListed(subjects.compactMap(\.self), in: queue)
        // At most as many have begun and not left the queue as run at once.
        let gone = record.plan.constantLimit.map { max(0, begun - $0) } ?? 0
        let known = added.count { $0.kind == .closure } - gone
        run.require(
            subjects.count { $0 == nil } <= known, "\(queue) lists \(listed.count), of which \(known) are closures (M9)"
        )
        return listed
    }

    private func judgeProbe(_ probe: Subject, isIn: Bool, wasOver: Bool, _ listed: [Operation], _ count: Int) {
        guard let operation = probe.operation else { return }
        let isListed = listed.contains { $0 === operation }
        // One that keeps its own state says so a moment before the engine hears of it (contract C2).
        if wasOver, !probe.kind.keepsItsEnd { run.require(!isListed, "\(probe) is finished and listed (contract M9)") }
        if isIn, !probe.isOver {
            run.require(isListed, "\(probe) is unfinished and not listed (contract M9)")
            run.require(count > 0, "a queue counts 0 and \(probe) is in it (contract M10)")
        }
    }

    /// In the order of adding.
    private func judgeListed(_ listed: [Subject], in queue: OperationQueue) {
        for (subject, next) in zip(listed, listed.dropFirst()) {
            let end = next.addEnd.load(ordering: .acquiring)
            run.require(
                end == 0 || end > subject.addBegin.load(ordering: .relaxed),
                "\(queue) lists \(next) behind \(subject) (contract M9)")
        }
    }

    /// `operationCount` may trail, and is never too few: it may count what becomes an object at this moment, or is
    /// counted out, again (contract M11).
    static func mostCounted(_ added: Int) -> Int { 3 * added }
}
