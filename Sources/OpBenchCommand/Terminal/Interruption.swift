// A dispatch source is thread-safe, but its type does not say so.
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP while a command works: the first asks the work to end in order, the second ends the process.
/// SIGHUP stays ignored where it was before, as by nohup(1).
///
/// One for the process, from its first use on: a signal that comes between two pieces of work ends the second. Thread-safe.
final class Interruption: Sendable {
    static let shared = Interruption()

    private struct State {
        var firstSignal: Int32?
        var onFirst: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let sources: [any DispatchSourceSignal]

    private init() {
        let queue = DispatchQueue(label: "opbench.signals")
        let numbers = Self.numbers
        sources = numbers.map { number in
            // The source sees the signal only if the process does not die of it.
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: queue)
        }
        for (number, source) in zip(numbers, sources) {
            source.setEventHandler { [self] in take(number) }
            source.resume()
        }
    }

    private static var numbers: [Int32] {
        var hangup = sigaction()
        sigaction(SIGHUP, nil, &hangup)
        let ignored = unsafeBitCast(SIG_IGN, to: Int.self)
        let isIgnored = unsafeBitCast(hangup.__sigaction_handler.sa_handler, to: Int.self) == ignored
        return isIgnored ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }

    private func take(_ number: Int32) {
        let onFirst: (@Sendable () -> Void)? = state.withLock { state in
            guard state.firstSignal == nil else { return nil }
            state.firstSignal = number
            return state.onFirst
        }
        guard let onFirst else { _exit(ExitStatus.interrupted(by: number)) }
        onFirst()
    }

    /// Has the first signal do this: at once, if it has come already.
    func onFirst(_ body: @escaping @Sendable () -> Void) {
        let hasCome = state.withLock { state in
            state.onFirst = body
            return state.firstSignal != nil
        }
        if hasCome { body() }
    }

    /// The first signal that came, or nil.
    var signalNumber: Int32? { state.withLock { $0.firstSignal } }
}
