import Testing

/// An ordered log that any thread may append to.
public final class Recorder<Element: Sendable>: Sendable {
    private let log = Guarded<[Element]>([])

    public init() {}

    public var entries: [Element] { log.read() }

    public func append(_ element: Element) {
        log.withLock { $0.append(element) }
    }
}

/// A count that any thread may raise and wait for.
public final class Counter: Sendable {
    private let count = Guarded(0)

    public init() {}

    public var value: Int { count.read() }

    public func add(_ difference: Int = 1) {
        count.withLock { $0 += difference }
    }

    /// Blocks until the count is at least `target`. Records a failure and returns false if it does not get there.
    @discardableResult
    public func wait(for target: Int, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
        let isReached = count.wait { $0 >= target }
        if !isReached {
            Issue.record("the count stays at \(value), expected \(target)", sourceLocation: sourceLocation)
        }
        return isReached
    }
}

/// How many are inside at once, and the most there ever were.
public final class HighWater: Sendable {
    private struct Level {
        var now = 0
        var peak = 0
    }
    private let level = Guarded(Level())

    public init() {}

    public var peak: Int { level.read().peak }

    /// How many are inside.
    public var now: Int { level.read().now }

    /// Counts the caller as inside while `body` runs.
    public func inside<Result>(_ body: () -> Result) -> Result {
        level.withLock {
            $0.now += 1
            $0.peak = max($0.peak, $0.now)
        }
        defer { level.withLock { $0.now -= 1 } }
        return body()
    }
}

/// An object to be captured by a closure, whose release is counted.
public final class Token: Sendable {
    private let released: Counter

    /// `released` goes up by one when the token is freed.
    public init(released: Counter) {
        self.released = released
    }

    deinit { released.add() }

    /// Does nothing; calling it makes a closure hold on to the token.
    public func hold() {}
}
