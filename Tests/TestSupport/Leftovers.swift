import Glibc
internal import OperationEngine
import Testing

/// Whether tests leave objects of the engine behind (contract Q7), for all that run with the trait `.blocking`.
///
/// Objects cannot be told apart by the test that made them. So the counts are looked at when a test has ended and no
/// other runs: after each test where tests run one by one, else now and then.
enum Leftovers {
    private struct Watch {
        var running = 0
        /// The tests that ran since the counts were last as they should be.
        var suspects: [String] = []
        /// What is there without any test's doing, or was found before.
        var known: [LiveObjects.Kind: Int]?
    }

    /// Tests that leave something behind, and what: no look follows them, nor those that run together with them.
    private static let exceptions = [
        "P7 P8 P11: barriers divide what one thread adds, through cancels, suspensions and changes of all kinds":
            "now and then one queue, empty, of hundreds; who holds it is not known"
    ]

    private static let watch = Guarded(Watch())

    static func testBegins(_ name: String) {
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
        watch.withLock { $0.running -= 1 }
        let deadline = ContinuousClock.now + HangLimit.wait
        while true {
            let counts = LiveObjects.counts
            let isLate = ContinuousClock.now > deadline
            var leftBehind: [String] = []
            let isSettled = watch.withLock { watch in
                guard watch.running == 0 else { return true }
                let isExcepted = watch.suspects.contains { exceptions[$0] != nil }
                guard counts == watch.known || isLate || isExcepted else { return false }
                if counts != watch.known, !isExcepted { leftBehind = watch.suspects }
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
