import OperationEngine
import TestSupport

/// A random program: follows from its seed alone.
///
/// Nothing in it can end in a deadlock, once the storm is over and all is added:
///
/// 1. Queues have ranks. An operation depends only on earlier ones of its own queue or below, and waits in `main` only
///    for earlier ones of queues below. Operations that cannot become ready are in `cycle`.
/// 2. Barriers come in the order of the plan. Where there are any, an operation depends in its own queue only on what
///    the same thread has added before.
/// 3. The deinit of what a block has captured holds a slot (contract K13), and waits as `main` does. The deinit of an
///    operation holds none. So it may also wait for a later one of its own queue, if no barrier is between them. Two
///    exceptions: it waits for no operation of a serial queue of Dispatch, and for none at all if the operation depends,
///    directly or not, on one of such a queue. Then it may run on that queue's only thread, for which predecessors of the
///    awaited one may wait. The storm changes no dependencies where deinits wait.
/// 4. A deinit waits only for what has been added by then. On the program's own threads, which all that runs may need, it
///    waits for 30 µs at most.
/// 5. `locking` queues, whose observers take a lock while another thread has it and waits for one of their operations,
///    have the lowest ranks, one adding thread each, no dependencies outside, and run on the pool. Their operations end on
///    the thread that runs them, and wait only for added operations of other `locking` queues.
/// 6. `draining` queues, whose observers wait for the whole queue, have no dependencies outside and run on the pool. No
///    deinit announces an end in them: the operation that it belongs to is still counted.
/// 7. `listing` queues, whose observers release what they list, have no dependencies outside.
///
/// A deinit that blocks in something else than a wait of the engine may hold up its queue, so none does.
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
        let listener: Listener
        /// Operations of normal priority without dependencies at limit 1, which nobody ends early: they run in the order
        /// of adding.
        let isOrderly: Bool
        let hasOneAdder: Bool
        /// A queue of a class of its own has no closures without objects.
        let isOfOwnClass: Bool
        let quality: QualityOfService

        /// The queue on which its operations run.
        enum Target: Sendable { case pool, serialQueue, concurrentQueue }
        /// The action of the queue's observers when they are notified.
        enum Listener: Sendable { case none, counting, listing, locking, draining }

        /// Whether observers may hold up whatever ends in it.
        var holdsUp: Bool { listener == .locking || listener == .draining }
        var staysInside: Bool { holdsUp || listener == .listing }
        /// The most that run at once; nil if nothing says so.
        var constantLimit: Int? {
            if target == .serialQueue { return 1 }
            return limit > 0 && !mayChangeLimit ? limit : nil
        }
    }

    enum Kind: Sendable, Equatable {
        case closure, barrier
        /// Overrides `main`.
        case plain
        /// A block operation, whose block has captured an object.
        case block
        /// A block operation with so many blocks that overrides `main`.
        case blocks(Int)
        /// Overrides `isReady`: held back until its gate opens.
        case held
        /// Its main is a task.
        case task
        /// Overrides `start`, and keeps its own state.
        case ownStart(End)
        /// Overrides `isFinished`, and leaves `start` to the engine.
        case ownEnd(End)
    }

    /// When an operation says itself that it is finished.
    enum End: Sendable, Equatable {
        /// As `main` or `start` returns, or at that time or later by another thread, or by an operation of another queue.
        case inside, onThread, byOperation
        /// On another thread, at any time after the adding; else inside.
        case anyTime
        /// On another thread, as soon as the dependency is finished; else inside.
        case atEnd(of: Int)
        /// In the deinit of an earlier operation of its queue; else inside.
        case inDeinit
        /// When it is asked for the n-th time whether it is ready: 1 while it is filed, 2 when it was chosen.
        case whenAsked(Int)
        /// On another thread, while `main` returns or later, and for some once they are cancelled.
        case whenCancelled
        /// The same, and it is started by hand where it would be added, some once they are cancelled.
        case byHand
    }

    /// A wait for another operation.
    struct Wait: Sendable {
        let target: Int
        /// By the wait that has no limit, and is the watchdog's.
        let isUnlimited: Bool
    }

    enum Step: Sendable {
        case work(Int)
        case nap(microseconds: UInt32)
        case wait(Wait)
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

    /// The point of its life at which an operation drops its queue, where that may be dropped.
    enum Drop: Sendable, CaseIterable { case inMain, inCompletion, inObserver, inDeinit }

    struct Task: Sendable {
        fileprivate(set) var kind: Kind
        let queue: Int
        let adder: Adder
        var priority = Operation.QueuePriority.normal
        var threadPriority = 0.5
        /// Dependencies from the start, and whether the storm leaves them alone.
        var dependencies: [(on: Int, isPermanent: Bool)] = []
        var steps: [Step] = []
        var isWatched = false
        var hasCompletion = false
        /// Whether the program holds it until the end, and not only until it is added.
        var isKept = false
        /// In the deinit: of the operation, or of what its block has captured.
        var lastWait: Wait?
        /// The operation whose end its deinit announces.
        var lastEnd: Int?
        var drop: Drop?
    }

    let queues: [Queue]
    private(set) var tasks: [Task] = []
    let adders: Int
    /// Whether the adding threads add in batches.
    let batch: Int
    /// Operations in a ring, in which each depends on the next.
    private(set) var cycle: [Int] = []
    /// The order in which the adding threads come to their operations.
    let order: [Int]
    /// Whether the dependencies are added in one step.
    let linksAtOnce: Bool
    private let profile: Profile
    private let isCyclic: Bool
    private var waitsPlanned = 0
    private var waitsOnDispatchPlanned = 0
    /// Each of these may hold a thread, of which the engine has 512, and Dispatch few.
    private static let mostWaits = 300
    private static let mostWaitsOnDispatch = 4

    init(_ profile: Profile, size: Int, _ random: inout SeededGenerator) {
        self.profile = profile
        queues = Self.queues(profile, &random)
        adders = Int.random(in: profile.adders, using: &random)
        batch = [1, 1, 7, 40].randomElement(using: &random)!
        order = profile.isInOrder ? Array(0..<size) : (0..<size).shuffled(using: &random)
        linksAtOnce = Bool.random(using: &random)
        isCyclic = random.hits(profile.cyclic)
        for index in 0..<size {
            let queue = queues.randomElement(using: &random)!
            let adder = adder(index, in: queue, &random)
            tasks.append(Task(kind: kind(in: queue, &random), queue: queue.rank, adder: adder))
        }
        let reach = Int.random(in: 1...size, using: &random)
        for index in 0..<size { fillIn(index, reach, &random) }
        for index in tasks.indices where tasks[index].kind == .ownStart(.inDeinit) { giveToDeinit(index, &random) }
        dropWaitsOnSerialQueues()
        if isCyclic { closeCycle(&random) }
    }

    /// Whether an operation may depend on an earlier one (rules 1, 2, 5 to 7).
    func mayDepend(_ index: Int, on other: Int) -> Bool {
        let (dependent, dependency) = (tasks[index], tasks[other])
        let queue = queues[dependent.queue]
        guard other < index, dependent.kind.isObject, dependency.kind.isObject, !queue.isOrderly else { return false }
        guard dependency.queue == dependent.queue else {
            return dependency.queue < dependent.queue && !queue.staysInside
        }
        return profile.barriers == 0 || dependency.adder == dependent.adder
    }

    // MARK: Queues

    private static func queues(_ profile: Profile, _ random: inout SeededGenerator) -> [Queue] {
        var listeners: [Queue.Listener] = []
        for _ in 0..<Int.random(in: profile.queues, using: &random) {
            listeners.append(random.hits(profile.listening) ? profile.listeners.randomElement(using: &random)! : .none)
        }
        // The locking ones below all others.
        listeners = listeners.filter { $0 == .locking } + listeners.filter { $0 != .locking }
        return listeners.enumerated().map { queue($0, listener: $1, profile, &random) }
    }

    private static func queue(
        _ rank: Int, listener: Queue.Listener, _ profile: Profile, _ random: inout SeededGenerator
    ) -> Queue {
        let holdsUp = listener == .locking || listener == .draining
        let isOrderly = random.hits(profile.orderly)
        let isAbroad = !holdsUp && random.hits(profile.underlying)
        return Queue(
            rank: rank, limit: isOrderly ? 1 : profile.limits.randomElement(using: &random)!,
            isSuspended: Bool.random(using: &random), mayChangeLimit: !isOrderly && Bool.random(using: &random),
            mayBeDropped: listener == .none && random.hits(profile.dropped),
            target: isAbroad ? (random.hits(40) ? .serialQueue : .concurrentQueue) : .pool, listener: listener,
            isOrderly: isOrderly, hasOneAdder: listener == .locking || random.hits(50),
            isOfOwnClass: random.hits(30), quality: !isOrderly && random.hits(profile.lowered / 4) ? .utility : .default
        )
    }

    // MARK: Tasks

    private func adder(_ index: Int, in queue: Queue, _ random: inout SeededGenerator) -> Adder {
        if index > 0, !queue.staysInside, !queue.isOrderly, random.hits(profile.addedByOthers) {
            let parent = Int.random(in: 0..<index, using: &random)
            if tasks[parent].kind.isObject {
                return Bool.random(using: &random) ? .main(of: parent) : .completion(of: parent)
            }
        }
        return .thread(queue.hasOneAdder ? queue.rank % adders : Int.random(in: 0..<adders, using: &random))
    }

    private func kind(in queue: Queue, _ random: inout SeededGenerator) -> Kind {
        var die = Int.random(in: 0..<100, using: &random)
        func hits(_ part: Int) -> Bool {
            die -= part
            return die < 0
        }
        if hits(profile.closures) { return .closure }
        if hits(profile.blocks) { return .block }
        if hits(profile.barriers) { return .barrier }
        if queue.isOrderly { return .plain }
        if hits(profile.early) { return early(in: queue, &random) }
        if hits(profile.asynchronous) { return .ownStart(end(in: queue, &random)) }
        if queue.holdsUp { return .plain }
        if hits(profile.late) { return .ownEnd(end(in: queue, &random)) }
        if hits(profile.held) { return .held }
        if hits(profile.tasks) { return .task }
        return hits(profile.groups) ? .blocks(Int.random(in: 0...4, using: &random)) : .plain
    }

    private func end(in queue: Queue, _ random: inout SeededGenerator) -> End {
        switch queue.listener {
        case .locking: .inside
        case .draining: [.inside, .onThread].randomElement(using: &random)!
        case .none, .counting, .listing: [.inside, .onThread, .byOperation].randomElement(using: &random)!
        }
    }

    private func early(in queue: Queue, _ random: inout SeededGenerator) -> Kind {
        if queue.listener == .locking { return .ownStart(.inside) }
        var kinds: [Kind] = [
            .ownStart(.whenAsked(1)), .ownStart(.whenAsked(2)), .ownStart(.onThread), .ownStart(.anyTime),
            .ownStart(.anyTime), .ownEnd(.anyTime), .ownEnd(.whenCancelled), .ownEnd(.whenCancelled), .ownEnd(.byHand),
        ]
        if queue.listener != .draining { kinds += [.ownStart(.inDeinit), .ownStart(.inDeinit)] }
        return kinds.randomElement(using: &random)!
    }

    private mutating func fillIn(_ index: Int, _ reach: Int, _ random: inout SeededGenerator) {
        var task = tasks[index]
        let queue = queues[task.queue]
        let isObject = task.kind.isObject
        if !queue.isOrderly, isObject, random.hits(profile.raised) {
            task.priority = Operation.QueuePriority.allCases.randomElement(using: &random)!
        }
        if !queue.isOrderly, random.hits(profile.lowered) {
            task.threadPriority = [0, 0.25, 0.375].randomElement(using: &random)!
        }
        if random.hits(profile.dependent) {
            for _ in 0..<Int.random(in: 0...4, using: &random) where index > 0 {
                let other = Int.random(in: max(0, index - reach)..<index, using: &random)
                guard mayDepend(index, on: other), !task.dependencies.contains(where: { $0.on == other }) else {
                    continue
                }
                task.dependencies.append((other, Bool.random(using: &random)))
            }
        }
        if task.kind == .ownStart(.anyTime), let dependency = task.dependencies.first, random.hits(50) {
            task.kind = .ownStart(.atEnd(of: dependency.on))
        }
        task.steps = steps(index, &random)
        task.isWatched = isObject && random.hits(profile.watched)
        task.hasCompletion = isObject && random.hits(profile.completing)
        task.isKept = isObject && random.hits(profile.kept)
        if random.hits(profile.waitingAtEnd) { task.lastWait = lastWait(index, isKept: task.isKept, &random) }
        if random.hits(profile.dropping) { task.drop = Drop.allCases.randomElement(using: &random)! }
        tasks[index] = task
    }

    private mutating func steps(_ index: Int, _ random: inout SeededGenerator) -> [Step] {
        var steps: [Step] = [.work(Int.random(in: 0...200, using: &random))]
        let other = (index + Int.random(in: 1..<tasks.count, using: &random)) % tasks.count
        if random.hits(profile.napping) {
            steps.append(.nap(microseconds: UInt32.random(in: 10...300, using: &random)))
        }
        if random.hits(profile.waiting) {
            steps.append(waitBelow(index, &random).map { .wait($0) } ?? .waitShortly(other))
        }
        guard profile.meddles, random.hits(10) else { return steps }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: steps.append(.cancel(Bool.random(using: &random) ? index : other))
        case 1: steps.append(.raise(other))
        default: steps.append(.holdUpOwnQueue)
        }
        return steps
    }

    /// Rule 1: a wait for an earlier operation of a queue below.
    private mutating func waitBelow(_ index: Int, _ random: inout SeededGenerator) -> Wait? {
        let queue = queues[tasks[index].queue]
        let others = (0..<index).filter { other in
            tasks[other].kind.isObject && tasks[other].queue < queue.rank
                && (queue.listener != .locking || queues[tasks[other].queue].listener == .locking)
        }
        return plan(waitFor: others.randomElement(using: &random), in: queue, &random)
    }

    /// Rule 3: a wait for an operation that comes soon after this one, where that is allowed.
    private mutating func lastWait(_ index: Int, isKept: Bool, _ random: inout SeededGenerator) -> Wait? {
        let (kind, queue) = (tasks[index].kind, queues[tasks[index].queue])
        switch kind {
        case .closure, .block, .barrier: return waitBelow(index, &random)
        case .ownStart(.byOperation), .ownEnd(.byOperation), .blocks, .task: return nil
        case .plain, .held, .ownStart, .ownEnd: break
        }
        guard !isKept else { return nil }
        guard queue.target != .serialQueue, !random.hits(20) else {
            let wait = waitBelow(index, &random)
            return wait.flatMap { queues[tasks[$0.target].queue].target == .serialQueue ? nil : $0 }
        }
        let behind = tasks[(index + 1)...].indices.filter { tasks[$0].queue == queue.rank }
            .prefix { tasks[$0].kind != .barrier }.filter { tasks[$0].kind.isObject }.prefix(4)
        // Most often the next one, which the worker may have chosen already.
        return plan(waitFor: random.hits(60) ? behind.first : behind.randomElement(using: &random), in: queue, &random)
    }

    private mutating func plan(waitFor target: Int?, in queue: Queue, _ random: inout SeededGenerator) -> Wait? {
        guard let target, !isCyclic, waitsPlanned < Self.mostWaits else { return nil }
        if queue.target != .pool {
            guard waitsOnDispatchPlanned < Self.mostWaitsOnDispatch else { return nil }
            waitsOnDispatchPlanned += 1
        }
        waitsPlanned += 1
        return Wait(target: target, isUnlimited: random.hits(50))
    }

    /// Rule 3, for those whose deinit may run on a serial queue of Dispatch that is not their own.
    private mutating func dropWaitsOnSerialQueues() {
        var mayRunThere = Set<Int>()
        // In this order dependencies come before what depends on them (rule 1), and deinits before the operations that
        // they end.
        for index in tasks.indices.sorted(by: { (tasks[$0].queue, $0) < (tasks[$1].queue, $1) }) {
            let isDependent = tasks[index].dependencies.contains { dependency in
                queues[tasks[dependency.on].queue].target == .serialQueue || mayRunThere.contains(dependency.on)
            }
            guard isDependent || mayRunThere.contains(index) else { continue }
            mayRunThere.insert(index)
            tasks[index].lastWait = nil
            // Its deinit may release that one.
            if let ended = tasks[index].lastEnd { mayRunThere.insert(ended) }
        }
    }

    /// Has one of the operations before it in its queue announce the end of this one.
    private mutating func giveToDeinit(_ index: Int, _ random: inout SeededGenerator) {
        let before = tasks[..<index].indices.reversed().filter { other in
            let task = tasks[other]
            return task.queue == tasks[index].queue && task.lastEnd == nil && task.kind == .plain && !task.isKept
        }
        guard let first = before.first else { return }
        let giver = random.hits(70) ? first : before.prefix(3).randomElement(using: &random)!
        tasks[giver].lastEnd = index
    }

    /// Makes a ring of two or three operations of the lowest rank. Only the first one's edge leads to a later
    /// operation, so that every cycle there is leads through the first.
    private mutating func closeCycle(_ random: inout SeededGenerator) {
        let lowest = tasks.indices.filter { tasks[$0].queue == 0 && tasks[$0].kind.isObject }
        let length = Int.random(in: 2...3, using: &random)
        guard lowest.count >= length else { return }
        let members = lowest.shuffled(using: &random)[..<length].sorted()
        cycle = members[..<1] + members[1...].reversed()
        for (member, next) in zip(cycle, cycle[1...] + cycle[..<1]) {
            tasks[member].dependencies.removeAll { $0.on == next }
            tasks[member].dependencies.append((next, true))
            tasks[member].isKept = true
        }
    }
}

extension Plan.Kind {
    var isObject: Bool { self != .closure && self != .barrier }
    /// Whether it is in no queue.
    var isByHand: Bool { self == .ownEnd(.byHand) }

    /// Whether it keeps its thread until it has ended.
    var isOnItsThread: Bool {
        switch self {
        case .closure, .barrier, .plain, .block, .blocks, .held: true
        case .task, .ownStart, .ownEnd: false
        }
    }

    /// Whether it may end before its turn.
    var mayEndEarly: Bool {
        switch self {
        case .ownStart(let end), .ownEnd(let end): end != .inside && end != .onThread && end != .byOperation
        case .closure, .barrier, .plain, .block, .blocks, .held, .task: false
        }
    }

    /// Whether the engine's own end may come between what the class announces.
    var isOwnEnd: Bool { if case .ownEnd = self { true } else { false } }
    var isOwnStart: Bool { if case .ownStart = self { true } else { false } }
    /// Whether it says so itself that it is finished.
    var keepsItsEnd: Bool { isOwnEnd || isOwnStart }

    /// Whether a thread of the program's ends it.
    var isEndedByOther: Bool { self == .ownStart(.anyTime) || self == .ownEnd(.anyTime) || endsAfter != nil }
    /// The dependency at whose end it does.
    var endsAfter: Int? { if case .ownStart(.atEnd(let dependency)) = self { dependency } else { nil } }
}

extension SeededGenerator {
    /// True in so many cases of a hundred.
    mutating func hits(_ percentage: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percentage }
}
