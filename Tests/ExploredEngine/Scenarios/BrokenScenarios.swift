import Interleaving

/// Small programs with a mistake, which the explorer must find.
let brokenScenarios: [Scenario] = [
    Scenario("broken-lost-wake-up", "sleeps without looking again", bounds: (1, 1), isBroken: true) { exploration in
        let flag = Atomic<UInt32>(0)
        let turn = Atomic<UInt32>(0)
        exploration.run(
            { if flag.load(ordering: .acquiring) == 0 { Futex.wait(turn, expected: 0) } },
            {
                flag.store(1, ordering: .releasing)
                Futex.wake(turn, count: 1)
            })
    },
    Scenario("broken-increment", "loads and stores where it should add", bounds: (1, 1), isBroken: true) {
        exploration in
        let count = Atomic<Int>(0)
        let add: @Sendable () -> Void = { count.store(count.load(ordering: .relaxed) + 1, ordering: .relaxed) }
        exploration.run(add, add)
        exploration.check(count.load(ordering: .relaxed) == 2, "an addition is lost")
    },
    Scenario("broken-lock-order", "takes two locks in both orders", bounds: (1, 1), isBroken: true) { exploration in
        let first = FutexLock()
        let second = FutexLock()
        exploration.run(
            { first.withLock { second.withLock {} } },
            { second.withLock { first.withLock {} } })
    },
    Scenario("broken-ownership", "uses an object that another thread has released", bounds: (1, 1), isBroken: true) {
        exploration in
        let object = Shared<Gate?>(Gate())
        let pointer = Unmanaged.passUnretained(object.value!)
        exploration.run(
            { object.value = nil },
            {
                exploration.point()
                pointer._withUnsafeGuaranteedRef { $0.open() }
            })
    },
]
