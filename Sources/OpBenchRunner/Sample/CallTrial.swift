import CLinuxMeasure
import OpBenchBackends
import OpBenchModel

/// The sample that counts what a plan asks of the kernel: one round under the tracer, untimed, since every counted call
/// stops its thread for some microseconds.
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
            return report.note("calls were not counted: ptrace(2) or seccomp(2) is not permitted here")
        }
        let operations = trial.plan.operationCount
        report.add(
            .futexCalls, "total", Double(drained.futex - before.futex), phase: "total", operations: operations)
        // The pool's threads outlast the warm-up, in which most of them were made.
        report.add(
            .threadsCreated, "total", Double(Int(drained.threads) - OwnThread.count), operations: operations)
    }
}
