import Glibc
import Synchronization

/// The times of a program's operations, from when each was added to the end of its body.
public final class Stopwatch: Sendable {
    private struct Times {
        var first = Int64.max
        var last = Int64.min
        var latencies: [Int64] = []
    }

    private let times = Mutex(Times())

    public init() {}

    /// The monotonic clock, in nanoseconds.
    public static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Notes the end of an operation that was added at `added`.
    public func note(since added: Int64) {
        let now = Self.now
        times.withLock {
            $0.first = min($0.first, added)
            $0.last = max($0.last, now)
            $0.latencies.append(now - added)
        }
    }

    /// The number of operations, their number per second from the first's addition to the last's end, and percentiles of
    /// their latencies, as a line of JSON.
    public var line: String {
        times.withLock {
            let sorted = $0.latencies.sorted()
            func milliseconds(_ percent: Int) -> Double {
                Double(sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]) / 1e6
            }
            let rate = Double(sorted.count) * 1e9 / Double($0.last - $0.first)
            return """
                {"operations": \(sorted.count), "completions_per_s": \(rate), \
                "p50_ms": \(milliseconds(50)), "p99_ms": \(milliseconds(99))}
                """
        }
    }
}
