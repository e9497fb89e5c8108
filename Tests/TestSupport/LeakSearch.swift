import Glibc

/// The search for leaks that AddressSanitizer makes as a process exits.
///
/// A worker may be freeing an object at that moment. If weak references ever pointed to the object, the runtime has a
/// table for it, whose address the object holds shifted. The search does not recognize that address, and reports the
/// table. So a process searches before that, and has no leak if one search finds nothing. What is still found after a
/// while is a leak, and the search at the exit reports it.
enum LeakSearch {
    /// Makes the process search. Used by `Guarded`, and so by almost every test and every process that a test starts.
    static let isRepeated: Void = {
        guard let address = dlsym(nil, "__lsan_do_recoverable_leak_check") else { return }
        search = unsafeBitCast(address, to: (@convention(c) () -> CInt).self)
        // Handlers run in reverse order: this one before AddressSanitizer's.
        on_exit(
            { status, _ in
                for _ in 0..<100 {
                    if LeakSearch.search?() == 0 {
                        fflush(nil)
                        _exit(status)
                    }
                    usleep(10_000)
                }
            }, nil)
    }()

    /// Written once, before the handler that reads it is registered.
    nonisolated(unsafe) private static var search: (@convention(c) () -> CInt)?
}
