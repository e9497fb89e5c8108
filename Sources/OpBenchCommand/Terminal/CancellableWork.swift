// A dispatch source is thread-safe, but its type does not declare it.
@preconcurrency import Dispatch
import Glibc
import OpBenchRunner
import Synchronization

/// Runs asynchronous work from a synchronous main and lets signals cancel it.
enum CancellableWork {
    /// The result of the work, and the signal that cancelled it, if any.
    ///
    /// The calling thread blocks, so it must not belong to Swift concurrency's pool.
    ///
    /// - Throws: `ScarcityError` if there are too few threads or descriptors to begin.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () async -> Value
    ) throws(ScarcityError) -> (value: Value, signal: Int32?) {
        try SystemRoom.check()
        // Before the work begins, so that no signal during it has its default effect.
        let interruption = Interruption.shared
        let finished = DispatchSemaphore(value: 0)
        let result = Mutex<Value?>(nil)
        let task = Task.detached {
            let value = await work()
            result.withLock { $0 = value }
            finished.signal()
        }
        interruption.onFirst { task.cancel() }
        finished.wait()
        guard let value = result.withLock({ $0 }) else {
            preconditionFailure("the work signals after its result is set")
        }
        return (value, interruption.signalNumber)
    }
}

extension CancellableWork {
    /// The result of work that a signal may end.
    ///
    /// - Throws: the work's error; `CommandOutcome` if a signal cancelled it; `ScarcityError` as `run`.
    static func finish<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let (result, signal) = try run { await Result.catching(work) }
        if let signal { throw CommandOutcome(status: ExitStatus.interrupted(by: signal)) }
        return try result.get()
    }
}

/// SIGINT, SIGTERM and SIGHUP while a command works: the first cancels the work, the second ends the process. SIGHUP
/// stays ignored if it was ignored before, as by nohup(1).
///
/// One instance per process, from its first use on: a signal between two pieces of work ends the second. Thread-safe.
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
            // The source sees the signal only if the process survives it.
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

    /// Sets the action of the first signal, and runs it immediately if the signal has already come.
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
