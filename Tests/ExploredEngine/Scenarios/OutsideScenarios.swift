import Interleaving

/// Events outside of the queues' runners: starts that continue elsewhere, and operations in no queue that are asked
/// whether they are ready.
let outsideScenarios: [Scenario] = [
    Scenario("start-goes-on-elsewhere", "B9, C6, J13: it gives its slot back once, and runs unless cancelled") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        let operation = GoesOnElsewhere { log.add("main") }
        operation.completionBlock = { log.add("completion") }
        exploration.run(
            {
                queue.addOperation(operation)
                queue.addOperation { log.add("next") }
            },
            { operation.goOn() },
            { operation.cancel() })
        exploration.settle()
        exploration.check(operation.isFinished, "B9: not finished")
        exploration.check(log.count("main") == 1 || operation.isCancelled, "J13: neither run nor cancelled")
        exploration.check(log.count("main") <= 1, "A5: main has run twice")
        exploration.checkOnce(log, "completion", "I1")
        exploration.checkOnce(log, "next", "C6")
        exploration.checkEmpty(queue, "C6")
    },
    Scenario("start-goes-on-elsewhere-twice", "B5, B9: of two starts elsewhere one runs main") { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        Misuse.handler = { if $0 != .startExecuting { log.add("stray") } }
        let operation = GoesOnElsewhere { log.add("main") }
        exploration.run({ queue.addOperation(operation) }, { operation.goOn() }, { operation.goOn() })
        exploration.settle()
        exploration.checkOnce(log, "main", "B5")
        exploration.check(log.count("stray") == 0, "B9: another misuse")
        exploration.checkEmpty(queue, "C6")
    },
    Scenario("start-by-hand-while-queued", "B9: by hand it is a misuse, and without effect") { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        Misuse.handler = { _ in }
        // The thread that starts it by hand has no runner.
        let operation = BlockOperation { log.add(Runner.current == nil ? "main by hand" : "main") }
        // With a policy it is chosen in one step and begins in another.
        operation.dependencyFailurePolicy = .skip
        queue.isSuspended = true
        queue.addOperation(operation)
        exploration.run({ queue.isSuspended = false }, { operation.start() })
        exploration.settle()
        exploration.checkOnce(log, "main", "B9")
        exploration.checkEmpty(queue, "B9")
    },
    Scenario(
        "end-announced-as-start-goes-on-elsewhere",
        "Q3, P12: the queue goes when the operation has ended, and is not touched after that"
    ) { exploration in
        exploration.warmUp()
        Misuse.handler = { _ in }
        let log = Log()
        let queue = Shared<OperationQueue?>(OperationQueue())
        weak let core = queue.value?.core
        _ = queue.value?.endOfMainListener { Listener { log.add("told") } }
        let operation = EndsItself { log.add("main") }
        queue.value?.addOperation(operation)
        exploration.settle()
        queue.value = nil
        exploration.run({ operation.goOn() }, { operation.end() })
        exploration.settle()
        exploration.check(operation.state.load().isFinished, "C2: not finished")
        exploration.check(log.count("told") <= log.count("main"), "P12: counted without a main")
        exploration.check(core == nil, "Q3: the queue is still there")
    },
    Scenario("receiver-removed-during-a-call", "X4: a removed receiver is released, and not before its calls end") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let receivers = (0..<2).map { _ in Shared<Receiver?>(Receiver { log.add("gone") }) }
        OperationTrace.install(receivers[0].value!)
        let call: @Sendable () -> Void = {
            OperationTrace.forEachReceiver(of: .changes) { receiver in
                exploration.point()
                (receiver as! Receiver).use()
            }
        }
        exploration.run(
            call, call,
            {
                OperationTrace.install(receivers[1].value!)
                for receiver in receivers {
                    OperationTrace.remove(receiver.value!)
                    receiver.value = nil
                }
            })
        exploration.settle()
        exploration.check(log.count("gone") == 2, "X4: \(log.count("gone")) of 2 removed receivers are released")
    },
    Scenario("asked-as-two-dependencies-finish", "F8: asked after the last end, in no queue, it starts itself once") {
        exploration in
        let log = Log()
        let dependencies = [BlockOperation {}, BlockOperation {}]
        let operation = StartsItself { log.add("main") }
        for dependency in dependencies { operation.addDependency(dependency) }
        exploration.run(
            { dependencies[0].start() }, { dependencies[1].start() },
            { operation.didChangeValue(forKey: "isReady") })
        exploration.checkOnce(log, "main", "F8")
        exploration.check(operation.isFinished, "F8: not finished")
    },
    Scenario("asked-as-it-goes", "F8, E21: one that is on its way to its deinit is not asked") { exploration in
        let log = Log()
        let dependency = BlockOperation {}
        let operation = Shared<StartsItself?>(StartsItself { log.add("main") })
        weak let remains = operation.value
        operation.value?.addDependency(dependency)
        exploration.run(
            { dependency.start() },
            {
                exploration.point()
                operation.value = nil
            })
        exploration.check(remains == nil, "E21: still there")
        exploration.check(log.count("main") <= 1, "A5: main has run twice")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario("asked-as-it-is-added", "F8, F3: it starts, by itself or by the queue") { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        Misuse.handler = { _ in }
        let dependency = BlockOperation {}
        let operation = StartsItself { log.add("main") }
        operation.addDependency(dependency)
        exploration.run({ dependency.start() }, { queue.addOperation(operation) })
        exploration.settle()
        exploration.checkOnce(log, "main", "F8")
        exploration.checkEmpty(queue, "F8")
    },
]

/// Its own `start` says that it has been called; the inherited one is called elsewhere.
private class GoesOnElsewhere: Operation, @unchecked Sendable {
    private let started = Gate()
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override func start() { started.open() }
    override func main() { body() }

    func goOn() {
        started.wait()
        super.start()
    }
}

/// Keeps `isFinished` itself besides.
private final class EndsItself: GoesOnElsewhere, @unchecked Sendable {
    private let hasEnded = Atomic<Bool>(false)

    override var isFinished: Bool { hasEnded.load(ordering: .acquiring) || super.isFinished }

    func end() {
        willChangeValue(forKey: "isFinished")
        hasEnded.store(true, ordering: .releasing)
        didChangeValue(forKey: "isFinished")
    }
}

/// Starts itself when it is asked and finds itself ready.
private final class StartsItself: Operation, @unchecked Sendable {
    private let hasBegun = Atomic<Bool>(false)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override var isReady: Bool {
        guard super.isReady else { return false }
        if !hasBegun.exchange(true, ordering: .acquiringAndReleasing) { start() }
        return true
    }

    override func main() { body() }
}

private final class Receiver: OperationTrace.Receiver {
    private let calls = Atomic<Int>(0)
    private let atEnd: @Sendable () -> Void

    init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
    deinit { atEnd() }

    /// Fails if the receiver is gone.
    func use() { calls.wrappingAdd(1, ordering: .relaxed) }
}

private final class Listener: EndOfMainListener {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func mainHasEnded() { body() }
}
