import Glibc
internal import OperationEngine
import Testing

/// Whether tests leave objects of the engine behind (contract Q7), for all that run with the trait `.blocking`.
///
/// Objects do not show the test that made them. So this is for runs of the engine's tests alone, one by
/// one: `OPBENCH_TEST=leftovers swift test --no-parallel --filter OperationEngineTests`, as in `scripts/test`.
/// Elsewhere nothing is looked at.
enum Leftovers {
    private struct Watch {
        var running = 0
        /// The tests that ran since the counts were last as they should be.
        var suspects: [String] = []
        /// The objects that exist without any test, or were found before.
        var known: [LiveObjects.Kind: Int]?
    }

    private static let watch = Guarded(Watch())

    private static let isWatching = TestRun.has("leftovers")

    static func testBegins(_ name: String) {
        guard isWatching else { return }
        watch.withLock { watch in
            if watch.known == nil {
                // Made at its first use, for good.
                _ = OperationQueue.main
                watch.known = LiveObjects.counts
            }
            watch.running += 1
            watch.suspects.append(name)
        }
    }

    /// Looks at the counts if no other test runs. A worker may hold the last operation a little longer, so this waits,
    /// unless another test begins.
    static func testEnds() {
        guard isWatching else { return }
        watch.withLock { $0.running -= 1 }
        let patience = Patience()
        while true {
            let counts = LiveObjects.counts
            let isLate = patience.isOver()
            var leftBehind: [String] = []
            let isSettled = watch.withLock { watch in
                guard watch.running == 0 else { return true }
                guard counts == watch.known || isLate else { return false }
                if counts != watch.known { leftBehind = watch.suspects }
                watch.known = counts
                watch.suspects = []
                return true
            }
            if !leftBehind.isEmpty {
                Issue.record("alive after their tests: \(counts); one of these: \(leftBehind)")
            }
            if isSettled { return }
            sched_yield()
        }
    }
}
