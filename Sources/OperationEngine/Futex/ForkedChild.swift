import CLinux

/// A child process that fork(2) made after the engine had started threads. The child does not have these threads.
///
/// A caller that adds to a queue there, or waits in it, would wait forever. A lock that another thread held at the fork
/// stays held. So every entry point that needs a worker or may block checks for this first, before it takes any lock,
/// and reports `Misuse.useAfterFork` (`isRefused`). A lock that is found held ends the process with that message. Calls
/// that need neither work, such as reading an operation's state.
///
/// A handler of pthread_atfork(3) marks the child. It is registered when the first pool is made. So a child of a
/// process that had not used the engine by then is not marked, and may use the engine as any process.
enum ForkedChild {
    static let message = """
        this process was forked after its parent had used the engine, and has none of its threads; fork before the first \
        use, or exec in the child
        """

    /// Whether this process is such a child.
    @inline(__always) static var isOne: Bool { clinux_is_forked() }

    /// For a caller that found a lock held: in a forked child it may be held forever.
    static func endIfOne() {
        if isOne { fatalError("OperationEngine: \(message)") }
    }
}
