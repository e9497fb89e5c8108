import OpBenchModel

/// A backend by its name: what it can express, what it promises, how to make one.
package struct BackendFactory: Sendable {
    package let id: BackendID
    package let guarantees: BackendGuarantees
    /// The kinds of sample that mean something for it.
    package let kinds: Set<SampleKind>
    /// Records the events of its threads; nil if its library reports none.
    package let threadEvents: EngineThreadEvents?
    /// How it executes shapes.
    private let ways: [Shape: Way]
    /// The reasons for shapes without a way.
    private let refusals: [Shape: String]
    /// The reason for all others.
    private let otherwise: String

    /// - Parameters:
    ///   - ways: how it executes shapes.
    ///   - refusals: the reasons for shapes without a way.
    ///   - otherwise: the reason for all others.
    ///   - threadEvents: records what its library reports about threads.
    package init(
        id: BackendID, guarantees: BackendGuarantees, kinds: Set<SampleKind> = Set(SampleKind.allCases),
        ways: [Shape: Way], refusals: [Shape: String] = [:],
        otherwise: String = "it has no way to execute the shape", threadEvents: EngineThreadEvents? = nil
    ) {
        self.id = id
        self.guarantees = guarantees
        self.kinds = kinds
        self.ways = ways
        self.refusals = refusals
        self.otherwise = otherwise
        self.threadEvents = threadEvents
    }

    /// Whether it can express a plan.
    package func supports(_ plan: WorkloadPlan) -> Support {
        ways[plan.way]?.support(plan) ?? .unsupported(reason: refusals[plan.way] ?? otherwise)
    }

    /// Whether all operations can be held pending at once, as the memory mark `pending` needs.
    package func canHoldPending(_ plan: WorkloadPlan) -> Bool { ways[plan.way]?.canHoldPending(plan) ?? false }

    /// The axis on which it executes a plan; nil if no operation follows another.
    package func axis(of plan: WorkloadPlan) -> Axis? { plan.isOrdered ? ways[plan.way]?.axis(plan) : nil }

    /// Returns a function that makes a backend for each round of a supported plan. Call it before the clock starts.
    package func maker(for plan: WorkloadPlan) -> @Sendable (WorkloadPlan, OperationBody) -> any RoundBackend {
        guard let way = ways[plan.way] else {
            preconditionFailure("\(id.rawValue) does not support \(plan.shape.rawValue)")
        }
        return way.make
    }
}

/// An event of a thread, other than an operation, as a library reports it.
package struct ThreadEvent: Sendable {
    package var kind: ThreadStep
    /// A reading of `MonotonicClock`.
    package var time: Int64
    /// The kernel's number of the thread.
    package var thread: Int32
    /// Another thread: the one that is woken, or has woken this one.
    package var other: Int32?

    package init(_ kind: ThreadStep, time: Int64, thread: Int32, other: Int32?) {
        (self.kind, self.time, self.thread, self.other) = (kind, time, thread, other)
    }
}
