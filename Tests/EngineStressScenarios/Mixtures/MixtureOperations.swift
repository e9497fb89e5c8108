import Glibc
import OperationEngine
import Synchronization

/// Makes the operations of a mixture, which tell it what happens.
enum MixtureFactory {
    static func make(_ item: MixtureItem, _ program: Mixture) -> Operation? {
        guard let operation = operation(item, program) else { return nil }
        operation.queuePriority = item.part.priority
        if item.part.threadPriority != 0.5 { operation.threadPriority = item.part.threadPriority }
        if item.part.hasCompletion {
            operation.completionBlock = {
                item.completions.add(1, ordering: .relaxed)
                program.run.advance()
            }
        }
        return operation
    }

    private static func operation(_ item: MixtureItem, _ program: Mixture) -> Operation? {
        switch item.part.kind {
        case .closure, .barrier: nil
        case .plain: MixedOperation(item, program)
        case .block: BlockOperation(block: block(item, program))
        case .early(.whenAsked(let last)): AskedOperation(item, program, asked: last)
        case .early(.beforeMain): MainlessOperation(item, program)
        case .early(.afterMain), .early(.byHand): LateOperation(item, program)
        case .early: EarlyOperation(item, program)
        }
    }

    /// A closure's body, with an object that only it holds.
    static func block(_ item: MixtureItem, _ program: Mixture) -> @Sendable () -> Void {
        let cargo = Cargo(item, program)
        return { withExtendedLifetime(cargo) { program.runBody(of: item) } }
    }
}

/// The object that a block captures.
private final class Cargo: Sendable {
    private let item: MixtureItem
    private let program: Mixture

    init(_ item: MixtureItem, _ program: Mixture) {
        self.item = item
        self.program = program
        program.live.add()
    }

    deinit {
        program.lastWords(of: item)
        program.live.remove()
    }
}

private class MixedOperation: Operation, @unchecked Sendable {
    fileprivate let item: MixtureItem
    fileprivate let program: Mixture

    init(_ item: MixtureItem, _ program: Mixture) {
        self.item = item
        self.program = program
        program.live.add()
        super.init()
    }

    deinit {
        program.lastWords(of: item)
        program.live.remove()
    }

    override func main() { program.runBody(of: item) }
}

/// An operation whose end others may announce.
protocol EndableEarly: Operation {
    /// Ends it unless it has begun. True if it did.
    @discardableResult
    func endEarly() -> Bool
}

/// Decides which thread ends an operation that several may end.
private final class Claim: Sendable {
    enum Phase: Int { case waiting, executing, ending, finished }

    private let value = Atomic<Int>(Phase.waiting.rawValue)

    var phase: Phase { Phase(rawValue: value.load(ordering: .acquiring))! }

    /// True for the first caller.
    func begin(_ next: Phase) -> Bool {
        value.compareExchange(
            expected: Phase.waiting.rawValue, desired: next.rawValue, ordering: .acquiringAndReleasing
        ).exchanged
    }

    func finish() { value.store(Phase.finished.rawValue, ordering: .releasing) }
}

/// Keeps its own state, overrides `start`, and notes when that is called after the end.
private class EarlyOperation: MixedOperation, EndableEarly, @unchecked Sendable {
    private let claim = Claim()

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { claim.phase == .executing }
    override var isFinished: Bool { claim.phase == .finished }

    override func start() {
        guard claim.begin(.executing) else {
            if claim.phase == .finished {
                item.lateStarter.store(UInt(pthread_self()), ordering: .relaxed)
                item.lateStart.store(program.history.markCall(), ordering: .relaxed)
            }
            return
        }
        willChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isExecuting")
        if !isCancelled { program.runBody(of: item) }
        guard item.part.kind.earlyEnd == .afterStart else { return finish() }
        program.finisher.perform { self.finish() }
    }

    private func finish() {
        willChangeValue(forKey: "isFinished")
        willChangeValue(forKey: "isExecuting")
        claim.finish()
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }

    @discardableResult
    func endEarly() -> Bool {
        guard claim.begin(.ending) else { return false }
        willChangeValue(forKey: "isFinished")
        item.isEndedEarly.store(true, ordering: .relaxed)
        claim.finish()
        didChangeValue(forKey: "isFinished")
        item.announced.store(program.history.markCall(), ordering: .relaxed)
        return true
    }
}

/// Ends when it is asked for the n-th time whether it is ready, once it is in its queue and otherwise ready.
private final class AskedOperation: EarlyOperation, @unchecked Sendable {
    private let last: Int

    init(_ item: MixtureItem, _ program: Mixture, asked last: Int) {
        self.last = last
        super.init(item, program)
    }

    override var isReady: Bool {
        guard super.isReady else { return false }
        if item.isBeingAskedInQueue, item.asks.add(1, ordering: .relaxed).newValue == last {
            item.wasSurelyUnchosen.store(true, ordering: .relaxed)
            endEarly()
        }
        return true
    }
}

/// Says of itself that it is finished, and leaves the rest to the engine: `start` is not overridden.
private class MainlessOperation: MixedOperation, EndableEarly, @unchecked Sendable {
    fileprivate let claim = Claim()

    override var isFinished: Bool { claim.phase == .finished || super.isFinished }

    override func main() {
        if claim.begin(.executing) { super.main() }
    }

    @discardableResult
    func endEarly() -> Bool {
        guard claim.begin(.ending) else { return false }
        willChangeValue(forKey: "isFinished")
        item.isEndedEarly.store(true, ordering: .relaxed)
        claim.finish()
        didChangeValue(forKey: "isFinished")
        item.announced.store(program.history.markCall(), ordering: .relaxed)
        return true
    }
}

/// The same, but executes after its `main` until another thread announces its end. Without `main` it says nothing (contract
/// C14).
private final class LateOperation: MainlessOperation, @unchecked Sendable {
    override var isFinished: Bool { claim.phase == .finished }

    override func main() {
        guard claim.begin(.executing) else { return }
        program.runBody(of: item)
        program.finisher.perform { [self] in
            willChangeValue(forKey: "isFinished")
            claim.finish()
            didChangeValue(forKey: "isFinished")
        }
    }

    override func cancel() {
        super.cancel()
        // Some announce an end all the same, before the engine's or after it.
        if item.index.isMultiple(of: 2), !item.part.kind.isByHand { program.finisher.perform { self.endEarly() } }
    }
}
