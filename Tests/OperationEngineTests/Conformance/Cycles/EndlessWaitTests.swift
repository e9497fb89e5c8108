import OperationEngine
import TestSupport
import Testing

/// A situation in which a thread may wait for an operation.
enum Situation: CaseIterable, Codable, Sendable {
    case inCycle, behindCycle, onItself, ownQueueBehind, dependsOnOwnQueueBehind
    case running, suspended, limitZero, notAdded, limitTwo, cancelledBehind, cycleBroken, ownReadiness, ownStart

    /// A word that the reason must contain; nil without a reason.
    var reason: String? {
        switch self {
        case .inCycle, .behindCycle: "cycle"
        case .onItself: "depends on itself"
        case .ownQueueBehind, .dependsOnOwnQueueBehind: "limit 1"
        default: nil
        }
    }
}

/// Ready when its dependencies say so; but who knows, with an override.
private final class OwnReadiness: Operation, @unchecked Sendable {
    override var isReady: Bool { super.isReady }
}

/// Asks, in a start of its own.
private final class OwnStart: Operation, @unchecked Sendable {
    private let body: @Sendable () -> Void
    private let finished = Guarded(false)

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
        super.init()
    }

    override var isFinished: Bool { finished.read() }

    override func start() {
        body()
        willChangeValue(forKey: "isFinished")
        finished.withLock { $0 = true }
        didChangeValue(forKey: "isFinished")
    }
}

@Suite("E15 O5: waits that can never end", .blocking)
struct EndlessWaitTests {
    @Test("what is certain, and nothing else, has a reason", .contract("E15", "O5"), arguments: Situation.allCases)
    func reasons(situation: Situation) {
        let found = Recorder<String?>()
        let target = MainOperation()
        target.name = "target"
        let look: @Sendable () -> Void = { found.append(EndlessWait.reason(forOperation: target)) }
        let others = (0..<2).map { _ in MainOperation() }
        let queue = makeQueue(limit: 1)
        switch situation {
        case .inCycle, .cycleBroken, .behindCycle, .ownReadiness:
            let behind = situation == .behindCycle ? MainOperation() : target
            let last = situation == .ownReadiness ? OwnReadiness() : MainOperation()
            if behind !== target {
                target.addDependency(behind)
                (target.name, behind.name) = (nil, "target")
            }
            let cycle = [behind, last] + others
            close(cycle)
            if situation == .cycleBroken { others[0].cancel() }
            queue.addOperations(others + (situation == .inCycle ? [target] : []), waitUntilFinished: false)
            look()
            reopen(cycle)
        case .onItself:
            let waiter = MainOperation { _ in look() }
            target.addDependency(others[0])
            others[0].addDependency(waiter)
            queue.addOperation(waiter)
        case .ownQueueBehind, .dependsOnOwnQueueBehind, .limitTwo, .cancelledBehind:
            if situation == .limitTwo { queue.maxConcurrentOperationCount = 2 }
            queue.isSuspended = true
            let waiter = MainOperation { _ in
                if situation == .cancelledBehind { target.cancel() }
                look()
            }
            queue.addOperation(waiter)
            if situation == .dependsOnOwnQueueBehind {
                target.addDependency(others[0])
                queue.addOperation(others[0])
            } else {
                queue.addOperation(target)
            }
            if situation == .limitTwo {
                // So that the target is there, and could be started, when the waiter looks.
                target.addDependency(others[1])
            }
            queue.isSuspended = false
        case .ownStart:
            queue.isSuspended = true
            queue.addOperation(OwnStart(look))
            queue.addOperation(target)
            queue.isSuspended = false
        case .running:
            let blocker = Blocker()
            target.addDependency(blocker.operation)
            blocker.occupy(queue)
            look()
            blocker.release.open()
        case .suspended, .limitZero:
            if situation == .suspended { queue.isSuspended = true } else { queue.maxConcurrentOperationCount = 0 }
            queue.addOperation(target)
            look()
            queue.isSuspended = false
            queue.maxConcurrentOperationCount = 1
        case .notAdded:
            target.addDependency(others[0])
            look()
        }
        eventually("somebody has looked") { !found.entries.isEmpty }
        let reason = found.entries[0]
        if let expected = situation.reason {
            #expect(reason?.contains(expected) == true && reason?.contains("'target'") == true, "\(reason ?? "none")")
        } else {
            #expect(reason == nil)
        }
        for operation in [target] + others {
            for dependency in operation.dependencies { operation.removeDependency(dependency) }
        }
        drains(queue)
    }

    @Test(
        "a wait for an operation is reported once and goes on, until somebody breaks the cycle", .contract("E15", "O5")
    )
    func waitForOperation() async {
        await #expect(processExitsWith: .success) {
            let (reports, reported) = (Recorder<Misuse>(), Gate("the wait is reported"))
            EndlessWait.patience = .zero
            Misuse.handler = {
                reports.append($0)
                reported.open()
            }
            let cycle = (0..<3).map { _ in MainOperation() }
            close(cycle)
            let queue = makeQueue()
            synchronously { queue.addOperations(cycle, waitUntilFinished: false) }
            let returned = Gate("the wait returns")
            onNewThread {
                cycle[0].waitUntilFinished()
                returned.open()
            }
            reported.wait()
            #expect(!returned.isOpen)
            cycle[1].cancel()
            returned.wait()
            synchronously { queue.waitUntilAllOperationsAreFinished() }
            guard case .waitNeverEnds(let reason)? = reports.entries.first else {
                Issue.record("no report")
                return
            }
            #expect(cycle.allSatisfy { reason.contains($0.description.split(separator: " ")[1]) })
            #expect(reports.entries.count == 1)
            reopen(cycle)
        }
    }

    @Test(
        "a wait for all operations of a queue that stands still because of a cycle elsewhere", .contract("E15", "O5"))
    func waitForQueue() async {
        await #expect(processExitsWith: .success) {
            let reported = Gate("the wait is reported")
            EndlessWait.patience = .zero
            Misuse.handler = { if case .waitNeverEnds = $0 { reported.open() } }
            let cycle = (0..<3).map { _ in MainOperation() }
            close(cycle)
            let waiting = MainOperation()
            waiting.addDependency(cycle[2])
            let queue = makeQueue()
            queue.addOperation(waiting)
            let elsewhere = makeQueue()
            synchronously { elsewhere.addOperations(cycle, waitUntilFinished: false) }
            onNewThread {
                reported.wait()
                cycle[0].cancel()
            }
            synchronously { queue.waitUntilAllOperationsAreFinished() }
            synchronously { elsewhere.waitUntilAllOperationsAreFinished() }
            #expect(reported.isOpen)
            reopen(cycle)
        }
    }

    @Test("an operation that waits for its own queue is reported", .contract("O5"))
    func ownQueue() async {
        await #expect(processExitsWith: .success) {
            let reported = Gate("the wait is reported")
            EndlessWait.patience = .zero
            Misuse.handler = {
                if case .waitNeverEnds(let reason) = $0, reason.contains("own queue") { reported.open() }
            }
            let queue = makeQueue()
            queue.addOperation { queue.waitUntilAllOperationsAreFinished() }
            #expect(reported.wait())
        }
    }

    @Test(
        "an operation that waits for a later one of its queue, with limit 1, goes on when the limit is raised",
        .contract("O5"))
    func ownLimit() async {
        await #expect(processExitsWith: .success) {
            let reported = Gate("the wait is reported")
            EndlessWait.patience = .zero
            Misuse.handler = { if case .waitNeverEnds = $0 { reported.open() } }
            let queue = makeQueue(limit: 1, suspended: true)
            let later = MainOperation()
            queue.addOperation { later.waitUntilFinished() }
            queue.addOperation(later)
            queue.isSuspended = false
            reported.wait()
            queue.maxConcurrentOperationCount = 2
            synchronously { queue.waitUntilAllOperationsAreFinished() }
            #expect(reported.isOpen && later.isFinished)
        }
    }

    @Test("the default handler prints the cycle and goes on", .contract("O5"))
    func defaultHandler() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let reported = Gate("the wait is reported")
            let byDefault = Misuse.handler
            Misuse.handler = {
                byDefault($0)
                reported.open()
            }
            EndlessWait.patience = .zero
            let cycle = (0..<2).map { _ in MainOperation() }
            cycle[0].name = "hen"
            cycle[1].name = "egg"
            close(cycle)
            let queue = makeQueue()
            synchronously { queue.addOperations(cycle, waitUntilFinished: false) }
            onNewThread {
                reported.wait()
                cycle[0].cancel()
            }
            synchronously { cycle[0].waitUntilFinished() }
            synchronously { queue.waitUntilAllOperationsAreFinished() }
            reopen(cycle)
        }
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(text.contains("'hen'") && text.contains("'egg'") && text.contains("never ends"))
    }

    @Test("a wait with a deadline is not looked at", .contract("O7"))
    func timed() async {
        await #expect(processExitsWith: .success) {
            let reports = Counter()
            EndlessWait.patience = .zero
            Misuse.handler = { _ in reports.add() }
            let cycle = (0..<2).map { _ in MainOperation() }
            close(cycle)
            #expect(!synchronously { cycle[0].waitUntilFinished(timeout: .milliseconds(5)) })
            #expect(reports.value == 0)
            reopen(cycle)
        }
    }
}
