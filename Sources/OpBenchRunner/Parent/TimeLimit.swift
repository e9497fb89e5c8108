/// Work that may take only so long.
enum TimeLimit {
    /// Runs the work, and cancels it when its time is over. Either way it has ended on return: a cancelled Subprocess ends
    /// its program and waits for it.
    ///
    /// - Returns: nil if the time was over first.
    /// - Throws: what the work throws; `CancellationError` if the task is cancelled.
    static func run<Value: Sendable>(
        seconds: Double, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            while (try? await group.next()) != nil {}
            return first
        }
    }
}
