// A dispatch source is thread-safe, but its type does not say so.
@preconcurrency import Dispatch
import OpBenchModel
import Synchronization

/// Shows on standard error that a build lives: the time so far, in the one line of a terminal every second, in a log every
/// half minute. Thread-safe.
struct BuildProgress: Sendable {
    private let isTerminal: Bool
    private let interval: DispatchTimeInterval
    private let write: @Sendable (String) -> Void

    private static let clearLine = "\r\u{1B}[2K"

    /// - Parameters:
    ///   - interval: nil for that of the kind of output.
    ///   - write: receives the text, line ends and control sequences included.
    init(
        isTerminal: Bool = StandardError.isTerminal, interval: DispatchTimeInterval? = nil,
        write: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.isTerminal = isTerminal
        self.interval = interval ?? .seconds(isTerminal ? 1 : 30)
        self.write = write
    }

    /// - Returns: what is to be called at the end, with whether it was built. Nothing is written after that.
    func begin(_ what: String) -> @Sendable (_ isBuilt: Bool) -> Void {
        let name = TerminalText.escaped(what, limit: TerminalText.messageLimit)
        let begun = ContinuousClock.now
        let time = { @Sendable in Quantities.wait(seconds: begun.duration(to: .now) / .seconds(1)) }
        write("opbench: building \(name); this may take minutes\(isTerminal ? "" : "\n")")
        let shown = Shown()
        let ticking = DispatchSource.makeTimerSource(queue: .global())
        ticking.schedule(deadline: .now() + interval, repeating: interval)
        ticking.setEventHandler { [isTerminal, write] in
            shown.unlessEnded {
                let line = "opbench: \(isTerminal ? "" : "still ")building \(name), \(time())"
                write(isTerminal ? Self.clearLine + line : line + "\n")
            }
        }
        ticking.resume()
        return { [isTerminal, write] isBuilt in
            ticking.cancel()
            shown.end {
                if isTerminal { write(Self.clearLine) }
                if isBuilt { write("opbench: built \(name) in \(time())\n") }
            }
        }
    }

    private final class Shown: Sendable {
        private let hasEnded = Mutex(false)

        func unlessEnded(_ write: () -> Void) { hasEnded.withLock { if !$0 { write() } } }

        func end(_ write: () -> Void) {
            hasEnded.withLock {
                $0 = true
                write()
            }
        }
    }
}
