import CLinux
import Glibc

/// What all threads of the engine have in common: they are detached, and leave signals to the application's threads.
enum EngineThread {
    typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

    /// Starts a thread. 0, or an errno value if the system has none to give.
    static func start(_ body: Body, _ argument: UnsafeMutableRawPointer? = nil) -> Int32 {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // A new thread has the signal mask of its creator.
        var signalMask = sigset_t()
        clinux_block_signals(&signalMask)
        defer { pthread_sigmask(SIG_SETMASK, &signalMask, nil) }
        return pthread_create(&thread, &attributes, body, argument)
    }
}
