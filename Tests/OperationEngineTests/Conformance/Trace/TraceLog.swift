import Glibc
import OperationEngine
import TestSupport
import Testing

/// A receiver that records the events of some operations. It keeps no operation alive: a receiver never goes.
///
/// Other tests that run at the same time are traced too: so it asks for a queue, or for the operations themselves.
final class TraceLog: OperationTrace.Receiver {
    struct Entry: Sendable {
        let step: OperationTrace.OperationStep
        /// The operation's name; "" if it has none.
        let name: String
        let id: OperationTrace.OperationID
        /// Whether the event is one of a closure without an object.
        let isClosure: Bool
        let event: Stamp
        let isBarrier: Bool
    }

    /// The common part of both kinds of events.
    struct Stamp: Equatable, Sendable {
        let time: Int64
        let thread: Int32
        let caller: Int32
        let queue: OperationTrace.QueueID?
    }

    private let queues: Set<OperationTrace.QueueID>
    private let outsiders: Set<OperationTrace.OperationID>
    private let isSlow: Bool
    private let log = Guarded<[Entry]>([])
    private let threads = Guarded<[OperationTrace.ThreadEvent]>([])
    private let changesOfThese = Guarded<[String]>([])
    private let begun = Guarded<[Int32: String]>([:])

    /// - Parameter isSlow: it takes its time over the last step of each operation, so that who should have waited for
    ///   that is found to be early.
    init(of queues: [OperationQueue] = [], operations: [OperationEngine.Operation] = [], isSlow: Bool = false) {
        self.isSlow = isSlow
        self.queues = Set(queues.map { OperationTrace.QueueID($0) })
        outsiders = Set(operations.map { OperationTrace.OperationID($0) })
    }

    func receive(_ event: OperationTrace.OperationEvent) {
        guard event.queue.map({ queues.contains($0) }) ?? outsiders.contains(event.id) else { return }
        if isSlow, event.step == .notified { for _ in 0..<100 { sched_yield() } }
        let stamp = Stamp(time: event.time, thread: event.thread, caller: ThreadFacts.id, queue: event.queue)
        log.withLock {
            $0.append(
                Entry(
                    step: event.step, name: event.operation?.name ?? "", id: event.id,
                    isClosure: event.operation == nil, event: stamp, isBarrier: event.isBarrier))
        }
    }

    func receive(_ event: OperationTrace.ChangeEvent) {
        let queue: OperationTrace.QueueID?
        let text: String
        switch event.change {
        case .made(let made): (queue, text) = (.init(made), "made")
        case .name(let named): (queue, text) = (.init(named), "name \(named.name ?? "")")
        case .limit(let limited): (queue, text) = (.init(limited), "limit \(limited.maxConcurrentOperationCount)")
        case .suspended(let suspended): (queue, text) = (.init(suspended), "suspended")
        case .resumed(let resumed): (queue, text) = (.init(resumed), "resumed")
        case .cancelled(let id): (queue, text) = (nil, outsiders.contains(id) ? "cancelled" : "")
        case .dependency(let id, let other): (queue, text) = (nil, outsiders.contains(id) ? "on \(other.rawValue)" : "")
        }
        guard queue.map({ queues.contains($0) }) ?? !text.isEmpty else { return }
        changesOfThese.withLock { $0.append(text) }
    }

    func receive(_ event: OperationTrace.ThreadEvent) {
        if event.step == .begin {
            let name = ThreadFacts.name
            begun.withLock { $0[event.thread] = name }
        }
        threads.withLock { $0.append(event) }
    }

    // MARK: What it has written down

    var entries: [Entry] { log.read() }
    /// The changes of the queues and of the operations outside of them, as words.
    var changes: [String] { changesOfThese.read() }
    var threadEvents: [OperationTrace.ThreadEvent] { threads.read() }
    /// The names of the workers that began, by their threads.
    var namesOfBegun: [Int32: String] { begun.read() }

    /// Blocks until a thread event comes that is asked for. Records a failure if none does.
    @discardableResult
    func awaits(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ isIt: @Sendable ([OperationTrace.ThreadEvent]) -> Bool
    ) -> Bool {
        let hasCome = threads.wait { isIt($0) }
        if !hasCome { Issue.record("the event does not come", sourceLocation: sourceLocation) }
        return hasCome
    }

    /// Blocks until that step of the operation of that name is received. Records a failure if it is not.
    func awaits(
        _ name: String, _ step: OperationTrace.OperationStep, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let hasCome = log.wait { $0.contains { $0.name == name && $0.step == step } }
        if !hasCome { Issue.record("\(name) has no event \(step)", sourceLocation: sourceLocation) }
    }

    /// The steps of the operations of that name, in order.
    func steps(_ name: String) -> [OperationTrace.OperationStep] {
        entries.filter { $0.name == name }.map(\.step)
    }

    /// The steps of each operation, in order.
    var stepsByOperation: [[OperationTrace.OperationStep]] {
        Dictionary(grouping: entries, by: \.id).values.map { $0.map(\.step) }
    }

    /// The index in the log of a step of the operation of that name; nil if it is absent.
    func place(_ name: String, _ step: OperationTrace.OperationStep) -> Int? {
        entries.firstIndex { $0.name == name && $0.step == step }
    }

    /// Installed while `body` runs.
    func installed<Result>(
        for kinds: OperationTrace.Kinds = .operations, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Result
    ) rethrows -> Result {
        OperationTrace.install(self, for: kinds)
        defer { #expect(OperationTrace.remove(self), sourceLocation: sourceLocation) }
        return try body()
    }
}

extension [OperationTrace.OperationStep] {
    /// The steps of an operation in a queue that runs.
    static var whole: Self { [.enqueued, .ready, .started, .finished, .notified] }
    /// The steps of one that is cancelled before it starts.
    static var leftOut: Self { [.enqueued, .ready, .finished, .notified] }
    /// The steps of one that is started by hand.
    static var byHand: Self { [.started, .finished, .notified] }
}

extension OperationEngine.Operation {
    /// The same operation, with a name.
    func named(_ name: String) -> Self {
        self.name = name
        return self
    }
}

/// Tests that run one at a time: some count what others would make more of.
@Suite("X4: the trace", .blocking, .serialized)
enum TracingTests {}
