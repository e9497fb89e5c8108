import CLinuxMeasure
import OpBenchBackends
import OpBenchModel

/// A sample that counts a plan's kernel calls: one round under the tracer, untimed, since every counted call stops its
/// thread for some microseconds.
struct CallTrial {
    let trial: Trial

    func run(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .marked)
        defer { body.deallocate() }
        var (before, drained): (clinux_calls?, clinux_calls?) = (nil, nil)
        _ = Round.run(trial.plan, by: trial.factory, body, producers: producers) { mark in
            if mark == .before { before = CallCounter.read() }
            if mark == .drained { drained = CallCounter.read() }
        }
        trial.judge(body, into: &report)
        guard let before, let drained else {
            return report.note("calls were not counted, because ptrace(2) or seccomp(2) is not permitted here")
        }
        let operations = trial.plan.operationCount
        report.add(
            .futexCalls, "total", Double(drained.futex - before.futex), phase: "total", operations: operations)
        // The pool's threads outlive the warm-up, which created most of them.
        report.add(
            .threadsCreated, "total", Double(Int(drained.threads) - OwnThread.count), operations: operations)
    }
}

/// Counts futex calls and threads of this process, in a tracer outside it.
enum CallCounter {
    /// Written by `begin`, before there is a second thread.
    nonisolated(unsafe) private static var calls: UnsafePointer<clinux_calls>?

    /// Continues in a new process, which the old one traces; see `clinux_count_calls`. Call it only while the process
    /// has one thread.
    static func begin() { calls = clinux_count_calls().map { UnsafePointer($0) } }

    /// The counts; nil if the process is not traced.
    static func read() -> clinux_calls? { calls?.pointee }
}
