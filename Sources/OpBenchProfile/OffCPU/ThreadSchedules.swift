/// How long threads ran and waited between the marks, as the kernel counts it for each, where it does not tell about each
/// switch.
public struct ThreadSchedules: Equatable, Sendable, Codable {
    public struct Thread: Equatable, Sendable, Codable {
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

    public var threads: [Thread]
    /// Between the marks, in nanoseconds.
    public var duration: Int64

    public init(threads: [Thread], duration: Int64) { (self.threads, self.duration) = (threads, duration) }

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
        let switches = Double(threads.reduce(0) { $0 + $1.voluntary + $1.involuntary })
        var lines = [
            "\(ProfileText.time(duration)) of \(threads.count) threads: "
                + "\(ProfileText.time(threads.reduce(0) { $0 + $1.running })) running, "
                + "\(ProfileText.time(threads.reduce(0) { $0 + $1.waiting })) waiting for a processor, "
                + "\(ProfileText.time(threads.reduce(0) { $0 + $1.blocked })) blocked",
            "switches: \(ProfileText.count(switches))"
                + (operations > 0 ? ", \(ProfileText.digits(switches / Double(operations))) an operation" : ""),
        ]
        let sorted = threads.sorted { ($1.blocked, $0.id) < ($0.blocked, $1.id) }
        for thread in sorted.prefix(count) {
            lines.append(
                "  \(thread.name): \(ProfileText.time(thread.running)) running, "
                    + "\(ProfileText.time(thread.waiting)) waiting for a processor, "
                    + "\(ProfileText.time(thread.blocked)) blocked; \(thread.voluntary) times by itself, "
                    + "\(thread.involuntary) times preempted")
        }
        if threads.count > count { lines.append("  and \(threads.count - count) more threads") }
        return lines + ["what they waited for, and who woke whom: not known without perf"]
    }
}
