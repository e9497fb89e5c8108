import CLinux
import Glibc
import Synchronization

/// A thread of the program under exploration: a real one that runs only while it holds the baton.
///
/// All fields except the baton belong to the holder of the baton.
final class VirtualThread: @unchecked Sendable {
    enum Status: Equatable {
        case runnable
        /// Spins: to run again once another thread has written something, or when nobody else can run.
        case spinning(writesSeen: Int)
        /// In a futex wait.
        case asleep(on: UnsafeMutablePointer<Cell>, deadline: Int64?)
        case waitingForLock(UnsafeMutablePointer<Cell>)
        case waitingForEnd(of: Int)
        /// Until no other thread can run, timers apart.
        case waitingForQuiet
        /// In a sleep of virtual time.
        case pausing(deadline: Int64)
        case ended
    }

    enum Waking { case woken, timedOut, spurious }

    let id: Int
    var status = Status.runnable
    var waking = Waking.woken
    var cellsMade = 0
    var stepsMade = 0
    /// When it last blocked, in comparison with others.
    var arrival = 0

    /// The real thread, once it has begun.
    private var real: pthread_t?
    var isCurrent: Bool { real == pthread_self() }

    private let baton = Atomic<UInt32>(0)
    private var work: (() -> Void)?

    init(id: Int) { self.id = id }

    /// Begins a real thread, which waits for the baton.
    func begin(_ work: @escaping () -> Void) -> pthread_t {
        self.work = work
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                let thread = Unmanaged<VirtualThread>.fromOpaque(argument!).takeUnretainedValue()
                thread.awaitBaton()
                thread.real = pthread_self()
                thread.work?()
                Scheduler.shared.endThread()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(failure == 0, "no thread to explore with")
        return thread
    }

    /// Acquiring and releasing: what the last holder wrote is seen by the next.
    func handBaton() {
        baton.store(1, ordering: .releasing)
        withAddress { clinux_futex_wake($0, 1) }
    }

    func awaitBaton() {
        while baton.exchange(0, ordering: .acquiring) == 0 {
            withAddress { _ = clinux_futex_wait($0, 0, -1) }
        }
    }

    private func withAddress(_ body: (UnsafePointer<UInt32>) -> Void) {
        withUnsafePointer(to: baton) { $0.withMemoryRebound(to: UInt32.self, capacity: 1, body) }
    }

    /// When its timed wait ends, if it is in one.
    var deadline: Int64? {
        switch status {
        case .asleep(_, let deadline): deadline
        case .pausing(let deadline): deadline
        default: nil
        }
    }

    /// Whether it stands still, rather than could run: what /proc would call asleep.
    var isAsleep: Bool {
        switch status {
        case .runnable, .spinning: false
        default: true
        }
    }
}
