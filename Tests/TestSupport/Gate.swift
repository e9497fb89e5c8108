import Testing

/// A one-shot latch. Threads block in `wait()` until somebody calls `open()`; it never closes again.
/// A wait that exceeds `HangLimit.patience` records a failure at the gate's creation and goes on, so that a test with
/// a defect fails instead of hanging. Safe to use from any thread.
public final class Gate: Sendable {
    private let opened = Guarded(false)
    private let name: String
    private let sourceLocation: SourceLocation

    public init(_ name: String = "gate", sourceLocation: SourceLocation = #_sourceLocation) {
        self.name = name
        self.sourceLocation = sourceLocation
    }

    public var isOpen: Bool { opened.read() }

    public func open() {
        opened.withLock { $0 = true }
    }

    /// Blocks until the gate is open. Returns false, with a failure recorded, if it stays closed.
    @discardableResult
    public func wait() -> Bool {
        let isOpen = opened.wait { $0 }
        if !isOpen {
            Issue.record("nobody opened the gate “\(name)”", sourceLocation: sourceLocation)
        }
        return isOpen
    }
}

/// A counting semaphore with the same hang limit as `Gate`.
public final class Permits: Sendable {
    private let available: Guarded<Int>
    private let sourceLocation: SourceLocation

    public init(_ count: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) {
        available = Guarded(count)
        self.sourceLocation = sourceLocation
    }

    public func signal(_ count: Int = 1) {
        available.withLock { $0 += count }
    }

    /// Takes one permit, blocking while there is none. Returns false, with a failure recorded, if none comes.
    @discardableResult
    public func wait() -> Bool {
        while available.wait(until: { $0 > 0 }) {
            let taken = available.withLock { count in
                guard count > 0 else { return false }
                count -= 1
                return true
            }
            if taken { return true }
        }
        Issue.record("no permit came", sourceLocation: sourceLocation)
        return false
    }
}

/// A place where `count` threads meet: each blocks in `meet()` until all have arrived.
public final class Rendezvous: Sendable {
    private let arrived = Guarded(0)
    private let count: Int
    private let sourceLocation: SourceLocation

    public init(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        self.count = count
        self.sourceLocation = sourceLocation
    }

    /// How many have arrived.
    public var arrivals: Int { arrived.read() }

    /// Blocks until everybody is here. Returns false, with a failure recorded, if somebody stays away.
    @discardableResult
    public func meet() -> Bool {
        arrived.withLock { $0 += 1 }
        let isComplete = arrived.wait { $0 >= count }
        if !isComplete {
            Issue.record("only \(arrivals) of \(count) came to the rendezvous", sourceLocation: sourceLocation)
        }
        return isComplete
    }
}
