import CLinux
import Dispatch
import OpBenchModel

/// Classes of urgency on Dispatch: a queue of another quality of service for each.
final class DispatchLevels: RoundBackend, @unchecked Sendable {
    /// By ascending urgency.
    private static let levels: [DispatchQoS] = [.background, .utility, .default, .userInitiated, .userInteractive]

    private let plan: WorkloadPlan
    private let classes: [UInt8]
    /// By class.
    private let qualities: [DispatchQoS]
    private let body: OperationBody
    private let group = DispatchGroup()
    private let notifications = Notifications()
    private var queues: [DispatchQueue] = []

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        classes = plan.classes?.ofOperation ?? []
        qualities = plan.classLevels.map { Self.levels[$0] }
    }

    static func support(_ plan: WorkloadPlan) -> Support {
        if plan.limit != nil {
            return .unsupported(reason: "five queues by quality of service have no common limit")
        }
        if plan.threadPriorities != nil, !qualityOfServiceSetsNice {
            return .unsupported(reason: "quality of service does not change a thread's nice value on this system")
        }
        return .full(note: "five queues by quality of service")
    }

    func build() {
        for quality in qualities {
            queues.append(
                plan.startsSuspended
                    ? DispatchQueue(label: "opbench.level", qos: quality, attributes: .concurrent)
                    : DispatchQueue.global(qos: quality.qosClass))
        }
        if plan.startsSuspended { suspend() }
    }

    func submit(_ part: Range<Int>) {
        for operation in part {
            let queue = queues[Int(classes[operation])]
            body.willSubmit(operation)
            if body.wantsNotification(operation) {
                let own = DispatchGroup()
                queue.async(group: own) { [body] in body.run(operation) }
                own.notify(queue: queue, execute: notifications.block(operation, body))
            } else {
                queue.async(group: group) { [body] in body.run(operation) }
            }
            body.didSubmit(operation)
        }
    }

    func release() { resume() }

    func drain() {
        group.wait()
        notifications.wait()
    }

    func teardown() { queues = [] }

    func suspend() { for queue in queues { queue.suspend() } }

    func resume() { for queue in queues.reversed() { queue.resume() } }

    /// Asked of the system once: the nice value in force on a queue of the lowest quality of service.
    static let qualityOfServiceSetsNice: Bool = {
        nonisolated(unsafe) var lowest = clinux_thread_nice(0)
        let here = lowest
        let read = DispatchSemaphore(value: 0)
        DispatchQueue.global(qos: .background).async {
            lowest = clinux_thread_nice(0)
            read.signal()
        }
        read.wait()
        return lowest != here
    }()
}
