import Glibc

/// A value behind a lock, with a condition to wait on. Everything in this module that blocks is built on it.
///
/// It is a pthread mutex and condition on the monotonic clock, because ThreadSanitizer understands those.
/// Safe to use from any thread.
public final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    public init(_ value: Value) {
        _ = LeakSearch.isRepeated
        self.value = value
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access and wakes the threads in `wait(patience:until:)`.
    @discardableResult
    public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// A copy of the value.
    public func read() -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return value
    }

    /// Blocks until `condition` holds. Returns false if it does not for so long on the patient clock that it must be a
    /// hang.
    public func wait(patience limit: Duration = HangLimit.patience, until condition: (Value) -> Bool) -> Bool {
        if wait(within: .seconds(1), until: condition) { return true }
        let patience = Patience()
        while !wait(within: .seconds(1), until: condition) {
            if patience.isOver(after: limit) { return condition(read()) }
        }
        return true
    }

    /// Blocks until `condition` holds. Returns false if it does not within `limit` on the wall's clock.
    public func wait(within limit: Duration, until condition: (Value) -> Bool) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let (seconds, attoseconds) = limit.components
        deadline.tv_sec += Int(seconds)
        deadline.tv_nsec += Int(attoseconds / 1_000_000_000)
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !condition(value) {
            if pthread_cond_timedwait(changed, mutex, &deadline) == ETIMEDOUT {
                return condition(value)
            }
        }
        return true
    }
}
