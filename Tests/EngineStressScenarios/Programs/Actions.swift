import Glibc
import OperationEngine
import TestSupport

/// The actions of the storm and of operations on others, with their times recorded.
extension Program {
    func cancel(_ subject: Subject) {
        let span = history.span { operation(subject.index).cancel() }
        subject.cancels.withLock { $0.append(span) }
    }

    func open(_ subject: Subject) {
        let begin = history.markCall()
        _ = subject.firstOpening.compareExchange(expected: 0, desired: begin, ordering: .relaxed)
        setGate(of: subject, isOpen: true)
    }

    func close(_ subject: Subject) { setGate(of: subject, isOpen: false) }

    private func setGate(of subject: Subject, isOpen: Bool) {
        operation(subject.index).willChangeValue(forKey: "isReady")
        subject.isOpen.store(isOpen, ordering: .releasing)
        operation(subject.index).didChangeValue(forKey: "isReady")
    }

    /// Adds a dependency late. If the operation is unready afterwards it had not begun when the dependency came, so
    /// that one holds (contract E18). One with a readiness of its own may be unready for another reason.
    func addLate(_ edge: Edge) {
        let subject = subjects[edge.dependent]
        let dependent = operation(edge.dependent)
        dependent.addDependency(operation(edge.dependency))
        edge.addEnd.store(history.markCall(), ordering: .relaxed)
        if !subject.isHeld, !dependent.isReady {
            edge.wasSeenHolding.store(true, ordering: .relaxed)
            subject.holding.withLock { $0.append(edge) }
        }
    }

    func remove(_ edge: Edge) {
        edge.removeBegin.store(history.markCall(), ordering: .releasing)
        operation(edge.dependent).removeDependency(operation(edge.dependency))
        edge.removeEnd.store(history.markCall(), ordering: .relaxed)
    }

    func waitShortly(_ subject: Subject) {
        if operation(subject.index).waitUntilFinished(timeout: .microseconds(30)) {
            run.require(operation(subject.index).hasEnded, "a timed wait for \(subject) lies (contract O7)")
        }
    }

    /// One step of an operation's main.
    func take(_ step: Plan.Step, in subject: Subject) {
        switch step {
        case .work(let turns):
            for _ in 0..<turns { _ = operation(subject.index).isCancelled }
        case .nap(let microseconds):
            usleep(microseconds)
        case .wait(let other):
            operation(other).waitUntilFinished()
            run.require(
                operation(other).hasEnded, "a wait inside \(subject) for \(subjects[other]) returns early (O1)")
        case .waitShortly(let other):
            waitShortly(subjects[other])
        case .cancel(let other):
            cancel(subjects[other])
            run.require(
                operation(other).isCancelled || operation(other).hasEnded, "\(subjects[other]) is not cancelled (J1)")
        case .raise(let other):
            operation(other).queuePriority = .veryHigh
        case .holdUpOwnQueue:
            guard let record = queue(of: subject) else { return }
            record.set(.suspended(true), history)
            record.set(.suspended(false), history)
        }
    }

    private func queue(of subject: Subject) -> QueueRecord? {
        let place = subject.queue.load(ordering: .relaxed)
        return place < 0 ? nil : queues[place]
    }

    /// Lists a queue, and checks the list against what is certain (contract M9, M10, M11).
    func list(_ place: Int, _ random: inout SeededGenerator) {
        guard let queue = queues[place].queue else { return }
        let probe = subjects[Int.random(in: 0..<subjects.count, using: &random)]
        let isIn = probe.addEnd.load(ordering: .acquiring) != 0 && probe.queue.load(ordering: .relaxed) == place
        let wasFinished = operation(probe.index).hasEnded
        run.readMetrics(of: queue)
        let listed = queue.operations
        let count = queue.operationCount
        let isListed = listed.contains { $0 === operation(probe.index) }
        // One that keeps its own state says so a moment before the engine hears of it (contract C2).
        if wasFinished, !probe.isAsynchronous {
            run.require(!isListed, "\(probe) is finished and listed (contract M9)")
        }
        if isIn, !operation(probe.index).hasEnded {
            run.require(isListed, "\(probe) is unfinished and not listed (contract M9)")
            run.require(count > 0, "a queue counts 0 and \(probe) is in it (contract M10)")
        }
    }
}
