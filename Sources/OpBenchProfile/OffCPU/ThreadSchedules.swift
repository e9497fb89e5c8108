/// The times that threads ran and waited between the marks, from the kernel's counters for each thread. Used where the
/// kernel does not report every switch.
public struct ThreadSchedules: Equatable, Sendable, Codable {
    public var threads: [OffCPU.ThreadTime]
    /// The total time between the marks, in nanoseconds.
    public var duration: Int64

    public init(threads: [OffCPU.ThreadTime], duration: Int64) { (self.threads, self.duration) = (threads, duration) }

    /// The schedules with names from a map of thread ids.
    public func named(_ names: [Int32: String]) -> ThreadSchedules {
        var named = self
        for index in named.threads.indices {
            named.threads[index].name = names[threads[index].id] ?? threads[index].name
        }
        return named
    }

    /// The text for a terminal: lines without line ends, with unescaped names.
    ///
    /// - Parameters:
    ///   - operations: the number of operations between the marks; 0 if unknown.
    ///   - count: the maximum number of threads.
    public func lines(operations: Int, threads count: Int = 8) -> [String] {
        guard !threads.isEmpty else { return ["no thread"] }
        let sorted = threads.sorted { ($1.blocked, $0.id) < ($0.blocked, $1.id) }
        return OffCPU.lines(of: sorted, duration: duration, operations, count)
            + ["reasons for waits, and wake-ups: unknown without perf"]
    }
}
