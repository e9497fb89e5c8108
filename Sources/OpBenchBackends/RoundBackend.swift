import OpBenchModel

/// Executes the rounds of a plan. One object is one round: made, built, submitted, drained, torn down, dropped. A paced
/// plan is submitted and drained in many parts.
///
/// A backend reads no clock: the trial calls the phases between its own readings. All phases are called on one thread
/// but `submit` and `cancel`, which several producers call at once, each with its part, and `suspend`/`resume`, which
/// the storm's thread calls meanwhile.
package protocol RoundBackend: AnyObject, Sendable {
    /// Makes the queues, and the operations where the form has any before they are submitted. A plan that starts
    /// suspended leaves its queues suspended.
    func build()
    /// Submits one part of the submission sequence.
    func submit(_ part: Range<Int>)
    /// Lets the queues run. Called once, before `drain`, and only if the plan starts suspended.
    func release()
    /// Returns when every operation submitted so far has ended. A paced plan waits so between its bursts.
    func drain()
    /// Releases every object.
    func teardown()
    /// Cancels the operations of one part that the plan has chosen. Called, by the producers, between the last `submit`
    /// and `release`, in plans with a cancellation only.
    func cancel(_ part: Range<Int>)
    /// Reports the cancelled operations to the body, after the clock has stopped, if only their objects know.
    func attest()
    /// Stops new operations from starting; in balance with `resume`.
    func suspend()
    func resume()
}

/// Methods that do nothing unless a backend implements them.
extension RoundBackend {
    package func build() {}
    package func release() {}
    package func teardown() {}
    package func suspend() {}
    package func resume() {}
    package func cancel(_ part: Range<Int>) {}
    package func attest() {}
}

/// Whether a backend can express a plan.
package enum Support: Sendable, Equatable {
    /// It can; the note names what differs in meaning, if anything does.
    case full(note: String = "")
    case unsupported(reason: String)
}

/// How a backend executes the plans of a shape.
package struct Way: Sendable {
    package let support: @Sendable (WorkloadPlan) -> Support
    /// Whether all operations can be held pending at once, as the memory mark `pending` needs.
    package let canHoldPending: @Sendable (WorkloadPlan) -> Bool
    package let make: @Sendable (WorkloadPlan, OperationBody) -> any RoundBackend
    /// The side that keeps operations in order, where they have one.
    package private(set) var axis: @Sendable (WorkloadPlan) -> Axis? = { _ in nil }

    package init(
        support: @escaping @Sendable (WorkloadPlan) -> Support = { _ in .full() },
        canHoldPending: @escaping @Sendable (WorkloadPlan) -> Bool = { !$0.isRefill },
        make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any RoundBackend
    ) {
        self.support = support
        self.canHoldPending = canHoldPending
        self.make = make
    }

    /// One that differs in meaning, whatever the plan.
    package init(note: String, make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any RoundBackend) {
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
