import OpBenchModel

/// Executes the rounds of a plan. One object is one round: made, built, submitted, drained, torn down, dropped. A paced
/// plan is submitted and drained in many parts.
///
/// A backend reads no clock: the trial calls the phases between its own readings. All phases are called on one thread
/// but `submit` and `cancel`, which several producers call at once, each with its part, and `suspend`/`resume`, which the storm's
/// thread calls meanwhile.
protocol Backend: AnyObject, Sendable {
    /// Makes the queues, and the operations where the form has any before they are submitted. A plan that starts
    /// suspended leaves its queues suspended.
    func build()
    /// Submits one part of the submission sequence.
    func submit(_ part: Range<Int>)
    /// Lets the queues run. Called once, before `drain`, and only if the plan starts suspended.
    func release()
    /// Returns when every operation submitted so far has ended. A paced plan waits so between its bursts.
    func drain()
    /// Lets go of every object.
    func teardown()
    /// Cancels the operations of one part that the plan has chosen. Called, by the producers, between the last `submit`
    /// and `release`, in plans with a cancellation only.
    func cancel(_ part: Range<Int>)
    /// Tells the body, after the clock has stopped, which operations have ended as cancelled, where only their objects
    /// know.
    func attest()
    /// The queue, drained and running, for the next phase of a sequence to go on with; nil where there is none or several.
    func handOver() -> AnyObject?
    /// Called before `build`, which then makes no queue of its own if it can do with this one.
    func takeOver(_ queue: AnyObject)
    /// Stops new operations from starting; in balance with `resume`.
    func suspend()
    func resume()
}

extension Backend {
    func handOver() -> AnyObject? { nil }
    func takeOver(_ queue: AnyObject) {}
    func cancel(_ part: Range<Int>) {}
    func attest() {}
}

/// What a backend promises beyond running each operation once and after its predecessors, to which all are bound. Only
/// a broken promise makes a sample `invalid`; of the others the same figures are reported, no more.
struct Guarantees: OptionSet, Sendable {
    let rawValue: Int
    /// Never more operations at once than an explicit limit.
    static let limit = Guarantees(rawValue: 1)
    /// At limit 1, never past a more urgent operation that is ready.
    static let priorityOrder = Guarantees(rawValue: 2)
    /// After suspend has returned, at most one start per running slot.
    static let suspension = Guarantees(rawValue: 4)
}

/// Whether a backend can express a plan.
enum Support: Sendable, Equatable {
    /// It can; the note names what differs in meaning, if anything does.
    case full(note: String = "")
    case unsupported(reason: String)
}

/// A backend by its name: what it can express, what it promises, how to make one.
struct BackendFactory: Sendable {
    let id: BackendID
    let guarantees: Guarantees
    /// The kinds of sample that mean something for it.
    var kinds = Set(SampleKind.allCases)
    let support: @Sendable (WorkloadPlan) -> Support
    /// Whether all operations can be held pending at once, as the memory mark `pending` needs.
    let canHoldPending: @Sendable (WorkloadPlan) -> Bool
    let make: @Sendable (WorkloadPlan, OperationBody) -> any Backend

    /// What can be said of a plan's support; of a sequence, of all its phases.
    func supports(_ plan: WorkloadPlan) -> Support {
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

    /// Every backend and form.
    static let all: [BackendFactory] = [
        EngineBackend.factory, FoundationBackend.factory, SerialBackend.factory, FutexBackend.factory,
        DispatchBackend.factory,
        DispatchBackend.within, DispatchBackend.notify, DispatchBackend.serial, DispatchBackend.inline,
        DispatchBackend.item,
        ConcurrencyBackend.factory, ConcurrencyBackend.await, ConcurrencyBackend.group,
    ]

    static func named(_ id: BackendID) -> BackendFactory? { all.first { $0.id == id } }
}
