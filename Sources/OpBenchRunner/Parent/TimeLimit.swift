/// Work that may take only so long.
struct TimeLimit: Sendable {
    /// Sleeps, and says how long that took by the clock, both in seconds.
    let sleep: @Sendable (_ seconds: Double) async throws -> Double

    /// Time in which this process was stopped (Ctrl-Z, SIGSTOP, a frozen container, a machine that sleeps) is no time that
    /// the work had: the limit is waited for in parts, and a part that took so much longer does not count.
    private static let stopSeconds = 1.0
    private static let parts = 10.0

    static let standard = TimeLimit { seconds in
        let start = ContinuousClock.now
        try await Task.sleep(for: .seconds(seconds))
        return start.duration(to: .now) / .seconds(1)
    }

    /// How the work ended.
    enum Outcome<Value: Sendable>: Sendable {
        case inTime(Value)
        /// Its time was over. What it came to all the same, if anything: it may have ended in the same moment, or while
        /// nobody could look.
        case over(Value?)
    }

    /// Runs the work, and cancels it when its time is over. Either way it has ended on return: a cancelled Subprocess ends
    /// its program and waits for it.
    ///
    /// - Throws: what the work throws in time; `CancellationError` if the task is cancelled.
    func run<Value: Sendable>(
        seconds: Double, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Outcome<Value> {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try await wait(seconds)
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            if let first {
                while (try? await group.next()) != nil {}
                return .inTime(first)
            }
            return .over((try? await group.next()) ?? nil)
        }
    }

    private func wait(_ seconds: Double) async throws {
        let part = max(seconds / Self.parts, 0.1)
        var left = seconds
        while left > 0 {
            let asked = min(part, left)
            if try await sleep(asked) < asked + Self.stopSeconds { left -= asked }
        }
    }
}
