import Foundation
import Testing

/// How long a test waits for something that must happen before it calls it a hang.
///
/// No test asserts how fast something is; these limits only turn a hang into a failure. They are meant for an idle
/// machine; a busy one is given more time, see `PatientClock`.
public enum HangLimit {
    /// The limit of one wait, on the patient clock. The waiter records a failure and goes on.
    public static let patience: Duration = Scale.isSanitized ? .seconds(240) : .seconds(60)
    /// The limit of one test, on the patient clock: if none ends for so long, the process prints the names of those
    /// that run and aborts.
    public static let test: Duration = Scale.isSanitized ? .seconds(900) : .seconds(240)

    /// The limit of one wait for those that know the time on the wall only: what `patience` is on a machine as busy as
    /// this one is now, and twice that, since it may become busier.
    public static var wait: Duration { patience * 2 * PatientClock.slowdown() }
}

/// Runs `body` on a thread of its own and waits for it. Records a failure and returns false if it hangs.
@discardableResult
public func completes(
    _ what: String,
    within limit: Duration = HangLimit.patience,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable () -> Void
) -> Bool {
    if valueUnlessItHangs(within: limit, body) != nil { return true }
    Issue.record("hangs: \(what) (gave it \(limit))", sourceLocation: sourceLocation)
    return false
}

/// Runs `body` on its own thread and returns its result; nil if it hangs, which leaves the thread alone.
public func valueUnlessItHangs<Value: Sendable>(
    within limit: Duration = HangLimit.patience, _ body: @escaping @Sendable () -> Value
) -> Value? {
    let value = Guarded<Value?>(nil)
    Thread.detachNewThread {
        let own = body()
        value.withLock { $0 = own }
    }
    return value.wait(patience: limit, until: { $0 != nil }) ? value.read() : nil
}

/// Polls until `condition` holds, for facts that nothing announces, such as an object's release.
/// Records a failure and returns false if it never does.
@discardableResult
public func eventually(
    _ what: String,
    within limit: Duration = HangLimit.patience,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () -> Bool
) -> Bool {
    let patience = Patience()
    var (looks, nextLook) = (0, ContinuousClock.now + .seconds(1))
    while !condition() {
        looks += 1
        // Most comes true at once. What does not waits for threads that need the processors.
        guard looks > 100 else {
            sched_yield()
            continue
        }
        usleep(UInt32(min(looks, 1_000)))
        if ContinuousClock.now > nextLook {
            if patience.isOver(after: limit) {
                Issue.record("never came true: \(what) (gave it \(limit))", sourceLocation: sourceLocation)
                return false
            }
            nextLook = .now + .seconds(1)
        }
    }
    return true
}
