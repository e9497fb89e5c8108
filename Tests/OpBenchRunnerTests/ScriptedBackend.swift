import OpBenchModel

@testable import OpBenchBackends
@testable import OpBenchRunner

/// A backend that runs everything on the draining thread, with one defect chosen by the test.
final class ScriptedBackend: RoundBackend, @unchecked Sendable {
    enum Defect: CaseIterable, Sendable {
        case none, losesOne, repeatsOne, ignoresPredecessors, swapsLastTwo, ignoresLimit, ignoresPriority
        /// Each `drain` runs the operations that the previous one should have waited for.
        case drainsEarly
        /// The first submitting call runs all operations of the plan.
        case startsEarly
    }

    static let allGuarantees: BackendGuarantees = [.limit, .priorityOrder, .suspension]

    static func factory(_ defect: Defect, _ guarantees: BackendGuarantees = allGuarantees) -> BackendFactory {
        BackendFactory(
            id: BackendID(rawValue: "scripted"), guarantees: guarantees, support: { _ in .full() },
            canHoldPending: { _ in true }, make: { ScriptedBackend($0, $1, defect) })
    }

    private let plan: WorkloadPlan
    private let body: OperationBody
    private let defect: Defect
    /// The operations that are submitted but have not run; written under the lock by several producers.
    private var pending: [Int] = []
    private var late: [Int] = []
    private let lock = PlainLock()

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ defect: Defect) {
        self.plan = plan
        self.body = body
        self.defect = defect
    }

    func build() {}

    func submit(_ part: Range<Int>) {
        if defect == .startsEarly, part.lowerBound == 0 {
            for operation in 0..<plan.operationCount { body.run(operation) }
        }
        for index in part {
            body.willSubmit(plan.operation(at: index))
            body.didSubmit(plan.operation(at: index))
            lock.whileLocked { pending.append(plan.operation(at: index)) }
        }
    }

    func release() {}

    func drain() {
        var order = pending.sorted()
        pending = []
        if let classes = plan.classes {
            let sign = defect == .ignoresPriority ? 1 : -1
            order.sort { sign * Int(classes.ofOperation[$0]) < sign * Int(classes.ofOperation[$1]) }
        }
        switch defect {
        case .losesOne: order.removeAll { $0 == plan.operationCount - 1 }
        case .repeatsOne: order += order.filter { $0 == 0 }
        case .drainsEarly: swap(&order, &late)
        case .startsEarly: return
        case .ignoresPredecessors: order.reverse()
        case .swapsLastTwo: order.swapAt(order.count - 2, order.count - 1)
        case .ignoresLimit: return runAtOnce(order)
        case .none, .ignoresPriority: break
        }
        for operation in order { body.run(operation) }
    }

    private func runAtOnce(_ order: [Int]) {
        let threads = order.map { operation in OwnThread { [body] in body.run(operation) } }
        for thread in threads { thread.join() }
    }

    func teardown() {}
    func suspend() {}
    func resume() {}
}
