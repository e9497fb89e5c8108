/// Wake-ups between threads and their delays, from the threads' own events.
public struct WakeUps: Equatable, Sendable {
    /// All wake-ups of one thread by another, or by an unknown waker.
    public struct Pair: Equatable, Sendable {
        /// The waker's index in `SampleTrace.threads`; nil if unknown.
        public var waker: Int?
        public var woken: Int
        public var count: Int
        /// Time from the waker's event to the woken thread's, in nanoseconds, over wake-ups that have both events.
        public var total: Int64
        public var longest: Int64
    }

    /// Pairs by frequency in descending order, then by threads.
    public let pairs: [Pair]
    /// The number of times that threads went to sleep.
    public let parks: Int
    /// The number of system calls that wake a thread.
    public let wakes: Int
    /// The number of those for a thread that was not parked.
    public let vainWakes: Int
    /// The parked time of each thread up to the stop mark, by index in the trace.
    public let parkedTime: [Int64]

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
    public init(_ trace: SampleTrace) {
        var (parks, wakes, vain) = (0, 0, 0)
        var parkedSince = [TraceTime?](repeating: nil, count: trace.threads.count)
        var wokenAt = [(waker: UInt16, time: TraceTime)?](repeating: nil, count: trace.threads.count)
        var parkedTime = [Int64](repeating: 0, count: trace.threads.count)
        var pairs: [[Int]: Pair] = [:]
        // A wake-up at the time of the park counts as after it.
        let order: [TracedThreadEvent.Kind: Int] = [.park: 0, .wake: 1]
        let events = trace.threadEvents.sorted {
            ($0.time, $0.kind.flatMap { order[$0] } ?? 2) < ($1.time, $1.kind.flatMap { order[$0] } ?? 2)
        }
        for event in events {
            let thread = Int(event.thread)
            switch event.kind {
            case .park:
                parks += 1
                parkedSince[thread] = parkedSince[thread] ?? event.time
            case .wake:
                wakes += 1
                if parkedSince[Int(event.other)] == nil {
                    vain += 1
                } else {
                    wokenAt[Int(event.other)] = wokenAt[Int(event.other)] ?? (event.thread, event.time)
                }
            case .unpark:
                guard let since = parkedSince[thread] else { continue }
                parkedTime[thread] += event.time - since
                parkedSince[thread] = nil
                let wake = wokenAt[thread]
                wokenAt[thread] = nil
                let waker = event.other != TracedOperation.unknown ? event.other : wake?.waker
                let key = [waker.map { Int($0) } ?? -1, thread]
                var pair =
                    pairs[key] ?? Pair(waker: waker.map { Int($0) }, woken: thread, count: 0, total: 0, longest: 0)
                pair.count += 1
                if let wake, wake.waker == waker {
                    pair.total += event.time - wake.time
                    pair.longest = max(pair.longest, event.time - wake.time)
                }
                pairs[key] = pair
            default: continue
            }
        }
        for (thread, since) in parkedSince.enumerated() {
            if let since { parkedTime[thread] += max(0, trace.stop - since) }
        }
        self.pairs = pairs.sorted { ($1.value.count, $0.key[0], $0.key[1]) < ($0.value.count, $1.key[0], $1.key[1]) }
            .map(\.value)
        (self.parks, self.wakes, vainWakes, self.parkedTime) = (parks, wakes, vain, parkedTime)
    }
}
