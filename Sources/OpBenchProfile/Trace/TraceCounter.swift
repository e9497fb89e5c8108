/// A count over time, derived from a trace's records.
public struct TraceCounter: Equatable, Sendable {
    public struct Point: Equatable, Sendable {
        public var time: TraceTime
        public var value: Int64
    }

    public var name: String
    /// Points in chronological order with distinct times; a value holds until the next point, and is 0 before the
    /// first.
    public var points: [Point]

    public var maximum: Int64 { points.reduce(0) { max($0, $1.value) } }

    /// - Parameters:
    ///   - up: the times of increments, in any order.
    ///   - down: the times of decrements, none before its increment.
    init(_ name: String, up: [TraceTime], down: [TraceTime]) {
        self.name = name
        let (up, down) = (up.sorted(), down.sorted())
        var (next, gone, value) = (0, 0, Int64(0))
        points = []
        while next < up.count || gone < down.count {
            let time = min(next < up.count ? up[next] : .max, gone < down.count ? down[gone] : .max)
            let before = value
            while next < up.count, up[next] == time { (next, value) = (next + 1, value + 1) }
            while gone < down.count, down[gone] == time { (gone, value) = (gone + 1, value - 1) }
            if value != before { points.append(Point(time: time, value: value)) }
        }
    }

    /// At most `limit` points: the time is cut into as many intervals, and the last point of each is kept. Every kept
    /// point is exact; peaks within an interval are lost.
    public func thinned(to limit: Int) -> TraceCounter {
        guard points.count > limit, limit > 0, let first = points.first, let last = points.last else { return self }
        let width = max(1, (last.time - first.time) / Int64(limit) + 1)
        var thinned = self
        thinned.points = []
        for (index, point) in points.enumerated() {
            let isLast =
                index + 1 == points.count
                || (points[index + 1].time - first.time) / width != (point.time - first.time) / width
            if isLast { thinned.points.append(point) }
        }
        return thinned
    }
}

extension SampleTrace {
    /// With more queues than this, only their sum has a counter.
    static let mostQueueCounters = 16

    /// - `waiting`: submitted, but not ready;
    /// - `ready`: not started yet;
    /// - `running`: in their bodies;
    /// - `depth`, of all queues and of each: submitted and not ended, including running operations, like
    ///   `operationCount`;
    /// - `workers`: existing threads of that role; one without a `begin` event exists from the beginning;
    /// - `awake`: workers that are not parked.
    public func counters() -> [TraceCounter] {
        // An event that did not happen counts until the sample's end. Cancelled operations leave at their end.
        func time(_ times: TraceTime...) -> TraceTime { times.first { $0 != .absent } ?? max(stop, lastTime) }
        let lastTime = lastTime
        let submits = operations.map(\.submit)
        let readies = operations.map { time($0.ready, $0.end) }
        let starts = operations.map { time($0.start, $0.end) }
        let ends = operations.map { time($0.end) }
        let executed = operations.filter { $0.start != .absent }
        var counters = [
            TraceCounter("waiting", up: submits, down: readies),
            TraceCounter("ready", up: readies, down: starts),
            TraceCounter("running", up: executed.map(\.start), down: executed.map { time($0.end) }),
            TraceCounter("depth", up: submits, down: ends),
        ]
        if queues.count > 1, queues.count <= Self.mostQueueCounters {
            for queue in queues.indices {
                let own = operations.filter { $0.queue == queue }
                counters.append(
                    TraceCounter(
                        "depth of \(queues[queue].name)", up: own.map(\.submit), down: own.map { time($0.end) }))
            }
        }
        return counters + workerCounters()
    }

    /// The latest time of any operation.
    var lastTime: TraceTime {
        operations.reduce(.min) { latest, operation in
            [operation.submit, operation.ready, operation.start, operation.end, operation.notified]
                .reduce(latest) { $1 == .absent ? $0 : max($0, $1) }
        }
    }

    private func workerCounters() -> [TraceCounter] {
        let isWorker = threads.map { $0.role == .worker }
        let events = threadEvents.filter { isWorker[Int($0.thread)] }.sorted { $0.time < $1.time }
        let begun = Set(events.filter { $0.kind == .begin }.map(\.thread))
        let origin = min(0, operations.reduce(0) { min($0, $1.submit) }, events.first?.time ?? 0)
        var (born, died, awake, asleep): ([TraceTime], [TraceTime], [TraceTime], [TraceTime]) = ([], [], [], [])
        var isParked = [Bool](repeating: false, count: threads.count)
        for index in threads.indices where isWorker[index] && !begun.contains(UInt16(index)) {
            born.append(origin)
            awake.append(origin)
        }
        for event in events {
            let thread = Int(event.thread)
            switch event.kind {
            case .begin:
                born.append(event.time)
                awake.append(event.time)
            case .end:
                died.append(event.time)
                if !isParked[thread] { asleep.append(event.time) }
            case .park where !isParked[thread]:
                isParked[thread] = true
                asleep.append(event.time)
            case .unpark where isParked[thread]:
                isParked[thread] = false
                awake.append(event.time)
            default: continue
            }
        }
        return [TraceCounter("workers", up: born, down: died), TraceCounter("awake", up: awake, down: asleep)]
    }
}
