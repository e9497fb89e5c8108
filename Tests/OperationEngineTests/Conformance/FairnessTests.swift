import OperationEngine
import Synchronization
import TestSupport
import Testing

/// The order of starts when more operations are ready than there are processors. The bounded orders are those that the
/// engine alone decides, on one thread or at limit 1.
@Suite("Fairness", .blocking, .serialized)
struct FairnessTests {
    /// In a process of their own, where no other test's operations are on the threads. One attempt of some must show
    /// it: a thread that a busy machine lets stand still counts as blocked, and one more takes a queue of those that
    /// waited.
    @Test("A thread does not stay with one busy queue while others wait", arguments: [1, -1])
    func turns(limit: Int) async {
        await #expect(processExitsWith: .success) { [limit] in
            // More queues than threads that run them.
            let contest = Contest(queues: 2 * ThreadFacts.cores + 1, limit: limit, each: Scale.of(2_000), left: 2)
            // Twice a turn: a queue may be called for again just as its turn ends, when the others are with other
            // threads.
            #expect(contest.holds { $0.longestRun <= 2 * Contest.turn })
        }
    }

    @Test("Of two busy queues that share a thread, neither waits longer than twice its share", arguments: [1, -1])
    func shares(limit: Int) async {
        await #expect(processExitsWith: .success) { [limit] in
            // The threads of the other processors have something to do until the end.
            let others = ThreadFacts.cores - 1
            let (begun, isOver) = (Counter(), Guarded(false))
            let busy = makeQueue(limit: max(1, others))
            for _ in 0..<others {
                busy.addOperation {
                    begun.add()
                    while !isOver.read() {}
                }
            }
            begun.wait(for: others)
            let contest = Contest(queues: 2, limit: limit, each: Scale.of(4_000), left: 1)
            // The share is a half; who gets a quarter waits twice as long.
            #expect(contest.holds { $0.leastShare >= 0.25 })
            isOver.withLock { $0 = true }
            drains(busy)
        }
    }

    @Test("A long operation delays none that are ready behind it", arguments: [2, 3, -1], [0, 5, 16])
    func longOperation(limit: Int, before: Int) {
        let queue = makeQueue(limit: limit, suspended: true)
        let ran = Counter()
        let long = Blocker()
        for _ in 0..<before { queue.addOperation { ran.add() } }
        queue.addOperation(long.operation)
        let behind = 3 * Contest.turn
        queue.addOperations((0..<behind).map { _ in MainOperation { _ in ran.add() } }, waitUntilFinished: false)
        queue.isSuspended = false
        long.begun.wait()
        #expect(ran.wait(for: before + behind))
        #expect(long.operation.isExecuting)
        long.release.open()
        drains(queue)
    }

    @Test("A long operation delays no other queue", arguments: [1, -1])
    func longOperationElsewhere(limit: Int) {
        let long = (0..<ThreadFacts.cores + 1).map { _ in Blocker() }
        // As many as there are processors, and one: their threads are taken.
        for blocker in long { blocker.occupy(makeQueue(limit: 1)) }
        let queue = makeQueue(limit: limit)
        let ran = Counter()
        for _ in 0..<100 { queue.addOperation { ran.add() } }
        #expect(ran.wait(for: 100))
        for blocker in long { #expect(blocker.operation.isExecuting) }
        for blocker in long {
            blocker.release.open()
            finishes(blocker.operation)
        }
    }

    @Test("Priorities hold while other queues keep all threads busy and operations come all the time")
    func priorities() {
        let isOver = Guarded(false)
        let load = (0..<2 * ThreadFacts.cores).map { _ in makeQueue() }
        for queue in load { keepBusy(queue, until: isOver) }
        let queue = makeQueue(limit: 1, suspended: true)
        let model = PriorityModel(seed: announcedSeed("priorities"), remaining: Scale.of(4_000))
        for _ in 0..<100 { model.addOne(to: queue) }
        queue.isSuspended = false
        drains(queue)
        isOver.withLock { $0 = true }
        for queue in load { drains(queue) }
        #expect(model.waiting == 0)
        #expect(model.inversions == 0)
    }

    /// Each operation adds the next, so that the queue always has one.
    private func keepBusy(_ queue: OperationQueue, until isOver: Guarded<Bool>) {
        queue.addOperation { [self] in
            if !isOver.read() { keepBusy(queue, until: isOver) }
        }
    }
}

/// The waiting operations of a queue of limit 1 to which only they add: each knows what was ready when it started.
private final class PriorityModel: Sendable {
    private struct State: Sendable {
        var random: SeededGenerator
        var remaining: Int
        var waiting = [Int](repeating: 0, count: 5)
        var inversions = 0
    }

    private static let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
    private let state: Guarded<State>

    init(seed: UInt64, remaining: Int) {
        state = Guarded(State(random: SeededGenerator(seed: seed), remaining: remaining))
    }

    var waiting: Int { state.read().waiting.reduce(0, +) }
    /// Operations that started past one of a higher level.
    var inversions: Int { state.read().inversions }

    /// Adds an operation of a random level, which in its turn adds none, one or two.
    func addOne(to queue: OperationQueue) {
        let level = state.withLock { state in
            let level = Int.random(in: 0..<5, using: &state.random)
            state.waiting[level] += 1
            return level
        }
        let operation = MainOperation { [self] _ in
            let more = state.withLock { state in
                state.waiting[level] -= 1
                if state.waiting[(level + 1)...].contains(where: { $0 > 0 }) { state.inversions += 1 }
                let more = min(state.remaining, Int.random(in: 0...2, using: &state.random))
                state.remaining -= more
                return more
            }
            for _ in 0..<more { addOne(to: queue) }
        }
        operation.queuePriority = Self.levels[level]
        queue.addOperation(operation)
    }
}

/// Queues that are full when they are let run, and who started when.
private struct Contest {
    /// Operations that a thread runs of one queue while others wait.
    static let turn = 16
    private static let attempts = 10

    let queues: Int
    let limit: Int
    let each: Int
    /// How many queues still have something to do when the contest is over.
    let left: Int

    struct Start {
        var thread: Int32
        var queue: Int
    }

    /// The starts from when each queue has begun to when only some have something left.
    struct Log {
        var starts: ArraySlice<Start>

        /// The most operations of one queue that a thread started in succession.
        var longestRun: Int {
            var runs: [Int32: (queue: Int, length: Int)] = [:]
            return starts.reduce(0) { longest, start in
                let before = runs[start.thread]
                let length = before?.queue == start.queue ? before!.length + 1 : 1
                runs[start.thread] = (start.queue, length)
                return max(longest, length)
            }
        }

        /// The smaller part of two queues.
        var leastShare: Double {
            let first = starts.count { $0.queue == 0 }
            return Double(min(first, starts.count - first)) / Double(max(1, starts.count))
        }
    }

    /// Whether some attempt showed it. One in which the queues were not busy together shows nothing: a busy machine may
    /// let the first end before the last is let run.
    func holds(_ condition: (Log) -> Bool) -> Bool {
        (0..<Self.attempts).contains { _ in
            let log = run()
            return !log.starts.isEmpty && condition(log)
        }
    }

    private func run() -> Log {
        let starts = StartList(capacity: queues * each)
        let all = (0..<queues).map { _ in makeQueue(limit: limit, suspended: true) }
        for (index, queue) in all.enumerated() {
            for _ in 0..<each { queue.addOperation { starts.append(Start(thread: ThreadFacts.id, queue: index)) } }
        }
        for queue in all { queue.isSuspended = false }
        for queue in all { drains(queue) }
        return contended(starts.all)
    }

    private func contended(_ starts: [Start]) -> Log {
        var seen = [Int](repeating: 0, count: queues)
        var (begun, busy, from) = (0, queues, 0)
        for (index, start) in starts.enumerated() {
            if seen[start.queue] == 0 { begun += 1 }
            if begun < queues { from = index + 1 }
            seen[start.queue] += 1
            if seen[start.queue] == each { busy -= 1 }
            if busy == left { return Log(starts: from < index ? starts[from..<index] : []) }
        }
        return Log(starts: [])
    }
}

/// A list that many threads append to without ever waiting: who waits for a lock counts as blocked.
private final class StartList: @unchecked Sendable {
    private let count = Atomic<Int>(0)
    private let places: UnsafeMutableBufferPointer<Contest.Start>

    init(capacity: Int) {
        places = .allocate(capacity: capacity)
        places.initialize(repeating: Contest.Start(thread: 0, queue: 0))
    }

    deinit { places.deallocate() }

    /// Each place is written by the one thread that has drawn its number.
    func append(_ start: Contest.Start) { places[count.add(1, ordering: .relaxed).oldValue] = start }

    /// Read when all operations have finished, which comes after all that they wrote.
    var all: [Contest.Start] { Array(places) }
}
