import OperationEngine
import TestSupport

/// A random program of closures, operations whose deinits wait, barriers, listings and early ends, in several queues
///    that the same threads serve. Follows from its seed alone.  Nothing in it can end in a deadlock: 1. Queues have
///    ranks. An operation depends on earlier ones of its own queue, and on ones of queues below. 2. What holds a slot
///    waits only for operations of queues below: a main, and the deinit of what a block has captured, which is released
///    before the slot is given back (contract K13). 3. The deinit of an operation holds no slot while it waits in the
///    engine. So it may also wait for a later operation of its own queue, if no barrier was added between them. Two
///    exceptions: it waits for no operation of a serial queue of Dispatch, and for none at all if the operation
///    depends, directly or not, on one of such a queue. Then it may run on that queue's only thread, for which
///    predecessors of the awaited one may wait.
/// 4. Each of them waits only for what has been added by then.
/// 5. Deinits that happen on the program's own threads wait for 30 µs at most: all that runs may need these threads.
/// 6. `locking` queues, whose observers take a lock while another thread has it and waits for one of their operations,
///    have the lowest ranks, one adding thread each, no dependencies outside, and run on the pool. Their operations end
///    on the thread that runs them, and wait for operations of other `locking` queues alone.
/// 7. `draining` queues, whose observers wait for the whole queue, have no dependencies outside and run on the pool. No
///    deinit announces an end in them: the operation that it belongs to is still counted.
/// 8. `listing` queues, whose observers release what they list, have no dependencies outside.
///
/// A deinit that blocks in something else than a wait of the engine may hold up its queue, so none does.
struct MixturePlan: Sendable {
    struct Queue: Sendable {
        /// Also its place in `queues`.
        let rank: Int
        let limit: Int
        /// Whether the storm changes its limit.
        let mayChangeLimit: Bool
        let isSuspended: Bool
        let target: Plan.Queue.Target
        let listener: Listener
        let adders: Int
        /// Operations of normal priority without dependencies at limit 1, which nobody ends early: they run in the
        /// order of adding.
        let isOrderly: Bool
        let quality: QualityOfService

        /// The action of the queue's observers when they are notified.
        enum Listener: Sendable { case none, counting, listing, locking, draining }
    }

    enum Kind: Sendable {
        case closure
        /// Overrides `main`; its deinit may wait.
        case plain
        /// Its block has captured an object whose deinit may wait.
        case block
        case early(EarlyEnd)
        case barrier

        var isObject: Bool {
            switch self {
            case .closure, .barrier: false
            case .plain, .block, .early: true
            }
        }
    }

    /// When an operation with state of its own says that it is finished.
    enum EarlyEnd: Sendable, Equatable {
        /// Inside `start`.
        case inStart
        /// On another thread, after `start` has returned.
        case afterStart
        /// On another thread at any time after the adding; else inside `start`.
        case anyTime
        /// On another thread, as soon as the dependency is finished; else inside `start`.
        case atEnd(of: Int)
        /// In the deinit of an earlier operation of its queue; else inside `start`.
        case inDeinit
        /// When it is asked for the n-th time whether it is ready: 1 while it is filed, 2 when it was chosen.
        case whenAsked(Int)
        /// As `anyTime`, by a class that leaves `start` to the engine.
        case beforeMain
        /// On another thread, while `main` returns or later, and sometimes once it is cancelled; by such a class too.
        case afterMain
        /// The same, and it is started by hand where it would be added, some once they are cancelled.
        case byHand

        /// Whether the class leaves `start` to the engine.
        var isUnderInheritedStart: Bool { self == .beforeMain || self == .afterMain || self == .byHand }

        var isByOtherThread: Bool {
            switch self {
            case .anyTime, .atEnd, .beforeMain: true
            case .inStart, .afterStart, .afterMain, .byHand, .inDeinit, .whenAsked: false
            }
        }
    }

    /// A wait for another operation.
    struct Wait: Sendable {
        let target: Int
        /// By the wait that has no limit, and is the watchdog's.
        let isUnlimited: Bool
    }

    struct Part: Sendable {
        let kind: Kind
        let queue: Int
        /// Which of the queue's threads adds it.
        let adder: Int
        let priority: Operation.QueuePriority
        let threadPriority: Double
        let dependencies: [Int]
        /// In main, or in the closure.
        let waitInside: Wait?
        /// In the deinit: of the operation, or of what the block has captured.
        fileprivate(set) var lastWait: Wait?
        /// The operation whose end its deinit announces.
        var lastEnd: Int?
        let nap: UInt32
        let isWatched: Bool
        let hasCompletion: Bool
    }

    let queues: [Queue]
    private(set) var parts: [Part] = []
    private let profile: MixtureProfile
    private var waitsPlanned = 0
    private var waitsOnDispatchPlanned = 0
    /// Each of these may hold a thread, of which the engine has 512, and Dispatch few.
    private static let mostWaits = 300
    private static let mostWaitsOnDispatch = 4

    init(_ profile: MixtureProfile, size: Int, _ random: inout SeededGenerator) {
        self.profile = profile
        queues = Self.queues(profile, &random)
        let kinds = (0..<size).map { _ in
            let queue = queues.indices.randomElement(using: &random)!
            return (queue, Self.kind(profile, queues[queue], &random))
        }
        for index in 0..<size { parts.append(part(index, kinds, &random)) }
        for index in parts.indices where parts[index].kind.endsInDeinit { giveToDeinit(index, &random) }
        dropWaitsOnSerialQueues()
    }

    // MARK: Queues

    private static func queues(_ profile: MixtureProfile, _ random: inout SeededGenerator) -> [Queue] {
        var listeners: [Queue.Listener] = []
        for _ in 0..<Int.random(in: profile.queues, using: &random) {
            listeners.append(random.hits(profile.listening) ? profile.listeners.randomElement(using: &random)! : .none)
        }
        // The locking ones below all others.
        listeners = listeners.filter { $0 == .locking } + listeners.filter { $0 != .locking }
        return listeners.enumerated().map { queue($0, listener: $1, profile, &random) }
    }

    private static func queue(
        _ rank: Int, listener: Queue.Listener, _ profile: MixtureProfile, _ random: inout SeededGenerator
    ) -> Queue {
        let isBound = listener == .locking || listener == .draining
        let isOrderly = random.hits(profile.orderly)
        let isAbroad = !isBound && random.hits(profile.underlying)
        return Queue(
            rank: rank, limit: isOrderly ? 1 : profile.limits.randomElement(using: &random)!,
            mayChangeLimit: !isOrderly && random.hits(20), isSuspended: random.hits(40),
            target: isAbroad ? (random.hits(25) ? .serialQueue : .concurrentQueue) : .pool, listener: listener,
            adders: listener == .locking || isOrderly ? 1 : Int.random(in: 1...2, using: &random), isOrderly: isOrderly,
            quality: !isOrderly && random.hits(profile.lowered) ? .utility : .default)
    }

    // MARK: Parts

    private static func kind(_ profile: MixtureProfile, _ queue: Queue, _ random: inout SeededGenerator) -> Kind {
        var die = Int.random(in: 0..<100, using: &random)
        die -= profile.closures
        if die < 0 { return .closure }
        die -= profile.blocks
        if die < 0 { return .block }
        die -= queue.adders == 1 ? profile.barriers : 0
        if die < 0 { return .barrier }
        die -= queue.isOrderly ? 0 : profile.early
        guard die < 0 else { return .plain }
        let own: [EarlyEnd] = [.inStart, .whenAsked(1), .whenAsked(2)]
        let byOthers: [EarlyEnd] = [.afterStart, .anyTime, .anyTime, .beforeMain, .afterMain, .afterMain, .byHand]
        switch queue.listener {
        case .locking: return .early(.inStart)
        case .draining: return .early((own + byOthers).randomElement(using: &random)!)
        case .none, .counting, .listing:
            return .early((own + byOthers + [.inDeinit, .inDeinit]).randomElement(using: &random)!)
        }
    }

    private mutating func part(
        _ index: Int, _ kinds: [(queue: Int, kind: Kind)], _ random: inout SeededGenerator
    ) -> Part {
        let (place, drawn) = kinds[index]
        let queue = queues[place]
        let dependencies = dependencies(index, kinds, queue, drawn, &random)
        var kind = drawn
        if case .early(.anyTime) = drawn, let dependency = dependencies.first, random.hits(50) {
            kind = .early(.atEnd(of: dependency))
        }
        let isNormal = queue.isOrderly || !drawn.isObject || random.hits(60)
        return Part(
            kind: kind, queue: place, adder: Int.random(in: 0..<queue.adders, using: &random),
            priority: isNormal ? .normal : Operation.QueuePriority.allCases.randomElement(using: &random)!,
            threadPriority: !queue.isOrderly && random.hits(profile.lowered) ? 0.375 : 0.5, dependencies: dependencies,
            waitInside: random.hits(profile.waitingInside) ? wait(belowOf: index, kinds, &random) : nil,
            lastWait: random.hits(profile.waitingAtEnd) ? lastWait(index, kinds, &random) : nil, lastEnd: nil,
            nap: random.hits(profile.napping) ? UInt32.random(in: 20...300, using: &random) : 0,
            isWatched: drawn.isObject && random.hits(profile.watched), hasCompletion: random.hits(10))
    }

    private func dependencies(
        _ index: Int, _ kinds: [(queue: Int, kind: Kind)], _ queue: Queue, _ kind: Kind,
        _ random: inout SeededGenerator
    ) -> [Int] {
        guard kind.isObject, !queue.isOrderly, random.hits(profile.dependent) else { return [] }
        let staysInside = queue.listener != .none && queue.listener != .counting
        let others = kinds.indices.filter { other in
            kinds[other].kind.isObject
                && (kinds[other].queue == queue.rank ? other < index : kinds[other].queue < queue.rank && !staysInside)
        }
        let count = Int.random(in: 1...2, using: &random)
        return Array(Set((0..<count).compactMap { _ in others.randomElement(using: &random) })).sorted()
    }

    /// Rule 2: a wait for an operation of a queue below.
    private mutating func wait(
        belowOf index: Int, _ kinds: [(queue: Int, kind: Kind)], _ random: inout SeededGenerator
    ) -> Wait? {
        let queue = queues[kinds[index].queue]
        let others = kinds.indices.filter { other in
            kinds[other].kind.isObject && kinds[other].queue < queue.rank
                && (queue.listener != .locking || queues[kinds[other].queue].listener == .locking)
        }
        return plan(waitFor: others.randomElement(using: &random), in: queue, &random)
    }

    /// Rule 3, for those whose deinit it allows: a wait for an operation that comes soon after this one.
    private mutating func lastWait(
        _ index: Int, _ kinds: [(queue: Int, kind: Kind)], _ random: inout SeededGenerator
    ) -> Wait? {
        let (place, kind) = kinds[index]
        let queue = queues[place]
        var isOfOperation = true
        switch kind {
        case .closure, .block, .barrier: isOfOperation = false
        case .plain, .early: break
        }
        guard isOfOperation else { return wait(belowOf: index, kinds, &random) }
        guard queue.target != .serialQueue, !random.hits(20) else {
            let wait = wait(belowOf: index, kinds, &random)
            return wait.flatMap { queues[kinds[$0.target].queue].target == .serialQueue ? nil : $0 }
        }
        var behind: [Int] = []
        for other in (index + 1)..<max(kinds.count, index + 1) where kinds[other].queue == place && behind.count < 4 {
            if case .barrier = kinds[other].kind { break }
            if kinds[other].kind.isObject { behind.append(other) }
        }
        // Most often the next one, which the worker may have chosen already.
        return plan(waitFor: random.hits(60) ? behind.first : behind.randomElement(using: &random), in: queue, &random)
    }

    /// Rule 3, for those whose deinit may run on a serial queue of Dispatch that is not their own.
    private mutating func dropWaitsOnSerialQueues() {
        var mayRunThere = Set<Int>()
        // In this order dependencies come before what depends on them (rule 1), and deinits before the operations that
        // they end.
        for index in parts.indices.sorted(by: { (parts[$0].queue, $0) < (parts[$1].queue, $1) }) {
            let isDependent = parts[index].dependencies.contains { dependency in
                queues[parts[dependency].queue].target == .serialQueue || mayRunThere.contains(dependency)
            }
            guard isDependent || mayRunThere.contains(index) else { continue }
            mayRunThere.insert(index)
            parts[index].lastWait = nil
            // Its deinit may release that one.
            if let ended = parts[index].lastEnd { mayRunThere.insert(ended) }
        }
    }

    private mutating func plan(waitFor target: Int?, in queue: Queue, _ random: inout SeededGenerator) -> Wait? {
        guard let target, waitsPlanned < Self.mostWaits else { return nil }
        if queue.target != .pool {
            guard waitsOnDispatchPlanned < Self.mostWaitsOnDispatch else { return nil }
            waitsOnDispatchPlanned += 1
        }
        waitsPlanned += 1
        return Wait(target: target, isUnlimited: random.hits(25))
    }

    /// Has one of the operations before it in its queue announce the end of this one.
    private mutating func giveToDeinit(_ index: Int, _ random: inout SeededGenerator) {
        let before = parts[..<index].indices.reversed().filter { other in
            guard parts[other].queue == parts[index].queue, parts[other].lastEnd == nil else { return false }
            if case .plain = parts[other].kind { return true }
            return false
        }
        guard let first = before.first else { return }
        let giver = random.hits(70) ? first : before.prefix(3).randomElement(using: &random)!
        parts[giver].lastEnd = index
    }
}

extension MixturePlan.EarlyEnd: CustomStringConvertible {
    var description: String {
        switch self {
        case .inStart: "in start"
        case .afterStart: "after start"
        case .anyTime: "any time"
        case .atEnd(let dependency): "at the end of #\(dependency)"
        case .inDeinit: "in a deinit"
        case .whenAsked(let count): "when asked, \(count)"
        case .beforeMain: "before main"
        case .afterMain: "after main"
        case .byHand: "by hand"
        }
    }
}

extension MixturePlan.Kind {
    var earlyEnd: MixturePlan.EarlyEnd? { if case .early(let end) = self { end } else { nil } }
    var endsInDeinit: Bool { earlyEnd == .inDeinit }
    /// Whether it is in no queue.
    var isByHand: Bool { earlyEnd == .byHand }
    var isClosure: Bool { if case .closure = self { true } else { false } }
    var isBarrier: Bool { if case .barrier = self { true } else { false } }
}
