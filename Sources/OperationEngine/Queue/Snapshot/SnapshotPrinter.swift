import CLinux

extension OperationQueue {
    /// Prints a snapshot of every queue that holds something, and the engine's counts, whenever the process gets a signal
    /// (contract X6). For a program that hangs: `kill -USR1 PID`.
    ///
    /// The signal's handler only notes the signal, so it may interrupt any code. A thread of its own takes the snapshots
    /// and writes them. It replaces the handler that the signal had. A second call for the same signal sets another
    /// descriptor. A thread of the program has to accept the signal: those of the engine do not. A forked child prints
    /// nothing.
    ///
    /// What cannot be written is dropped: the descriptor may be closed, or a full pipe that does not block.
    ///
    /// - Parameters:
    ///   - signal: the number, such as `SIGUSR1`.
    ///   - descriptor: where the text goes. The caller keeps it open.
    ///   - count: the most operations to list of each queue.
    /// - Returns: false, with errno set, if the system refuses the handler or the thread: for SIGKILL, for example.
    @discardableResult
    public static func printSnapshot(
        on signal: Int32, to descriptor: Int32 = 2, atMost count: Int = 1_000
    ) -> Bool {
        SnapshotPrinter.shared.print(on: signal, to: descriptor, atMost: count)
    }
}

/// The thread that prints snapshots when signals come. It exists once the program has asked for it.
private final class SnapshotPrinter: Sendable {
    static let shared = SnapshotPrinter()

    private let lock = FutexLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private var targets: [Int32: (descriptor: Int32, count: Int)] = [:]
    nonisolated(unsafe) private var isRunning = false

    func print(on signal: Int32, to descriptor: Int32, atMost count: Int) -> Bool {
        let failure = lock.withLock {
            if !isRunning {
                let failure = clinux_start_thread(
                    nil,
                    { _ in
                        SnapshotPrinter.shared.run()
                        return nil
                    }, nil)
                if failure != 0 { return failure }
                isRunning = true
            }
            let failure = clinux_note_signal(signal)
            if failure == 0 { targets[signal] = (descriptor, count) }
            return failure
        }
        clinux_set_errno(failure)
        return failure == 0
    }

    private func run() {
        clinux_set_own_name("engine snapshot")
        // A closed pipe must not end the process.
        clinux_block_sigpipe()
        while true {
            let noted = clinux_await_signals()
            for signal in Int32(1)...64 where noted >> UInt64(signal - 1) & 1 != 0 {
                guard let (descriptor, count) = lock.withLock({ targets[signal] }) else { continue }
                var text = Self.text(atMost: count)
                _ = text.withUTF8 { clinux_write_all(descriptor, $0.baseAddress, $0.count) }
            }
        }
    }

    private static func text(atMost count: Int) -> String {
        let metrics = OperationQueue.engineMetrics
        let snapshots = OperationQueue.snapshots(atMost: count)
        let head =
            "OperationEngine: \(snapshots.count) queues with operations; \(metrics.threads) threads: "
            + "\(metrics.running) running, \(metrics.idle) idle, \(metrics.blocked) blocked; \(metrics.workers) workers\n"
        return head + snapshots.map { "\($0)\n" }.joined()
    }
}
