import OpBenchModel

/// Whether a backend can express a plan.
package enum Support: Sendable, Equatable {
    /// It can; the note names what differs in meaning, if anything does.
    case full(note: String = "")
    case unsupported(reason: String)
}

/// How a backend executes the plans that need one capability.
package struct Way: Sendable {
    package let support: @Sendable (WorkloadPlan) -> Support
    /// Whether all operations can be held pending at once, as the memory mark `pending` needs.
    package let canHoldPending: @Sendable (WorkloadPlan) -> Bool
    package let make: @Sendable (WorkloadPlan, OperationBody) -> any Backend
    /// The side that keeps operations in order, where they have one.
    package private(set) var axis: @Sendable (WorkloadPlan) -> Axis? = { _ in nil }

    package init(
        support: @escaping @Sendable (WorkloadPlan) -> Support = { _ in .full() },
        canHoldPending: @escaping @Sendable (WorkloadPlan) -> Bool = { !$0.isRefill },
        make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any Backend
    ) {
        self.support = support
        self.canHoldPending = canHoldPending
        self.make = make
    }

    /// One that differs in meaning, whatever the plan.
    package init(note: String, make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any Backend) {
        self.init(support: { _ in .full(note: note) }, make: make)
    }

    /// The same, on an axis.
    package func on(_ axis: Axis) -> Way { on { _ in axis } }

    /// The same, on an axis that depends on the plan.
    package func on(_ axis: @escaping @Sendable (WorkloadPlan) -> Axis?) -> Way {
        var way = self
        way.axis = axis
        return way
    }
}
