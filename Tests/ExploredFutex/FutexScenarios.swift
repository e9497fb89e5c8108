import Interleaving

/// The lock and the parker, on which all else is built.
public let futexScenarios: [Scenario] = [
    Scenario("futex-lock-two", "mutual exclusion, and everybody gets the lock", bounds: (3, 5)) { exploration in
        let lock = FutexLock()
        let inside = Inside()
        let section: @Sendable () -> Void = {
            lock.withLock {
                exploration.check(inside.enter() == 1, "two threads are inside")
                exploration.point()
                inside.leave()
            }
        }
        exploration.run(section, section)
    },
    Scenario("futex-lock-three", "no sleeper is forgotten while others sleep too", bounds: (2, 3)) { exploration in
        let lock = FutexLock()
        let inside = Inside()
        let section: @Sendable () -> Void = {
            lock.withLock {
                exploration.check(inside.enter() == 1, "two threads are inside")
                exploration.point()
                inside.leave()
            }
        }
        exploration.run(section, section, section)
    },
    Scenario("futex-lock-held-in-a-wait", "a thread that sleeps for the lock is woken by the unlock", bounds: (1, 2)) {
        exploration in
        let lock = FutexLock()
        let word = Atomic<UInt32>(0)
        exploration.run(
            {
                lock.lock()
                // Long enough for the other one to give up spinning.
                Futex.wait(word, expected: 0, timeoutNanoseconds: 1_000)
                lock.unlock()
            },
            { lock.withLock {} },
            { lock.withLock {} })
    },
    Scenario("parker-token", "a token is never lost, early or late", bounds: (2, 4)) { exploration in
        let parker = Holder()
        let told = Inside()
        exploration.run(
            {
                exploration.check(parker.parker.park(), "park without a limit has timed out")
                exploration.check(told.enter() == 2, "what the waker wrote is not seen")
            },
            {
                _ = told.enter()
                parker.parker.unpark()
            })
    },
    Scenario("parker-time-runs-out", "true if a token was taken, false if none; none is lost", bounds: (2, 4)) {
        exploration in
        let parker = Holder()
        let taken = Inside()
        exploration.run(
            {
                if parker.parker.park(timeoutNanoseconds: 1_000) { _ = taken.enter() } else { _ = parker.parker.park() }
            },
            { parker.parker.unpark() })
    },
    Scenario("parker-two-tokens", "two tokens may become one, never none", bounds: (2, 3)) { exploration in
        let parker = Holder()
        exploration.run(
            { _ = parker.parker.park() }, { parker.parker.unpark() }, { parker.parker.unpark() })
    },
]

private final class Holder: Sendable {
    let parker = Parker()
}

/// How many threads are inside. Needs no lock: one thread runs at a time.
private final class Inside: @unchecked Sendable {
    private var count = 0

    func enter() -> Int {
        count += 1
        return count
    }

    func leave() { count -= 1 }
}
