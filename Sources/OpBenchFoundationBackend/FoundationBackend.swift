import OpBenchBackends

/// Foundation's queues, used as its documentation shows.
package enum FoundationBackend {
    package static let factory = QueueBackend.factory(id: .foundation, guarantees: [], support: support)

    private static func support(_ plan: WorkloadPlan) -> Support {
        switch plan.shape {
        case .threadPriority: .unsupported(reason: "Foundation on Linux has no threadPriority")
        case .observers where plan.observers != 0:
            .full(note: "a completion block calls the observers: Foundation on Linux has no key-value observing")
        default: .full()
        }
    }
}
