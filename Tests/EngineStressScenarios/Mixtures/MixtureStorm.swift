import Glibc
import OperationEngine
import TestSupport

/// One thread of a storm over a mixture: actions drawn by the profile's weights, at random queues and operations.
final class MixtureStorm {
    private let program: Mixture
    private var random: SeededGenerator
    private let actions: [MixtureProfile.Action]
    private let totalWeight: Int
    private var stewardCalls = 0
    private static let mostStewardCalls = 12

    init(_ program: Mixture, thread: Int) {
        self.program = program
        random = program.run.generator(1 + thread)
        actions = MixtureProfile.Action.allCases.filter { program.profile.weights[$0] != nil }
        totalWeight = program.profile.weights.values.reduce(0, +)
    }

    func rage() {
        for _ in 0..<program.items.count {
            perform(draw())
            program.run.advance()
        }
    }

    private func draw() -> MixtureProfile.Action {
        var die = Int.random(in: 0..<totalWeight, using: &random)
        for action in actions {
            die -= program.profile.weights[action]!
            if die < 0 { return action }
        }
        return actions[0]
    }

    private func perform(_ action: MixtureProfile.Action) {
        let record = program.queues.randomElement(using: &random)!
        let item = program.items.randomElement(using: &random)!
        switch action {
        case .list: program.list(record)
        case .listElsewhere:
            let listed = Guarded(program.list(record))
            program.releaser.perform { listed.withLock { $0 = [] } }
        case .cancel: program.cancel(item)
        case .cancelAll: program.cancelAll(record)
        case .suspend: record.queue.isSuspended = true
        case .resume: record.queue.isSuspended = false
        case .changeLimit:
            guard record.plan.mayChangeLimit else { return }
            record.queue.maxConcurrentOperationCount = MixtureQueue.stormLimits.randomElement(using: &random)!
        case .changePriority:
            guard !program.queues[item.part.queue].plan.isOrderly else { return }
            item.operation?.queuePriority = Operation.QueuePriority.allCases.randomElement(using: &random)!
        case .observe: observe(record)
        case .callSteward: callSteward(record, item)
        case .waitForQueue: record.queue.waitUntilFinished(timeout: .microseconds(30))
        case .pause: usleep(UInt32.random(in: 1...100, using: &random))
        }
    }

    /// An observer comes, or all of them go.
    private func observe(_ record: MixtureQueue) {
        guard record.plan.listener == .none || record.plan.listener == .counting else { return }
        if random.hits(50) {
            record.observations.withLock { $0 = [] }
        } else {
            let observation = program.observation(counting: record)
            record.observations.withLock { $0.append(observation) }
        }
    }

    /// Has an operation of a queue above all others do the same, and release what it gets.
    private func callSteward(_ record: MixtureQueue, _ item: MixtureItem) {
        guard stewardCalls < Self.mostStewardCalls else { return }
        stewardCalls += 1
        let (program, die) = (program, Int.random(in: 0..<10, using: &random))
        program.steward.addOperation {
            switch die {
            case 0: program.cancelAll(record)
            case 1..<3: program.cancel(item)
            case 3..<5:
                record.queue.isSuspended = true
                record.queue.isSuspended = false
            default: program.list(record)
            }
        }
    }
}

extension Mixture {
    func cancel(_ item: MixtureItem) {
        guard item.isAdded, let operation = item.operation else { return }
        item.cancels.add(1, ordering: .relaxed)
        operation.cancel()
    }

    func cancelAll(_ record: MixtureQueue) {
        record.cancels.add(1, ordering: .relaxed)
        record.queue.cancelAllOperations()
    }

    /// Lists a queue, and checks the list against what may be in it (contract M9, M10).
    @discardableResult
    func list(_ record: MixtureQueue) -> [Operation] {
        let queue = record.queue
        run.readMetrics(of: queue)
        let closuresGone = closuresSurelyGone(record)
        let listed = queue.operations
        let count = queue.operationCount
        let added = record.added.load(ordering: .acquiring)
        let closuresAdded = record.closuresAdded.load(ordering: .acquiring)
        run.require(
            Set(listed.map(ObjectIdentifier.init)).count == listed.count, "\(queue) lists an operation twice (M9)")
        run.require(0 <= count && count <= Self.mostCounted(added), "\(queue) counts \(count) of \(added) added (M10)")
        var (last, closures) = (-1, 0)
        for operation in listed {
            guard let item = item(of: operation) else {
                closures += 1
                continue
            }
            run.require(item.part.queue == record.plan.rank, "\(queue) lists \(item) (contract M9)")
            guard record.plan.adders == 1 else { continue }
            run.require(item.index > last, "\(queue) lists \(item) behind #\(last) (contract M9)")
            last = item.index
        }
        run.require(
            closures <= closuresAdded - closuresGone,
            "\(queue) lists \(closures) closures; of \(closuresAdded) added \(closuresGone) have ended (contract M9)")
        return listed
    }

    /// `operationCount` may trail, and is never too few: it may count what becomes an object at this moment, or is
    /// counted out, again (contract M11).
    static func mostCounted(_ added: Int) -> Int { 3 * added }

    /// At most as many have begun and not left the queue as run at once.
    private func closuresSurelyGone(_ record: MixtureQueue) -> Int {
        guard let limit = record.greatestLimit else { return 0 }
        return max(0, record.closuresBegun.load(ordering: .acquiring) - limit)
    }

    /// Nil for the object of a closure.
    private func item(of operation: Operation) -> MixtureItem? { items.first { $0.operation === operation } }

    /// The thread that announces ends.
    func endEarly() {
        var random = run.generator(10)
        let chosen = items.filter { $0.part.kind.earlyEnd?.isByOtherThread == true && random.hits(70) }
        for item in chosen.shuffled(using: &random) {
            run.await { item.isAdded }
            if case .early(.atEnd(let dependency)) = item.part.kind {
                // The end comes while the finishing thread files those that depend on it.
                while items[dependency].operation?.hasEnded == false { sched_yield() }
            } else if random.hits(60) {
                usleep(UInt32.random(in: 1...150, using: &random))
            }
            (item.operation as? any EndableEarly)?.endEarly()
            run.advance()
        }
    }
}
