import CLinux

/// The processors that the engine keeps busy.
enum Processors {
    /// The number of processors that the process's main thread may run on, sched_getaffinity(2).
    static let count = max(1, Int(clinux_allowed_processors()))
}
