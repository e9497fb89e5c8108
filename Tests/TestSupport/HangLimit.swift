import Foundation
import Testing

/// How long a test waits for something that must happen before it calls it a hang.
///
/// No test asserts how fast something is; these limits only turn a hang into a failure.
public enum HangLimit {
    /// The limit of one wait. The waiter records a failure and goes on.
    public static let wait: Duration = Scale.isSanitized ? .seconds(240) : .seconds(60)
    /// The limit of one test. Past it the process prints the test's name and aborts.
    public static let test: Duration = Scale.isSanitized ? .seconds(900) : .seconds(240)
}

/// Runs `body` on a thread of its own and waits for it. Records a failure and returns false if it hangs.
@discardableResult
public func completes(
    _ what: String,
    within limit: Duration = HangLimit.wait,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable () -> Void
) -> Bool {
    let done = Guarded(false)
    Thread.detachNewThread {
        body()
        done.withLock { $0 = true }
    }
    guard done.wait(within: limit, until: { $0 }) else {
        Issue.record("hangs: \(what) (gave it \(limit))", sourceLocation: sourceLocation)
        return false
    }
    return true
}

/// Polls until `condition` holds, for facts that nothing announces, such as an object's release.
/// Records a failure and returns false if it never does.
@discardableResult
public func eventually(
    _ what: String,
    within limit: Duration = HangLimit.wait,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () -> Bool
) -> Bool {
    let deadline = ContinuousClock.now + limit
    while !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("never came true: \(what) (gave it \(limit))", sourceLocation: sourceLocation)
            return false
        }
        sched_yield()
    }
    return true
}
