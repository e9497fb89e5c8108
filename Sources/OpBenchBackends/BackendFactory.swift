import OpBenchModel

/// What a backend promises beyond running each operation once and after its predecessors, to which all are bound. Only
/// a broken promise makes a sample `invalid`; of the others the same figures are reported, no more.
package struct Guarantees: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Never more operations at once than an explicit limit.
    package static let limit = Guarantees(rawValue: 1)
    /// At limit 1, never past a more urgent operation that is ready.
    package static let priorityOrder = Guarantees(rawValue: 2)
    /// After suspend has returned, at most one start per running slot.
    package static let suspension = Guarantees(rawValue: 4)
}

/// Whether a backend can express a plan.
package enum Support: Sendable, Equatable {
    /// It can; the note names what differs in meaning, if anything does.
    case full(note: String = "")
    case unsupported(reason: String)
}

/// A backend by its name: what it can express, what it promises, how to make one.
package struct BackendFactory: Sendable {
    package let id: BackendID
    package let guarantees: Guarantees
    /// The kinds of sample that mean something for it.
    package let kinds: Set<SampleKind>
    package let support: @Sendable (WorkloadPlan) -> Support
    /// Whether all operations can be held pending at once, as the memory mark `pending` needs.
    package let canHoldPending: @Sendable (WorkloadPlan) -> Bool
    package let make: @Sendable (WorkloadPlan, OperationBody) -> any Backend

    package init(
        id: BackendID, guarantees: Guarantees, kinds: Set<SampleKind> = Set(SampleKind.allCases),
        support: @escaping @Sendable (WorkloadPlan) -> Support,
        canHoldPending: @escaping @Sendable (WorkloadPlan) -> Bool,
        make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any Backend
    ) {
        self.id = id
        self.guarantees = guarantees
        self.kinds = kinds
        self.support = support
        self.canHoldPending = canHoldPending
        self.make = make
    }

    /// What can be said of a plan's support; of a sequence, of all its phases.
    package func supports(_ plan: WorkloadPlan) -> Support {
        guard !plan.phases.isEmpty else { return support(plan) }
        var notes: [String] = []
        for phase in plan.phases {
            switch support(phase.plan) {
            case .unsupported(let reason): return .unsupported(reason: "phase \(phase.name): \(reason)")
            case .full(let note): if !note.isEmpty { notes.append("phase \(phase.name): \(note)") }
            }
        }
        return .full(note: notes.joined(separator: "; "))
    }
}
