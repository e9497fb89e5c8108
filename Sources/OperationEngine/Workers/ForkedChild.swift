import CLinux

/// A child process that fork(2) made after the engine had started threads, which do not exist there.
///
/// Whoever adds to a queue or waits in it would wait for ever, and a lock that another thread held at the fork is held
/// for good. So every way in that needs a worker or would block asks here first, before it takes any lock, and reports
/// `Misuse.useAfterFork`; and a lock that is found held ends the process with that message. What needs neither works:
/// reading an operation's state, for example.
///
/// The mark is set by a handler of pthread_atfork(3), registered when the first pool is made. A child of a process that
/// had not used the engine by then is not marked, and may use it as any process.
enum ForkedChild {
    /// Whether this process is one.
    @inline(__always) static var isOne: Bool { clinux_is_forked() }

    /// Reports the misuse if this process is one; says whether it is.
    static func isRefused() -> Bool {
        guard isOne else { return false }
        Misuse.useAfterFork.report()
        return true
    }

    /// For a caller that found a lock held, which may be for ever.
    static func endIfOne() {
        if isOne { Misuse.useAfterFork.trap() }
    }

    /// From here on children are marked. If it was an operation that forked, its worker takes no other after it.
    static func watch() { clinux_watch_forks { WorkerPool.stopAll() } }
}
