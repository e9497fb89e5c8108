import CLinux

/// A child process that fork(2) made after the engine had started threads, which do not exist there.
///
/// Whoever adds to a queue or waits in it would wait for ever, and a lock that another thread held at the fork is held
/// for good. So every way in that needs a worker or would block asks here first, before it takes any lock, and reports
/// `Misuse.useAfterFork` (`isRefused`); and a lock that is found held ends the process with that message. What needs
/// neither works: reading an operation's state, for example.
///
/// The mark is set by a handler of pthread_atfork(3), registered when the first pool is made. A child of a process that
/// had not used the engine by then is not marked, and may use it as any process.
enum ForkedChild {
    static let message = """
        this process was forked after its parent had used the engine, and has none of its threads; fork before the first \
        use, or exec in the child
        """

    /// Whether this process is one.
    @inline(__always) static var isOne: Bool { clinux_is_forked() }

    /// For a caller that found a lock held, which may be for ever.
    static func endIfOne() {
        if isOne { fatalError("OperationEngine: \(message)") }
    }
}
