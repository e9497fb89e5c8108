import CLinuxMeasure
import OpBenchModel

/// CPU work of a known length: a loop in C that touches no memory and that the compiler cannot see through, counted in
/// iterations. The parent measures the iterations per nanosecond once per run and hands them to every child, so that
/// all samples of a run do the same work.
package struct WorkKernel: Sendable, Codable, Equatable {
    package var iterationsPerNanosecond: Double

    package init(iterationsPerNanosecond: Double) { self.iterationsPerNanosecond = iterationsPerNanosecond }

    /// One iteration per nanosecond, for counts, which a run's calibration must not change.
    package static let nominal = WorkKernel(iterationsPerNanosecond: 1)

    /// More than the range of any processor: a work of 10⁹ ns must fit into a word.
    package static let plausible = 1e-6...1e6

    package enum CodingKeys: String, CodingKey {
        case iterationsPerNanosecond = "iterations_per_ns"
    }

    /// Iterations for that much work; 0 nanoseconds are 0 iterations, anything else at least one.
    package func iterations(nanoseconds: Int) -> UInt64 {
        nanoseconds == 0 ? 0 : UInt64(max(1, (Double(nanoseconds) * iterationsPerNanosecond).rounded()))
    }

    @inline(__always)
    package static func run(_ iterations: UInt64) { clinux_burn(iterations) }

    /// Takes about 60 ms. The fastest of many short attempts counts: disturbances only slow one down.
    package static func calibrate() -> WorkKernel {
        let iterations: UInt64 = 200_000
        let end = MonotonicClock.now() + 60_000_000
        var best = Int64.max
        repeat {
            let start = MonotonicClock.now()
            run(iterations)
            best = min(best, MonotonicClock.now() - start)
        } while MonotonicClock.now() < end
        return WorkKernel(iterationsPerNanosecond: Double(iterations) / Double(max(1, best)))
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
            (bodies + index).initialize(to: (kernel.iterations(nanoseconds: work), Int64(replay.waits[index])))
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
