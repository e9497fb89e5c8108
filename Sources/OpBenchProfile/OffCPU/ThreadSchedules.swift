/// How long threads ran and waited between the marks, as the kernel counts it for each, where it does not tell about each
/// switch.
public struct ThreadSchedules: Equatable, Sendable, Codable {
    public struct Schedule: Equatable, Sendable, Codable {
        public var id: Int32
        public var name: String
        /// In nanoseconds.
        public var running: Int64
        /// For a processor, in nanoseconds.
        public var waiting: Int64
        public var voluntary: Int64
        public var involuntary: Int64
        /// Between marks while the thread was there, in nanoseconds.
        public var present: Int64

        public init(
            id: Int32, name: String, running: Int64, waiting: Int64, voluntary: Int64, involuntary: Int64,
            present: Int64
        ) {
            (self.id, self.name, self.running, self.waiting) = (id, name, running, waiting)
            (self.voluntary, self.involuntary, self.present) = (voluntary, involuntary, present)
        }

        /// Neither running nor waiting for a processor.
        public var blocked: Int64 { max(0, present - running - waiting) }
    }

    public var threads: [Schedule]
    /// Between the marks, in nanoseconds.
    public var duration: Int64

    public init(threads: [Schedule], duration: Int64) { (self.threads, self.duration) = (threads, duration) }

    /// With the names of a map of numbers.
    public func named(_ names: [Int32: String]) -> ThreadSchedules {
        var named = self
        for index in named.threads.indices {
            named.threads[index].name = names[threads[index].id] ?? threads[index].name
        }
        return named
    }

    /// What a terminal shows: a line each, without line ends. Names are as they were given.
    ///
    /// - Parameters:
    ///   - operations: between the marks; 0 if it is not known.
    ///   - count: of threads.
    public func lines(operations: Int, threads count: Int = 8) -> [String] {
        guard !threads.isEmpty else { return ["no thread"] }
        let sorted = threads.sorted { ($1.blocked, $0.id) < ($0.blocked, $1.id) }.map { thread in
            OffCPU.ThreadTime(
                id: thread.id, name: thread.name, running: thread.running, waiting: thread.waiting,
                blocked: thread.blocked, voluntary: Int(thread.voluntary), involuntary: Int(thread.involuntary))
        }
        return OffCPU.lines(of: sorted, duration: duration, operations, count)
            + ["what they waited for, and who woke whom: not known without perf"]
    }
}
