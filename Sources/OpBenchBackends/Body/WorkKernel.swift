import CLinuxMeasure
import OpBenchModel

/// CPU work of a known length: a loop in C that touches no memory and that the compiler cannot see through, counted in
/// iterations. The parent measures the iterations per nanosecond once per run and hands them to every child, so that
/// all samples of a run do the same work.
package struct WorkKernel: Sendable, Codable, Equatable {
    /// Its greatest speed, which hardly changes between calibrations.
    package var iterationsPerNanosecond: Double
    /// How many times as much CPU time it takes on average as at that speed: more than 1 where the clock rate varies, or
    /// others share the processor's core. Nil if unknown.
    package var meanSlowdown: Double?

    package init(iterationsPerNanosecond: Double, meanSlowdown: Double? = nil) {
        (self.iterationsPerNanosecond, self.meanSlowdown) = (iterationsPerNanosecond, meanSlowdown)
    }

    /// One iteration per nanosecond, for counts, which a run's calibration must not change.
    package static let nominal = WorkKernel(iterationsPerNanosecond: 1)

    /// More than the range of any processor: a work of 10⁹ ns must fit into a word.
    package static let plausible = 1e-6...1e6
    package static let plausibleSlowdowns = 1.0...100

    package enum CodingKeys: String, CodingKey {
        case iterationsPerNanosecond = "iterations_per_ns"
        case meanSlowdown = "mean_slowdown"
    }

    /// Iterations for that much work; 0 nanoseconds are 0 iterations, anything else at least one.
    package func iterations(nanoseconds: Int) -> UInt64 {
        nanoseconds == 0 ? 0 : UInt64(max(1, (Double(nanoseconds) * iterationsPerNanosecond).rounded()))
    }

    /// Iterations that take so much CPU time on average, as a program does whose CPU time was measured.
    package func iterations(meanNanoseconds: Int) -> UInt64 {
        iterations(nanoseconds: Int((Double(meanNanoseconds) / (meanSlowdown ?? 1)).rounded(.up)))
    }

    @inline(__always)
    package static func run(_ iterations: UInt64) { clinux_burn(iterations) }

    /// Takes about 60 ms. The fastest of many short attempts counts: disturbances only slow one down.
    package static func calibrate() -> WorkKernel {
        let iterations: UInt64 = 200_000
        let (end, used) = (MonotonicClock.now() + 60_000_000, MonotonicClock.threadCPU())
        var (best, attempts) = (Int64.max, 0.0)
        repeat {
            let start = MonotonicClock.now()
            run(iterations)
            best = max(1, min(best, MonotonicClock.now() - start))
            attempts += 1
        } while MonotonicClock.now() < end
        let mean = Double(MonotonicClock.threadCPU() - used) / attempts
        return WorkKernel(
            iterationsPerNanosecond: Double(iterations) / Double(best), meanSlowdown: max(1, mean / Double(best)))
    }
}

/// The work and the wait of each recorded operation. A pointer, without reference counting.
package struct RecordedBodies: @unchecked Sendable {
    /// Iterations of the kernel, and the nanoseconds of the wait.
    package typealias Body = (iterations: UInt64, wait: Int64)

    private let bodies: UnsafeMutablePointer<Body>

    package init(_ replay: Replay, _ kernel: WorkKernel) {
        bodies = .allocate(capacity: max(1, replay.work.count))
        for (index, work) in replay.work.enumerated() {
            (bodies + index).initialize(to: (kernel.iterations(meanNanoseconds: work), Int64(replay.waits[index])))
        }
    }

    package func deallocate() { bodies.deallocate() }

    @inline(__always)
    subscript(operation: Int) -> Body { bodies[operation] }
}

/// Work that occupies an operation's thread and no processor. One object per body, for all rounds.
package final class BlockedWork: @unchecked Sendable {
    private let blocking: Blocking
    private let operationCount: Int
    /// How the backend waits for an operation's end. Set between rounds only.
    package var wait: (@Sendable (Int) -> Void)?

    package init(_ blocking: Blocking, of operationCount: Int) {
        self.blocking = blocking
        self.operationCount = operationCount
    }

    /// The sleep of an operation that waits for no other one.
    var nanoseconds: Int64 { Int64(blocking.nanoseconds) }

    /// The operation that this one waits for; nil if it sleeps.
    func partner(of operation: Int) -> Int? { blocking.partner(of: operation, among: operationCount) }
}
