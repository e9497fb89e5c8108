import Dispatch
import OpBenchBackends
import OpBenchModel

/// The submitting threads. A single producer is the calling thread; several are threads that wait between rounds.
final class Producers: @unchecked Sendable {
    private let plan: WorkloadPlan
    private let parts: [Range<Int>]
    private var starts: [DispatchSemaphore] = []
    private let done = DispatchSemaphore(value: 0)
    private var threads: [OwnThread] = []
    /// The work of each producer on its part. Written only while all producers wait.
    private var task: ((Range<Int>) -> Void)?

    init(_ plan: WorkloadPlan) {
        self.plan = plan
        parts = plan.parts
        guard parts.count > 1 else { return }
        starts = parts.map { _ in DispatchSemaphore(value: 0) }
        threads = parts.indices.map { index in
            OwnThread { [unowned self] in
                while true {
                    starts[index].wait()
                    guard let task else { return }
                    task(parts[index])
                    done.signal()
                }
            }
        }
    }

    /// Submits the whole plan; returns when every submitting call has returned.
    func submit(to backend: any RoundBackend) -> Pace {
        guard parts.count > 1 else { return Pacer(plan: plan).submit(to: backend) }
        each { backend.submit($0) }
        return Pace()
    }

    /// Cancels the plan's chosen operations, each producer in its own part; returns when every call has returned.
    func cancel(on backend: any RoundBackend) {
        guard parts.count > 1 else { return backend.cancel(parts[0]) }
        each { backend.cancel($0) }
    }

    private func each(_ task: @escaping (Range<Int>) -> Void) {
        self.task = task
        for start in starts { start.signal() }
        for _ in parts { done.wait() }
        self.task = nil
    }

    /// Ends the threads.
    func dismiss() {
        for start in starts { start.signal() }
        for thread in threads { thread.join() }
    }
}
