#if Metrics
    import CoreMetrics
    import OperationEngine

    /// Publishes the counts of queues, and of the engine's threads, to swift-metrics.
    ///
    /// `publish()` publishes once, `run(every:)` at intervals; between two publications nothing is counted for them. One
    /// publisher for a program is enough: a second one would add the same counts to the counters again.
    ///
    /// | metric | kind | |
    /// | --- | --- | --- |
    /// | `operation_queue.added`, `.started`, `.finished`, `.cancelled` | counter | since the queue was made |
    /// | `operation_queue.waiting`, `.ready`, `.running` | gauge | now |
    /// | `operation_queue.oldest_wait_seconds` | gauge | `OperationQueue.Metrics.oldestWait`, too short by an interval at most |
    /// | `operation_engine.wake_ups`, `.threads_requested` | counter | since the process began |
    /// | `operation_engine.workers`, `.threads`, `.running`, `.idle`, `.blocked`, `.pending` | gauge | now |
    ///
    /// Those of queues have the dimension `queue`, the queue's name. Their meanings are those of
    /// `OperationQueue.Metrics` and `OperationQueue.EngineMetrics` (contract X5). Every member may be used from any thread.
    public final class MetricsPublisher: Sendable {
        private let queues: [(queues: [OperationQueue], instruments: Instruments<OperationQueue.Metrics>, wait: Gauge)]
        private let engine: Instruments<OperationQueue.EngineMetrics>

        /// Makes the metrics, and publishes nothing yet. They are destroyed when the publisher is released.
        ///
        /// - Parameters:
        ///   - queues: the queues, which the publisher keeps alive. Give them names before: names are read here, and
        ///     each one makes eight metrics. Queues of one name share them, as the sums of their counts, and the longest
        ///     wait.
        ///   - factory: the metrics' destination; by default the one that `MetricsSystem.bootstrap` has set, so
        ///     bootstrap first.
        public init(queues: [OperationQueue] = [], factory: any MetricsFactory = MetricsSystem.factory) {
            self.queues = Dictionary(grouping: queues) { $0.name ?? "" }.map { name, queues in
                let dimensions = [("queue", name)]
                let instruments = Instruments<OperationQueue.Metrics>(
                    "operation_queue", dimensions, factory,
                    counters: [
                        ("added", \.added), ("started", \.started), ("finished", \.finished),
                        ("cancelled", \.cancelled),
                    ],
                    gauges: [("waiting", \.waiting), ("ready", \.ready), ("running", \.running)])
                let wait = Gauge(
                    label: "operation_queue.oldest_wait_seconds", dimensions: dimensions, factory: factory)
                return (queues, instruments, wait)
            }
            engine = Instruments(
                "operation_engine", [], factory,
                counters: [("wake_ups", \.wakeUps), ("threads_requested", \.threadsRequested)],
                gauges: [
                    ("workers", \.workers), ("threads", \.threads), ("running", \.running), ("idle", \.idle),
                    ("blocked", \.blocked), ("pending", \.pending),
                ])
        }

        deinit {
            for (_, _, wait) in queues { wait.destroy() }
        }

        /// Reads the counts, and sets the metrics to them. Calls the factory's handlers on this thread, with no lock held.
        public func publish() {
            for (queues, instruments, wait) in queues {
                let readings = instruments.publish { queues.map(\.metrics) }
                wait.record((readings.map(\.oldestWait).max() ?? .zero) / .seconds(1))
            }
            _ = engine.publish { [OperationQueue.engineMetrics] }
        }

        /// Publishes now and then at each interval, until the task is cancelled; then publishes once more, and returns.
        ///
        /// It keeps the task, and no thread.
        ///
        /// - Parameter interval: the time between two publications, more than zero.
        public func run(every interval: Duration) async {
            precondition(interval > .zero, "MetricsPublisher.run(every:) needs an interval above zero, not \(interval)")
            // `Task.sleep` traps for durations that the clock cannot add up. This one is 300 years.
            let interval = min(interval, .seconds(1 << 33))
            repeat { publish() } while (try? await Task.sleep(for: interval)) != nil
            publish()
        }
    }
#endif
