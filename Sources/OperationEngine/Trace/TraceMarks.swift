import CLinux

/// What is traced now: the engine's own looks before it tells anything.
///
/// Each is a relaxed load of one byte that C initializes, and a branch. A look decides nothing but whether to look for a
/// receiver, which is loaded acquiring (`OperationTrace`). So no other memory depends on it: a thread that sees the byte
/// late tells an event less or more, as it would have done a moment before or after.
enum TraceMarks {
    /// Whether to tell of operations.
    @inline(__always) static var operations: Bool { clinux_traces_operations() }

    /// Whether to tell of the engine's threads.
    @inline(__always) static var threads: Bool { clinux_traces_threads() }

    /// Whether a closure has to be added as an object: traced ones need an identity, and a forked child refuses them. In
    /// one look, the only one on the path of a closure.
    @inline(__always) static var demandObjects: Bool { clinux_is_forked_or_traced() }
}
