// A dispatch source is thread-safe, but its type does not say so.
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// SIGINT and SIGTERM while work is under way: the first asks the work to end in order, the second ends the process.
///
/// Thread-safe. Lives until the process ends; the signals keep this meaning from `init` on.
final class Interruption: Sendable {
    private let firstSignal = Atomic<Int32>(0)
    private let sources: [any DispatchSourceSignal]

    /// - Parameter onFirst: called once, on a queue of its own, at the first signal.
    init(onFirst: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "opbench.signals")
        sources = [SIGINT, SIGTERM].map { number in
            // The source sees the signal only if the process does not die of it.
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: queue)
        }
        for (number, source) in zip([SIGINT, SIGTERM], sources) {
            source.setEventHandler { [self] in
                let (isFirst, _) = firstSignal.compareExchange(expected: 0, desired: number, ordering: .relaxed)
                if !isFirst { _exit(ExitStatus.interrupted(by: number)) }
                onFirst()
            }
            source.resume()
        }
    }

    /// The first signal that came, or nil.
    var signalNumber: Int32? {
        let number = firstSignal.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}
