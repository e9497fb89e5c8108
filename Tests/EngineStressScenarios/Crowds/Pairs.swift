import OperationEngine
import Synchronization
import TestSupport

/// Pairs of an operation and one that depends on it, in two queues, added in every order. The second must run after
/// the first, and all must run: what the first writes is read by the second without a lock.
@Sendable func pairs(_ run: StressRun) {
    var random = run.generator()
    let limit = [-1, 1, 2, 8].randomElement(using: &random)!
    let queues = (0..<2).map { _ in OperationQueue() }
    for queue in queues { queue.maxConcurrentOperationCount = limit }
    let tally = Tally()
    var operations: [PairMember] = []
    operations.reserveCapacity(2 * run.size)
    for _ in 0..<run.size {
        let first = PairMember(run, tally, after: nil)
        operations.append(first)
        operations.append(PairMember(run, tally, after: first))
    }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: operations.reverse()
    case 1: operations.shuffle(using: &random)
    default: break
    }
    let all = operations
    run.describe {
        let stuck = all.lazy.filter { !$0.isFinished }.prefix(5).map { "\($0), ready \($0.isReady)" }
        return "\(tally.ends.load(ordering: .relaxed)) of \(all.count) ran in \(queues); unfinished: \(Array(stuck))"
    }
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
        queues[0].addOperations(all, waitUntilFinished: false)
    case 1:
        for operation in all { queues[Int.random(in: 0..<2, using: &random)].addOperation(operation) }
    default:
        together(2) { thread in
            let half = all.count / 2
            for operation in thread == 0 ? all[..<half] : all[half...] { queues[thread].addOperation(operation) }
        }
    }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    run.require(
        tally.ends.load(ordering: .relaxed) == all.count,
        "after the wait for both queues \(tally.ends.load(ordering: .relaxed)) of \(all.count) have run")
    run.require(all.allSatisfy(\.isFinished), "an operation is unfinished after the wait for its queue")
    run.count(all.count)
}

/// Counts what ends. Relaxed: the engine's own order is what is looked at.
final class Tally: Sendable {
    let ends = Atomic<Int>(0)
}

private final class PairMember: Operation, @unchecked Sendable {
    private let run: StressRun
    private let tally: Tally
    private let first: PairMember?
    /// Written by main, read by the second one's: unlocked on purpose.
    private var runs = 0

    init(_ run: StressRun, _ tally: Tally, after first: PairMember?) {
        self.run = run
        self.tally = tally
        self.first = first
        super.init()
        if let first { addDependency(first) }
    }

    override func main() {
        runs += 1
        if runs != 1 { run.violated("an operation of a pair ran twice (contract A5)") }
        if let first, first.runs != 1 { run.violated("the second of a pair ran before the first (contract E24)") }
        if tally.ends.add(1, ordering: .relaxed).newValue & 1023 == 0 { run.advance() }
    }
}
