import OpBenchBackends

/// A short fixed loop, to see how fast the machine is just now.
enum ReferenceLoop {
    /// What the loop takes on an undisturbed machine, in nanoseconds.
    static let nominal = 100_000

    /// The best of three.
    static func run(_ kernel: WorkKernel) -> Int64 {
        var best = Int64.max
        for _ in 0..<3 {
            let start = MonotonicClock.now()
            WorkKernel.run(kernel.iterations(nanoseconds: nominal))
            best = min(best, MonotonicClock.now() - start)
        }
        return best
    }
}
