import Glibc
import Synchronization

/// Says which round was played where the process crashes, or a sanitizer ends it.
public enum CrashNote {
    private static let capacity = 512
    /// Written between rounds, read by the thread that crashes.
    private nonisolated(unsafe) static let text = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)
    private static let length = Atomic<Int>(0)
    private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP]
    /// The previous actions of the signals, in the same order. Written once.
    private nonisolated(unsafe) static let former = UnsafeMutablePointer<sigaction>.allocate(capacity: signals.count)

    /// For a process that plays scenarios and does nothing else.
    public static func install() {
        set("")
        for (place, signal) in signals.enumerated() {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { signal in
                CrashNote.print()
                // The fault happens again on return, with its usual consequences.
                CrashNote.restore(signal)
            }
            sigaction(signal, &action, former + place)
        }
        // A sanitizer that has found an error ends the process without a signal.
        if let symbol = dlsym(nil, "__sanitizer_set_death_callback") {
            let setCallback = unsafeBitCast(symbol, to: (@convention(c) (@convention(c) () -> Void) -> Void).self)
            setCallback { CrashNote.print() }
        }
    }

    static func enter(_ run: StressRun) {
        set("crashed: " + Replay.advice(scenario: run.scenario, seed: run.seed, size: run.size) + "\n")
    }

    static func leave() { set("") }

    private static func set(_ note: String) {
        length.store(0, ordering: .relaxed)
        let bytes = note.utf8.prefix(capacity)
        for (place, byte) in bytes.enumerated() { text[place] = CChar(bitPattern: byte) }
        length.store(bytes.count, ordering: .releasing)
    }

    /// Nothing but what a signal handler may do.
    private static func print() { _ = write(STDERR_FILENO, text, length.load(ordering: .acquiring)) }

    private static func restore(_ signal: Int32) {
        for place in 0..<signals.count where signals[place] == signal { sigaction(signal, former + place, nil) }
    }
}
