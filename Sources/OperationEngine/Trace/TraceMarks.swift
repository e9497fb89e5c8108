import CLinux

/// The kinds of events that are traced now. The engine checks this before it sends an event.
///
/// Each check is a relaxed load of one byte that C initializes, and a branch. It only decides whether to look for a
/// receiver, which is loaded acquiring (`OperationTrace`). So no other memory depends on it. A thread that sees the
/// byte late sends one event less or more, as it would have done a moment before or after.
enum TraceMarks {
    /// Whether to send events of operations.
    @inline(__always) static var operations: Bool { clinux_traces_operations() }

    /// Whether to send events of the engine's threads.
    @inline(__always) static var threads: Bool { clinux_traces_threads() }

    /// Whether to send events of changes.
    @inline(__always) static var changes: Bool { clinux_traces_changes() }

    /// Whether the adding of an operation sends anything: its steps, or its dependencies.
    @inline(__always) static var adding: Bool { clinux_traces_adding() }

    /// Whether adding a closure takes more than a push: it is traced, or a forked child refuses it.
    @inline(__always) static var forkedOrOperations: Bool { clinux_is_forked_or_traced() }
}
