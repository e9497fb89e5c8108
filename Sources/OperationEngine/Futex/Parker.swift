import Synchronization

/// Lets one thread sleep until another hands it a token. A token that comes early is kept, and `park` returns at once.
package struct Parker: ~Copyable {
    /// 1 if a token waits, else 0.
    private let token = Atomic<UInt32>(0)

    package init() {}

    /// Sleeps until a token comes, and takes it. Only the owning thread calls this. Returns false on timeout.
    @discardableResult
    package func park(timeoutNanoseconds: Int64 = -1) -> Bool {
        // Acquiring: pairs with the releasing store of `unpark`, so what the waker wrote before is seen here.
        while token.exchange(0, ordering: .acquiring) == 0 {
            if !Futex.wait(token, expected: 0, timeoutNanoseconds: timeoutNanoseconds) {
                return token.exchange(0, ordering: .acquiring) == 1
            }
        }
        return true
    }

    /// Hands the token over and wakes the owner. From any thread.
    package func unpark() {
        token.store(1, ordering: .releasing)
        Futex.wake(token, count: 1)
    }
}
