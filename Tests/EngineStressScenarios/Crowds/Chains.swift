import OperationEngine
import TestSupport

/// One chain whose links lie in several queues: they run in order, one at a time, and the whole chain is released
/// without any recursion along it. In a second part it is cancelled, or dropped before it ever runs.
@Sendable func chains(_ run: StressRun) {
    var random = run.generator()
    let live = LiveCount()
    let queues = (0..<Int.random(in: 1...3, using: &random)).map { _ in OperationQueue() }
    for queue in queues { queue.maxConcurrentOperationCount = [-1, 1, 4].randomElement(using: &random)! }
    let order = ChainOrder(run)
    let isReversed = Bool.random(using: &random)
    let fate = ["run", "run", "cancelled", "dropped"].randomElement(using: &random)!
    run.describe { "a chain of \(run.size) (\(fate)) is at \(order.next), \(live.value) links live; \(queues)" }
    do {
        var links: [ChainLink] = []
        for index in 0..<run.size { links.append(ChainLink(index, order, live, after: links.last)) }
        if fate != "dropped" {
            for queue in queues { queue.isSuspended = true }
            let added = isReversed ? links.reversed() : links
            for link in added { queues[link.index % queues.count].addOperation(link) }
            if fate == "cancelled" { for queue in queues { queue.cancelAllOperations() } }
            for queue in queues { queue.isSuspended = false }
        }
    }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    let expected = fate == "run" ? run.size : 0
    run.require(order.next == expected, "a chain of \(run.size) (\(fate)) ran \(order.next) links (contract E24, J5)")
    run.await { live.value == 0 }
    run.count(run.size)
}

/// Memory that the links write without a lock: their order makes it safe, and ThreadSanitizer reports if it does not.
private final class ChainOrder: @unchecked Sendable {
    private let run: StressRun
    private(set) var next = 0
    init(_ run: StressRun) { self.run = run }

    func visit(_ index: Int) {
        if index != next { run.violated("link \(index) of a chain ran when it was the turn of \(next) (E24)") }
        next += 1
        if index & 255 == 0 { run.advance() }
    }
}

private final class ChainLink: Operation, @unchecked Sendable {
    let index: Int
    private let order: ChainOrder
    private let live: LiveCount

    init(_ index: Int, _ order: ChainOrder, _ live: LiveCount, after link: ChainLink?) {
        self.index = index
        self.order = order
        self.live = live
        live.add()
        super.init()
        if let link { addDependency(link) }
    }

    deinit { live.remove() }

    override func main() { order.visit(index) }
}
