import CLinuxMeasure

/// The futex calls and threads of this process, counted by a tracer outside of it.
enum CallCounter {
    /// Written by `begin`, before there is a second thread.
    nonisolated(unsafe) private static var calls: UnsafePointer<clinux_calls>?

    /// From here on this is another process, which the old one traces; see `clinux_count_calls`. Only while the process
    /// has one thread.
    static func begin() { calls = clinux_count_calls().map { UnsafePointer($0) } }

    /// nil where the process is not traced.
    static func read() -> clinux_calls? { calls?.pointee }
}
