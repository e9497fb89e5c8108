@testable import OperationEngine

/// A `QueueState` with a few items, and its executor: what `QueueCore` does around it, on one thread, without a queue.
final class QueueDriver {
    /// Overrides `start`, and so leaves its queue by itself.
    private final class Guest: Operation, @unchecked Sendable {
        override func start() {}
    }

    private var state = QueueState()
    private let kinds: [QueueModel.Kind]
    /// On which an item may be made to depend.
    private let obstacle = Operation()
    /// Nil for closures.
    private var operations: [Operation?]
    /// The items that the driver has in hand, as a runner would.
    private var running: [Int: Choice] = [:]
    /// Closures that were called, in order.
    private var called: [Int] { log.values }
    private let log = Log()
    private let lease = Lease(band: .normal, target: .pool)
    /// The operations that the last end has made ready, as a runner keeps them.
    private var readied: [Operation] = []
    private(set) var finished: Set<Int> = []

    private final class Log: @unchecked Sendable { var values: [Int] = [] }

    init(_ kinds: [QueueModel.Kind]) {
        self.kinds = kinds
        operations = kinds.map { kind in
            switch kind {
            case .closure: nil
            case .barrier: BarrierOperation {}
            case .guest: Guest()
            default: Operation()
            }
        }
        for (index, kind) in kinds.enumerated() {
            switch kind {
            case .high: operations[index]?.queuePriority = .high
            case .low: operations[index]?.queuePriority = .low
            case .operation(let dependencies):
                for dependency in dependencies { operations[index]?.addDependency(operations[dependency]!) }
            default: break
            }
        }
    }

    // MARK: What the state says

    var isOpen: Bool { state.isOpen }
    var callsWorkers: Bool { state.isOpen && !state.bandsToCall().isEmpty }
    var runningCount: Int { state.running }
    /// The operations that it lists, by their numbers.
    var listed: Set<Int> {
        var found: Set<Int> = []
        state.visit { item, _ in
            guard !item.isClosure else { return true }
            let operation = item.operation.takeUnretainedValue()
            if !operation.state.load().isFinished { found.insert(operations.firstIndex { $0 === operation }!) }
            return true
        }
        return found
    }
    /// Whether nothing is left of what was added.
    var isAtRest: Bool {
        state.isStandingStill && state.waiting.isEmpty && state.held.isEmpty && state.running == 0
    }

    // MARK: Events

    func add(_ index: Int) {
        switch kinds[index] {
        case .closure:
            let log = log
            state.admit(WaitingClosure.make { log.values.append(index) })
        case .barrier:
            claim(operations[index]!)
            state.admitBarrier(operations[index]!)
        default:
            let operation = operations[index]!
            claim(operation)
            if case .guest = kinds[index] { operation.state.setGuest(0) }
            state.admit(operation.asItem)
        }
        settle()
    }

    private func claim(_ operation: Operation) {
        _ = operation.state.claimForQueue()
        operation.state.publishQueue()
    }

    func setSuspended(_ isSuspended: Bool) { state.isSuspended = isSuspended }
    func setLimit(_ limit: Int) { state.setLimit(limit) }

    func setLevel(_ index: Int, _ priority: Operation.QueuePriority) {
        operations[index]!.queuePriority = priority
        file(operations[index]!)
        settle()
    }

    func obstruct(_ index: Int) { operations[index]!.addDependency(obstacle) }

    func free(_ index: Int) {
        operations[index]!.removeDependency(obstacle)
        file(operations[index]!)
        settle()
    }

    func cancel(_ index: Int) {
        operations[index]!.cancel()
        file(operations[index]!)
        settle()
    }

    func cancelAll() {
        let inHands = running.keys.sorted().compactMap { operations[$0] }
        let others = state.cancelWaiting().sorted { $0.sequence < $1.sequence }
        for operation in inHands + others where !operation.isBarrier {
            operation.cancel()
            file(operation)
        }
        for operation in inHands + others where operation.isBarrier {
            operation.cancel()
            file(operation)
        }
        settle()
    }

    /// Files one that has become ready, or has got another place.
    private func file(_ operation: Operation) {
        if operation.state.load().phase == .filing { _ = state.file(operation, nil) }
    }

    private func fileReadied() {
        for operation in readied { file(operation) }
        readied = []
    }

    private func settle() {
        fileReadied()
        state.reachNextSegment()
    }

    // MARK: Starting and ending

    /// Chooses the item that starts now, in the general way.
    func choose() -> Int? {
        settle()
        while true {
            let choice = state.choose(for: lease)
            if let index = take(choice) { return index }
            if state.dropped.isEmpty { return nil }
            endDropped()
        }
    }

    /// Chooses the item that replaces the one that has just ended, in the usual way if that finds it.
    func chooseAgain() -> Int? {
        if readied.count == 1, let index = take(state.chooseReadied(.passUnretained(readied[0]), for: lease)) {
            readied = []
            return index
        }
        if readied.isEmpty, let index = take(state.chooseNormal(for: lease)) {
            return index
        }
        return choose()
    }

    private func take(_ choice: Choice) -> Int? {
        let index: Int
        switch choice {
        case .nothing: return nil
        case .operation(let link), .guest(let link):
            index = operations.firstIndex { $0 === link.takeUnretainedValue() }!
        case .closure(let closure):
            closure.pointee.block.take()!.run()
            free(closure)
            index = called.last!
        }
        running[index] = choice
        return index
    }

    private func free(_ closure: WaitingClosure.Pointer) {
        var places = Slab<WaitingClosure>.Places()
        closure.free(into: &places)
    }

    /// Ends a running item: its slot is given back, and what it makes ready waits in the runner's hand.
    func finish(_ index: Int) {
        finished.insert(index)
        switch running.removeValue(forKey: index)! {
        case .nothing: break
        case .closure: state.running -= 1
        case .operation:
            end(operations[index]!)
            state.running -= 1
        case .guest:
            end(operations[index]!)
            state.withdraw(operations[index]!)
        }
    }

    /// The same, by a runner that goes.
    func finishAndGo(_ index: Int) {
        finish(index)
        settle()
    }

    private func end(_ operation: Operation) {
        operation.finish(from: operation.state.load().phase, on: nil)
        collectReadied()
    }

    /// The operations have no queue here: who is readied says so by its phase alone.
    private func collectReadied() {
        readied += operations.compactMap { $0 }.filter { operation in
            operation.state.load().phase == .filing && !readied.contains { $0 === operation }
        }
    }

    /// As `QueueCore.endDropped`.
    private func endDropped() {
        let dropped = state.takeDropped()
        state.endingSteps += 1
        dropped.items.visitAll { item in
            guard item.isClosure else {
                let operation = item.operation.takeUnretainedValue()
                _ = operation.releaseSuccessors(own: nil)
                finished.insert(operations.firstIndex { $0 === operation }!)
                return
            }
            _ = item.closure.pointee.block.take()
            free(item.closure)
        }
        state.endingSteps -= 1
        collectReadied()
        settle()
    }
}
