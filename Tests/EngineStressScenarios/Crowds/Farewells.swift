import Dispatch
import OperationEngine
import Synchronization
import TestSupport

/// Queues dropped at every point of their operations' lives, while all that the engine calls asks for the queue: mains,
/// deinits, observers, completion blocks, and a trace receiver that comes and goes.
///
/// What `OperationQueue.current` finds must be alive (contract P2, Q3). A sanitizer sees it if it is not.
@Sendable func farewells(_ run: StressRun) {
    let program = Farewells(run)
    run.describe { "\(program.live.value) objects live, \(program.ends.value) operations have ended" }
    // In a process of its own: receivers get the events of all operations.
    let isOwn = MisuseWatch.ownsProcess.load(ordering: .relaxed)
    let tracing = isOwn ? (0..<2).map { program.traceNowAndThen(run.generator(90 + $0)) } : []
    let threads = 4
    together(threads) { thread in
        var random = run.generator(thread + 1)
        var earlier: Operation?
        for _ in 0..<max(1, run.size / threads) { earlier = program.dropOne(after: earlier, &random) }
    }
    run.await { program.live.value == 0 }
    program.isOver.store(true, ordering: .relaxed)
    for thread in tracing { thread.join() }
    run.await { program.liveReceivers.value == 0 }
    program.finisher.end()
    run.count(program.ends.value)
}

private final class Farewells: Sendable {
    let run: StressRun
    /// The queues, the operations, and what their blocks hold.
    let live = LiveCount()
    let ends = LiveCount()
    let liveReceivers = LiveCount()
    let finisher = Finisher()
    let isOver = Atomic<Bool>(false)

    init(_ run: StressRun) { self.run = run }

    /// The agent that drops a queue.
    private enum Drop: CaseIterable {
        case maker, otherThread, main, completion, observer, words
    }

    /// Makes a queue with some operations, and drops it. Returns one of them, for another queue to wait for.
    func dropOne(after earlier: Operation?, _ random: inout SeededGenerator) -> Operation? {
        let queue = CountedQueue(live)
        switch random.hits(30) ? Int.random(in: 0..<2, using: &random) : 2 {
        case 0: queue.underlyingQueue = DispatchQueue(label: "farewells.serial")
        case 1: queue.underlyingQueue = DispatchQueue(label: "farewells", attributes: .concurrent)
        default: break
        }
        queue.maxConcurrentOperationCount = [-1, 1, 2].randomElement(using: &random)!
        queue.isSuspended = random.hits(30)
        let holder = Holder(queue)
        let drop = Drop.allCases.randomElement(using: &random)!
        let operations = (0..<Int.random(in: 1...5, using: &random)).map { _ in operation(&random) }
        for (place, operation) in operations.enumerated() {
            if place > 0, random.hits(40) { operation.addDependency(operations[place - 1]) }
            if random.hits(40) { completed(operation, drop == .completion ? holder : nil) }
            if random.hits(25) { observed(operation, drop == .observer ? holder : nil) }
        }
        if let earlier, random.hits(40) { operations[0].addDependency(earlier) }
        let token = random.hits(15) ? queue.observe(\.operationCount) { [self] _, _ in ask() } : nil
        let (inMain, inWords) = (drop == .main ? holder : nil, drop == .words ? holder : nil)
        for operation in operations.shuffled(using: &random) { queue.addOperation(operation) }
        queue.addOperation(last(inMain, inWords))
        if random.hits(20) { queue.addBarrierBlock(last(nil, nil)) }
        if random.hits(10) { operations.randomElement(using: &random)?.cancel() }
        if random.hits(5) { queue.cancelAllOperations() }
        queue.isSuspended = false
        if drop == .otherThread { finisher.perform { holder.drop() } }
        // In all cases: whom the last reference is left to, depends on the threads.
        if drop == .maker || random.hits(50) { holder.drop() }
        withExtendedLifetime(token) {}
        return random.hits(50) ? operations.last : nil
    }

    /// Holds a queue until it is dropped.
    private final class Holder: Sendable {
        private let queue: Guarded<OperationQueue?>
        init(_ queue: OperationQueue) { self.queue = Guarded(queue) }

        func drop() {
            let dropped = queue.withLock { $0.take() }
            withExtendedLifetime(dropped) {}
        }
    }

    /// Uses the queue that the caller finds.
    func ask() {
        if let queue = OperationQueue.current { run.require(queue.operationCount >= 0, "\(queue) counts wrong (M10)") }
    }

    private func operation(_ random: inout SeededGenerator) -> Operation {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: BlockOperation(block: last(nil, nil))
        case 1: SelfEnding(self)
        case 2: LateEnding(self, isByOther: random.hits(70))
        case 3: AskingTask(self)
        default: Asking(self)
        }
    }

    private func last(_ inMain: Holder?, _ inWords: Holder?) -> @Sendable () -> Void {
        let words = LastWords { [self] in
            ask()
            inWords?.drop()
            live.remove()
        }
        live.add()
        return { [self] in
            ask()
            inMain?.drop()
            ends.add()
            run.advance()
            withExtendedLifetime(words) {}
        }
    }

    private func completed(_ operation: Operation, _ holder: Holder?) {
        operation.completionBlock = { [self, weak operation] in
            run.require(operation?.hasEnded == true, "an operation is gone before its completion block (contract Q9)")
            ask()
            holder?.drop()
        }
    }

    private func observed(_ operation: Operation, _ holder: Holder?) {
        let token = Guarded<Observation?>(nil)
        let observation = operation.observe(\.isFinished) { [self] _, _ in
            ask()
            holder?.drop()
            token.withLock { $0 = nil }
        }
        token.withLock { $0 = observation }
    }

    // MARK: Tracing

    /// A thread that installs receivers and removes them, over and over, some in their own calls.
    func traceNowAndThen(_ generator: SeededGenerator) -> OwnThread {
        OwnThread { [self] in
            var (random, looks) = (generator, 0)
            while !isOver.load(ordering: .relaxed) {
                let receivers = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Receiver(self, removesItself: random.hits(20))
                }
                for receiver in receivers {
                    OperationTrace.install(receiver, for: random.hits(50) ? .all : .operations)
                    if random.hits(50) { pause(&looks) }
                }
                pause(&looks)
                for receiver in receivers.shuffled(using: &random) { OperationTrace.remove(receiver) }
            }
        }
    }

    /// Reads what it gets, while it is there.
    private final class Receiver: OperationTrace.Receiver {
        private let program: Farewells
        private let removesItself: Bool
        private let sum = Atomic<Int>(0)

        init(_ program: Farewells, removesItself: Bool) {
            (self.program, self.removesItself) = (program, removesItself)
            program.liveReceivers.add()
        }

        deinit {
            sum.store(.min, ordering: .relaxed)
            program.liveReceivers.remove()
        }

        private func note(_ number: Int) {
            let before = sum.wrappingAdd(number & 0xFF, ordering: .relaxed).oldValue
            program.run.require(before >= 0, "a receiver is called that is gone (contract X4)")
            if removesItself { OperationTrace.remove(self) }
        }

        func receive(_ event: OperationTrace.OperationEvent) {
            note(event.operation?.isFinished ?? true ? event.queue.hashValue : 1)
        }

        func receive(_ event: OperationTrace.ThreadEvent) { note(event.queue.hashValue) }
    }

    // MARK: Operations

    private final class LastWords: Sendable {
        private let words: @Sendable () -> Void
        init(_ words: @escaping @Sendable () -> Void) { self.words = words }
        deinit { words() }
    }

    /// Asks for its queue in its main and in its deinit.
    private class Asking: Operation, @unchecked Sendable {
        let program: Farewells

        init(_ program: Farewells) {
            self.program = program
            program.live.add()
        }

        deinit {
            program.ask()
            program.live.remove()
        }

        override func main() {
            program.ask()
            program.ends.add()
            program.run.advance()
        }
    }

    /// Overrides `start` and ends inside it.
    private final class SelfEnding: Asking, @unchecked Sendable {
        private let isOver = Atomic<Bool>(false)
        override var isFinished: Bool { isOver.load(ordering: .acquiring) }

        override func start() {
            main()
            willChangeValue(forKey: "isFinished")
            isOver.store(true, ordering: .releasing)
            didChangeValue(forKey: "isFinished")
            program.ask()
        }
    }

    /// Leaves `start` to the engine, and announces its end on another thread, while its main returns or later (contract
    /// C14).
    private final class LateEnding: Asking, @unchecked Sendable {
        private let isOver = Atomic<Bool>(false)
        private let isByOther: Bool
        override var isFinished: Bool { super.isFinished && isOver.load(ordering: .acquiring) }

        init(_ program: Farewells, isByOther: Bool) {
            self.isByOther = isByOther
            super.init(program)
        }

        override func main() {
            super.main()
            if isByOther { program.finisher.perform { self.end() } } else { end() }
        }

        private func end() {
            willChangeValue(forKey: "isFinished")
            isOver.store(true, ordering: .releasing)
            didChangeValue(forKey: "isFinished")
        }
    }

    private final class AskingTask: AsyncOperation<Void>, @unchecked Sendable {
        private let program: Farewells

        init(_ program: Farewells) {
            self.program = program
            program.live.add()
            super.init(taskPriority: nil)
        }

        deinit {
            program.ask()
            program.live.remove()
        }

        override func run() async {
            await Task.yield()
            program.ends.add()
            program.run.advance()
        }
    }
}
