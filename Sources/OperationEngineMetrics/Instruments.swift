#if Metrics
    import CoreMetrics
    import Synchronization

    /// Counters and gauges that show the sums of some readings.
    ///
    /// Safe for several threads: `given` alone changes. It is locked from the reading until the sums are noted, so what
    /// a counter is to grow by is taken from it once, by one thread. Handlers are called after that. So two threads that
    /// publish at once may set a gauge in the wrong order, until the next time.
    final class Instruments<Reading>: Sendable {
        typealias Count = any KeyPath<Reading, Int> & Sendable

        private let counters: [(count: Count, counter: Counter)]
        private let gauges: [(count: Count, gauge: Gauge)]
        /// The highest sum of each counter so far.
        private let given: Mutex<[Int]>

        init(
            _ prefix: String, _ dimensions: [(String, String)], _ factory: any MetricsFactory,
            counters: [(name: String, count: Count)], gauges: [(name: String, count: Count)]
        ) {
            self.counters = counters.map { name, count in
                (count, Counter(label: "\(prefix).\(name)", dimensions: dimensions, factory: factory))
            }
            self.gauges = gauges.map { name, count in
                (count, Gauge(label: "\(prefix).\(name)", dimensions: dimensions, factory: factory))
            }
            given = Mutex([Int](repeating: 0, count: counters.count))
        }

        deinit {
            for (_, counter) in counters { counter.destroy() }
            for (_, gauge) in gauges { gauge.destroy() }
        }

        /// - Parameter read: reads the counts of each source; calls nothing of the program's.
        /// - Returns: the readings.
        func publish(_ read: () -> [Reading]) -> [Reading] {
            let (readings, growths) = given.withLock { given in
                let readings = read()
                // A count may fall: see `OperationQueue.Metrics.started`.
                let highest = zip(counters, given).map { max(Self.sum($0.count, readings), $1) }
                defer { given = highest }
                return (readings, zip(highest, given).map(-))
            }
            for ((_, counter), growth) in zip(counters, growths) where growth > 0 { counter.increment(by: growth) }
            for (count, gauge) in gauges { gauge.record(Self.sum(count, readings)) }
            return readings
        }

        private static func sum(_ count: Count, _ readings: [Reading]) -> Int {
            readings.reduce(0) { $0 + $1[keyPath: count] }
        }
    }
#endif
