import OperationEngine
import TestSupport

/// A random program: follows from its seed alone.
///
/// Nothing in it can end in a deadlock. Queues have ranks; an operation depends only on earlier ones of its own rank or
/// below, and waits inside main only for operations below its rank. Operations that cannot become ready are in `cycle`.
struct Plan: Sendable {
    struct Queue: Sendable {
        /// Also its place in `queues`.
        let rank: Int
        let limit: Int
        let isSuspended: Bool
        /// Whether the storm changes its limit; else that is a constant that no instant may exceed.
        let mayChangeLimit: Bool
        let mayBeDropped: Bool
        let target: Target

        /// The queue on which its operations run.
        enum Target: CaseIterable, Sendable { case pool, serialQueue, concurrentQueue }
    }

    enum Kind: Sendable {
        case plain
        case blocks(Int)
        /// Overrides `start`; ends inside it, on another thread, or by an operation of another queue.
        case asynchronous(end: AsynchronousEnd)
        /// Overrides `isFinished` alone; ends after main, in the same ways.
        case late(end: AsynchronousEnd)
        /// Overrides `isReady`: held back until its gate opens.
        case held
        /// Its main is a task.
        case task
    }

    enum AsynchronousEnd: Sendable, CaseIterable { case inside, onThread, byOperation }

    enum Step: Sendable {
        case work(Int)
        case nap(microseconds: UInt32)
        case wait(Int)
        case waitShortly(Int)
        case cancel(Int)
        case raise(Int)
        case holdUpOwnQueue
    }

    enum Adder: Equatable, Sendable {
        case thread(Int)
        case main(of: Int)
        case completion(of: Int)
    }

    struct Task: Sendable {
        let kind: Kind
        let queue: Int
        let priority: Operation.QueuePriority
        let threadPriority: Double
        /// Dependencies from the start, and whether the storm leaves them alone.
        var dependencies: [(on: Int, isPermanent: Bool)]
        let steps: [Step]
        let adder: Adder
        let isWatched: Bool
    }

    let queues: [Queue]
    private(set) var tasks: [Task] = []
    let adders: Int
    /// Whether the adding threads add in batches.
    let batch: Int
    /// Operations in a ring, in which each depends on the next.
    private(set) var cycle: [Int] = []
    /// Each of these may hold a thread, of which there are 512.
    private static let mostWaits = 150
    private var waitsPlanned = 0
    /// The order in which the adding threads come to their operations.
    let order: [Int]
    /// Whether the dependencies are added in one step.
    private(set) var linksAtOnce = false

    init(_ profile: Profile, size: Int, _ random: inout SeededGenerator) {
        let queueCount = Int.random(in: profile.queues, using: &random)
        queues = (0..<queueCount).map { rank in
            let elsewhere: [Queue.Target] = [.serialQueue, .concurrentQueue]
            return Queue(
                rank: rank, limit: profile.limits.randomElement(using: &random)!,
                isSuspended: Bool.random(using: &random), mayChangeLimit: Bool.random(using: &random),
                mayBeDropped: Int.random(in: 0..<4, using: &random) == 0,
                target: random.hits(profile.underlying) ? elsewhere.randomElement(using: &random)! : .pool)
        }
        adders = Int.random(in: profile.adders, using: &random)
        batch = [1, 1, 7, 40].randomElement(using: &random)!
        order = profile.barriers > 0 ? Array(0..<size) : (0..<size).shuffled(using: &random)
        let isCyclic = random.hits(profile.cyclic)
        let reach = Int.random(in: 1...size, using: &random)
        for index in 0..<size { tasks.append(task(index, size, reach, isCyclic, profile, &random)) }
        if isCyclic { closeCycle(&random) }
        linksAtOnce = Bool.random(using: &random)
    }

    private mutating func task(
        _ index: Int, _ size: Int, _ reach: Int, _ isCyclic: Bool, _ profile: Profile,
        _ random: inout SeededGenerator
    ) -> Task {
        let queue = Int.random(in: 0..<queues.count, using: &random)
        var dependencies: [(on: Int, isPermanent: Bool)] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) where index > 0 {
            let other = Int.random(in: max(0, index - reach)..<index, using: &random)
            guard tasks[other].queue <= queue, !dependencies.contains(where: { $0.on == other }) else { continue }
            dependencies.append((other, Bool.random(using: &random)))
        }
        let threadPriority = random.hits(profile.lowered) ? [0, 0.25, 0.375].randomElement(using: &random)! : 0.5
        let steps = steps(index, queue, size, isCyclic, profile, &random)
        return Task(
            kind: kind(profile, &random), queue: queue,
            priority: Operation.QueuePriority.allCases.randomElement(using: &random)!, threadPriority: threadPriority,
            dependencies: dependencies, steps: steps,
            adder: adder(index, profile, &random), isWatched: random.hits(profile.watched))
    }

    private func kind(_ profile: Profile, _ random: inout SeededGenerator) -> Kind {
        var die = Int.random(in: 0..<100, using: &random)
        func hits(_ part: Int) -> Bool {
            die -= part
            return die < 0
        }
        let end = AsynchronousEnd.allCases.randomElement(using: &random)!
        if hits(profile.asynchronous) { return .asynchronous(end: end) }
        if hits(profile.late) { return .late(end: end) }
        if hits(profile.held) { return .held }
        if hits(profile.tasks) { return .task }
        return hits(profile.blocks) ? .blocks(Int.random(in: 0...4, using: &random)) : .plain
    }

    private mutating func steps(
        _ index: Int, _ queue: Int, _ size: Int, _ isCyclic: Bool, _ profile: Profile,
        _ random: inout SeededGenerator
    ) -> [Step] {
        var steps: [Step] = [.work(Int.random(in: 0...200, using: &random))]
        let other = (index + Int.random(in: 1..<size, using: &random)) % size
        if random.hits(profile.napping) {
            steps.append(.nap(microseconds: UInt32.random(in: 10...300, using: &random)))
        }
        if random.hits(profile.waiting), waitsPlanned < Self.mostWaits {
            waitsPlanned += 1
            // For ever only where nothing can hold that one back: below this rank, and not behind a cycle; and not on
            // the few threads of Dispatch.
            let isBelow = other < index && tasks[other].queue < queue && !isCyclic && queues[queue].target == .pool
            steps.append(isBelow ? .wait(other) : .waitShortly(other))
        }
        guard profile.weights[.cancel] != nil, random.hits(10) else { return steps }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: steps.append(.cancel(Bool.random(using: &random) ? index : other))
        case 1: steps.append(.raise(other))
        default: steps.append(.holdUpOwnQueue)
        }
        return steps
    }

    private func adder(_ index: Int, _ profile: Profile, _ random: inout SeededGenerator) -> Adder {
        guard index > 0, random.hits(profile.addedByOthers) else {
            return .thread(Int.random(in: 0..<adders, using: &random))
        }
        let parent = Int.random(in: 0..<index, using: &random)
        return Bool.random(using: &random) ? .main(of: parent) : .completion(of: parent)
    }

    /// Makes a ring of two or three operations of the lowest rank. Only the first one's edge leads to a later
    /// operation, so that every cycle there is leads through the first.
    private mutating func closeCycle(_ random: inout SeededGenerator) {
        let lowest = tasks.indices.filter { tasks[$0].queue == 0 }
        let length = Int.random(in: 2...3, using: &random)
        guard lowest.count >= length else { return }
        let members = lowest.shuffled(using: &random)[..<length].sorted()
        cycle = members[..<1] + members[1...].reversed()
        for (member, next) in zip(cycle, cycle[1...] + cycle[..<1]) {
            tasks[member].dependencies.removeAll { $0.on == next }
            tasks[member].dependencies.append((next, true))
        }
    }
}

extension SeededGenerator {
    /// True in so many cases of a hundred.
    mutating func hits(_ percentage: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percentage }
}
