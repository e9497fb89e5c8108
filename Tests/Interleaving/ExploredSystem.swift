import Glibc

/// The system calls of the explored program, in virtual threads and virtual time.
public enum ExploredSystem {
    // MARK: Futex

    /// futex(2) on an `ExploredAtomic` whose address is given: 0 when woken, or EAGAIN, EINTR, ETIMEDOUT.
    public static func futexWait(
        _ address: UnsafePointer<UInt32>, _ expected: UInt32, _ timeout: Int64, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Int32 {
        let cell = ExploredAtomic<UInt32>.cell(at: address)
        let place = Place(file: file, line: line)
        Scheduler.shared.point(cell, "futex wait", isWrite: false, at: place)
        // The low half of whatever it is: little-endian.
        guard cell.value(as: UInt32.self).pointee == expected else { return EAGAIN }
        let deadline = timeout < 0 ? nil : Scheduler.shared.now + timeout
        switch Scheduler.shared.block(.asleep(on: cell, deadline: deadline), "sleep", at: place) {
        case .woken: return 0
        case .timedOut: return ETIMEDOUT
        case .spurious: return EINTR
        }
    }

    /// A wake reads nothing: the word's owner may be gone by now.
    public static func futexWake(
        _ address: UnsafePointer<UInt32>, _ count: Int32, file: StaticString = #fileID, line: UInt = #line
    ) {
        let cell = ExploredAtomic<UInt32>.cell(at: address)
        Scheduler.shared.pointOfWake(cell, at: Place(file: file, line: line))
        Scheduler.shared.wake(on: cell, count: Int(count))
    }

    // MARK: Threads

    @discardableResult
    public static func startThread(_ body: @escaping () -> Void) -> pthread_t { Scheduler.shared.start(body).thread }

    public static func spin(file: StaticString = #fileID, line: UInt = #line) {
        Scheduler.shared.spin(at: Place(file: file, line: line))
    }

    public static var currentThread: Int { Scheduler.shared.current.id }
    public static func isAsleep(_ thread: Int) -> Bool { Scheduler.shared.isAsleep(thread) }
    public static var processors: Int { Scheduler.shared.processors }

    // MARK: Time

    public static var now: Int64 { Scheduler.shared.now }

    /// A thread uses a tenth of a microsecond for each step.
    public static func processorTime(of thread: Int) -> Int64 { Int64(Scheduler.shared.stepsMade(by: thread)) * 100 }
}

/// A lock as one object: taking it is a point, and who finds it held sleeps until it is free. The engine's own lock on
/// a futex is explored apart from the rest, which has so many fewer points.
public struct ExploredLock: ~Copyable, @unchecked Sendable {
    private let isHeld = ExploredAtomic<Int>(0)

    public init() {}

    public func lock(file: StaticString = #fileID, line: UInt = #line) {
        let place = Place(file: file, line: line)
        let cell = isHeld.cell
        Scheduler.shared.point(cell, "lock", isWrite: true, at: place)
        while cell.value(as: Int.self).pointee != 0 {
            if cell.value(as: Int.self).pointee == Scheduler.shared.current.id + 1 {
                Scheduler.shared.fail("a thread waits for a lock that it holds, at \(place)")
            }
            Scheduler.shared.block(.waitingForLock(cell), "wait for lock", at: place)
            if cell.pointee.isGone { Scheduler.shared.fail("a lock is gone while a thread waits for it, at \(place)") }
        }
        cell.value(as: Int.self).pointee = Scheduler.shared.current.id + 1
    }

    public func unlock(file: StaticString = #fileID, line: UInt = #line) {
        let cell = isHeld.cell
        let place = Place(file: file, line: line)
        if cell.pointee.isGone { Scheduler.shared.fail("unlock of a lock that is gone, at \(place)") }
        if cell.value(as: Int.self).pointee != Scheduler.shared.current.id + 1 {
            Scheduler.shared.fail("unlock by a thread that does not hold the lock, at \(place)")
        }
        // No point: what others can do before it, they can do before the next one.
        cell.value(as: Int.self).pointee = 0
        Scheduler.shared.release(lock: cell)
    }
}
