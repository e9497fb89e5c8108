import Synchronization

/// Where one thread sleeps until another hands it a token. A token handed over early is kept: `park` returns at once.
struct Parker: ~Copyable {
    /// 0 nothing, 1 a token waits.
    private let token = Atomic<UInt32>(0)

    /// Sleeps until a token comes, and takes it. Only the owning thread calls this. False if the time ran out.
    func park(timeoutNanoseconds: Int64 = -1) -> Bool {
        // Acquiring: pairs with the releasing store of `unpark`; what the waker wrote before is seen here.
        while token.exchange(0, ordering: .acquiring) == 0 {
            if !Futex.wait(token, expected: 0, timeoutNanoseconds: timeoutNanoseconds) {
                return token.exchange(0, ordering: .acquiring) == 1
            }
        }
        return true
    }

    /// Hands the token over and wakes the owner. Any thread.
    func unpark() {
        token.store(1, ordering: .releasing)
        Futex.wake(token, count: 1)
    }
}
