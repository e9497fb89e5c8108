import Dispatch
import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

/// How a base class leaves its end to itself, in the ways that libraries have it.
enum OwnEndStyle: CaseIterable, Codable, Sendable {
    /// Overrides `main`, `isExecuting` and `isFinished`, and leaves `start` alone.
    case main
    /// Overrides `start` too, which calls `super.start()` first.
    case superStart
    /// Answers for itself once the inherited `isFinished` does.
    case afterSuper
}

/// An operation whose work continues after its `main`, until `end()`.
class OwnEnd: Operation, @unchecked Sendable {
    private struct Flags {
        var executing = false
        var finished = false
    }

    let style: OwnEndStyle
    let begun = Gate("main begins")
    let mains = Counter()
    private let flags = Guarded(Flags())
    private let body: @Sendable (OwnEnd) -> Void

    /// `body` is what `main` does at its end.
    init(_ style: OwnEndStyle, _ body: @escaping @Sendable (OwnEnd) -> Void = { _ in }) {
        self.style = style
        self.body = body
        super.init()
    }

    override var isExecuting: Bool { flags.read().executing }
    override var isFinished: Bool {
        let isOver = flags.read().finished
        return style == .afterSuper ? super.isFinished && isOver : isOver
    }

    override func main() {
        mains.add()
        willChangeValue(forKey: "isExecuting")
        flags.withLock { $0.executing = true }
        didChangeValue(forKey: "isExecuting")
        begun.open()
        body(self)
    }

    func end() {
        willChangeValue(forKey: "isFinished")
        endSilently()
        didChangeValue(forKey: "isFinished")
    }

    func endSilently() { flags.withLock { $0 = Flags(executing: false, finished: true) } }
}

/// The same, started by its own `start`.
final class OwnEndInStart: OwnEnd, @unchecked Sendable {
    let startReturns = Gate("start returns")

    override func start() {
        super.start()
        startReturns.open()
    }
}

extension OwnEndStyle {
    func make(_ body: @escaping @Sendable (OwnEnd) -> Void = { _ in }) -> OwnEnd {
        self == .superStart ? OwnEndInStart(self, body) : OwnEnd(self, body)
    }
}

/// Waits as long as a defect takes to show. The only evidence that nothing comes is that nothing comes.
private func giveItTime() { _ = Guarded(false).wait(within: .milliseconds(30)) { $0 } }

@Suite("C: ends that a subclass decides about", .blocking)
struct OwnEndTests {
    /// The queue on which the operations run.
    enum Place: CaseIterable, Codable, Sendable {
        case pool, serial, concurrent

        func queue() -> OperationQueue {
            let queue = makeQueue(limit: 1)
            switch self {
            case .pool: break
            case .serial: queue.underlyingQueue = own
            case .concurrent: queue.underlyingQueue = shared
            }
            return queue
        }
    }
    // Foundation does not retain them.
    private static let own = DispatchQueue(label: "own-end.serial")
    private static let shared = DispatchQueue(label: "own-end", attributes: .concurrent)

    @Test(
        "its slot, its dependents, its waiters and its completion block wait for its announcement", .contract("C14"),
        arguments: OwnEndStyle.allCases, Place.allCases)
    func waitsForAnnouncement(style: OwnEndStyle, place: Place) {
        let log = Recorder<String>()
        let done = Counter()
        let queue = place.queue()
        let elsewhere = makeQueue()
        let operation = style.make()
        operation.completionBlock = {
            log.append("completion")
            done.add()
        }
        let next = MainOperation { _ in log.append("next") }
        let dependent = MainOperation { _ in log.append("dependent") }
        dependent.addDependency(operation)
        elsewhere.addOperation(dependent)
        queue.addOperation(operation)
        queue.addOperation(next)
        operation.begun.wait()
        onNewThread {
            operation.waitUntilFinished()
            log.append("waiter")
            done.add()
        }
        giveItTime()
        #expect(queue.operationCount == 2 && !operation.isFinished && !dependent.isReady)
        log.append("end")
        operation.end()
        drains(queue)
        drains(elsewhere)
        done.wait(for: 2)
        #expect(log.entries.first == "end")
        #expect(log.entries.sorted() == ["completion", "dependent", "end", "next", "waiter"])
        #expect(operation.isFinished && !operation.isExecuting && operation.mains.value == 1)
    }

    @Test("started by hand it executes until it announces its end", .contract("C14"), arguments: OwnEndStyle.allCases)
    func byHand(style: OwnEndStyle) {
        let operation = style.make()
        let dependent = MainOperation()
        dependent.addDependency(operation)
        operation.start()
        #expect(operation.isExecuting && !operation.isFinished && !dependent.isReady)
        operation.end()
        #expect(operation.isFinished && !operation.isExecuting && dependent.isReady)
        dependent.start()
        finishes(operation)
    }

    @Test(
        "cancelled inside main it waits for the announcement too", .contract("C14", "J3"),
        arguments: OwnEndStyle.allCases)
    func cancelledInMain(style: OwnEndStyle) {
        let queue = makeQueue()
        let operation = style.make { $0.cancel() }
        let dependent = MainOperation()
        dependent.addDependency(operation)
        queue.addOperation(operation)
        operation.begun.wait()
        giveItTime()
        #expect(operation.isCancelled && !operation.isFinished && !dependent.isReady && queue.operationCount == 1)
        operation.end()
        drains(queue)
        #expect(operation.isFinished && dependent.isReady && operation.mains.value == 1)
    }

    @Test("an end inside main counts at once", .contract("C14"), arguments: OwnEndStyle.allCases)
    func endsInMain(style: OwnEndStyle) {
        let queue = makeQueue(limit: 1)
        let operations = (0..<50).map { _ in style.make { $0.end() } }
        queue.addOperations(operations, waitUntilFinished: true)
        drains(queue)
        #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 1 })
    }

    @Test("an end inside main that is not announced counts when main returns", .contract("C14"))
    func endsSilentlyInMain() {
        let queue = makeQueue(limit: 1)
        let operations = (0..<50).map { _ in OwnEndStyle.main.make { $0.endSilently() } }
        queue.addOperations(operations, waitUntilFinished: true)
        drains(queue)
    }

    @Test("a wait asks the override, also of an end that nobody announced", .contract("C15"))
    func waitAsks() {
        let operation = OwnEndStyle.main.make()
        operation.start()
        operation.endSilently()
        finishes(operation)
        let asynchronous = AsynchronousOperation()
        asynchronous.start()
        asynchronous.endSilently()
        finishes(asynchronous)
        operation.end()
        asynchronous.announceEnd()
    }

    @Test("one that says it executes before its start can be added", .contract("C16"))
    func executesEarly() {
        let operation = EagerOperation()
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(operation.isFinished)
    }

    /// Says that it executes from the beginning.
    private final class EagerOperation: Operation, @unchecked Sendable {
        private let finished = Guarded(false)
        override var isAsynchronous: Bool { true }
        override var isExecuting: Bool { !finished.read() }
        override var isFinished: Bool { finished.read() }

        override func start() {
            willChangeValue(forKey: "isFinished")
            finished.withLock { $0 = true }
            didChangeValue(forKey: "isFinished")
        }
    }

    // MARK: The completion block

    /// How an operation comes to its end.
    enum Ending: CaseIterable, Codable, Sendable {
        case main, block, own, cancelled, byHand
    }

    @Test(
        "an operation lives until its completion block has returned", .contract("Q9"), arguments: Ending.allCases,
        [1, -1])
    func outlivesItsCompletionBlock(ending: Ending, limit: Int) {
        let found = Counter()
        let called = Counter()
        let count = 200
        let queue = makeQueue(limit: limit, suspended: true)
        for _ in 0..<count {
            let operation: Operation =
                switch ending {
                case .block: BlockOperation {}
                case .own: AsynchronousOperation { $0.end() }
                case .main, .cancelled, .byHand: MainOperation()
                }
            operation.completionBlock = { [weak operation] in
                if operation?.isFinished == true { found.add() }
                called.add()
            }
            if ending == .cancelled { operation.cancel() }
            if ending == .byHand { operation.start() } else { queue.addOperation(operation) }
        }
        queue.isSuspended = false
        drains(queue)
        called.wait(for: count)
        #expect(found.value == count)
    }
}
