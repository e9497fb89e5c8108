/// The times that threads ran and waited between the marks, from the kernel's counters for each thread. Used where the
/// kernel does not report every switch.
public struct ThreadSchedules: Equatable, Sendable, Codable {
    public struct Schedule: Equatable, Sendable, Codable {
        public var id: Int32
        public var name: String
        /// Running time in nanoseconds.
        public var running: Int64
        /// Time waiting for a processor, in nanoseconds.
        public var waiting: Int64
        public var voluntary: Int64
        public var involuntary: Int64
        /// Time between marks while the thread existed, in nanoseconds.
        public var present: Int64

        public init(
            id: Int32, name: String, running: Int64, waiting: Int64, voluntary: Int64, involuntary: Int64,
            present: Int64
        ) {
            (self.id, self.name, self.running, self.waiting) = (id, name, running, waiting)
            (self.voluntary, self.involuntary, self.present) = (voluntary, involuntary, present)
        }

        /// Time neither running nor waiting for a processor.
        public var blocked: Int64 { max(0, present - running - waiting) }
    }

    public var threads: [Schedule]
    /// The total time between the marks, in nanoseconds.
    public var duration: Int64

    public init(threads: [Schedule], duration: Int64) { (self.threads, self.duration) = (threads, duration) }

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
        let sorted = threads.sorted { ($1.blocked, $0.id) < ($0.blocked, $1.id) }.map { thread in
            OffCPU.ThreadTime(
                id: thread.id, name: thread.name, running: thread.running, waiting: thread.waiting,
                blocked: thread.blocked, voluntary: Int(thread.voluntary), involuntary: Int(thread.involuntary))
        }
        return OffCPU.lines(of: sorted, duration: duration, operations, count)
            + ["reasons for waits, and wake-ups: unknown without perf"]
    }
}
