import OperationEngine
import Synchronization
import TestSupport

extension Scenario {
    static let histories: [Scenario] = [
        Scenario(
            "order", "one queue of limit 1: starts come in exactly the model's order (G3–G12, E18)", size: 60,
            rounds: 2_000, testSize: 40, testRounds: 100, body: linearHistory)
    ]
}

/// Plays a linear plan on the engine, phase by phase, and compares the starts with the model's.
@Sendable private func linearHistory(_ run: StressRun) {
    let plan = LinearPlan(size: run.size, run.generator())
    let live = LiveCount()
    do {
        let stage = Stage(plan, live, run)
        for (number, phase) in plan.phases.enumerated() {
            stage.queue.isSuspended = true
            for action in phase.actions { stage.perform(action) }
            run.describe { [unowned stage] in
                let unfinished = phase.ends.filter { !stage.operations[$0].isFinished }
                return "phase \(number): the model finishes \(unfinished) too. \(stage.account(of: phase, plan))"
            }
            stage.queue.isSuspended = false
            for index in phase.ends { stage.operations[index].waitUntilFinished() }
            // An operation is finished before its dependents are ready (contract D9), and then leaves.
            run.await { stage.queue.operationCount == phase.left }
            let starts = stage.takeStarts()
            guard run.require(starts == phase.starts, "phase \(number): \(stage.account(of: phase, plan, starts))")
            else {
                stage.queue.isSuspended = false
                break
            }
        }
        run.describe { "" }
        if run.violations.isEmpty { stage.queue.waitUntilAllOperationsAreFinished() }
        run.count(run.size)
        stage.end()
    }
    if run.violations.isEmpty { run.await { live.value == 0 } }
}

/// The engine's side of a linear plan.
private final class Stage: @unchecked Sendable {
    let queue = OperationQueue()
    /// Written before anything runs, and at the end.
    private(set) var operations: [Operation] = []
    /// Appended to by the one operation that runs; the queue's own order makes it safe.
    private var starts: [Int] = []
    private let scripts: [Int: [LinearPlan.Action]]
    private let run: StressRun

    init(_ plan: LinearPlan, _ live: LiveCount, _ run: StressRun) {
        scripts = plan.scripts
        self.run = run
        queue.maxConcurrentOperationCount = 1
        operations = plan.kinds.enumerated().map { index, kind in
            let main: @Sendable () -> Void = { [unowned self] in visit(index) }
            let operation =
                switch kind {
                case .plain: Actor(live, main)
                case .overridesStart: OwnStartActor(live, main)
                case .held: HeldActor(live, main)
                }
            operation.queuePriority = priority(plan.levels[index])
            return operation
        }
    }

    private func priority(_ level: Int) -> Operation.QueuePriority { Operation.QueuePriority.allCases[level] }

    private func visit(_ index: Int) {
        starts.append(index)
        for action in scripts[index] ?? [] { perform(action) }
        run.advance()
    }

    func takeStarts() -> [Int] {
        defer { starts = [] }
        return starts
    }

    func end() { operations = [] }

    func perform(_ action: LinearPlan.Action) {
        switch action {
        case .add(let indexes):
            if indexes.count == 1 {
                queue.addOperation(operations[indexes[0]])
            } else {
                queue.addOperations(indexes.map { operations[$0] }, waitUntilFinished: false)
            }
        case .prioritize(let index, let level): operations[index].queuePriority = priority(level)
        case .addDependency(let index, let other): operations[index].addDependency(operations[other])
        case .removeDependency(let index, let other): operations[index].removeDependency(operations[other])
        case .open(let index): (operations[index] as? HeldActor)?.open()
        case .cancel(let index): operations[index].cancel()
        }
    }

    /// The expected order up to the first difference, and everything that was done to the two operations that differ
    /// there.
    func account(of phase: LinearPlan.Phase, _ plan: LinearPlan, _ starts: [Int] = []) -> String {
        let agreed = zip(starts, phase.starts).prefix { $0 == $1 }.count
        let differing = [phase.starts.dropFirst(agreed).first, starts.dropFirst(agreed).first].compactMap { $0 }
        let told = differing.map { "#\($0) (\(plan.kinds[$0]), level \(plan.levels[$0])): \(plan.story(of: $0))" }
        return """
            model \(phase.starts.prefix(agreed + 4)), engine \(starts.prefix(agreed + 4)); \
            \(told.joined(separator: "; "))
            """
    }
}

private class Actor: Operation, @unchecked Sendable {
    private let live: LiveCount
    private let body: @Sendable () -> Void

    init(_ live: LiveCount, _ body: @escaping @Sendable () -> Void) {
        self.live = live
        self.body = body
        live.add()
        super.init()
    }

    deinit { live.remove() }

    override func main() { body() }
}

/// Takes a slot although cancelled (contract J9).
private final class OwnStartActor: Actor, @unchecked Sendable {
    override func start() { super.start() }
}

private final class HeldActor: Actor, @unchecked Sendable {
    private let isOpen = Atomic<Bool>(false)
    override var isReady: Bool { super.isReady && isOpen.load(ordering: .acquiring) }

    func open() {
        willChangeValue(forKey: "isReady")
        isOpen.store(true, ordering: .releasing)
        didChangeValue(forKey: "isReady")
    }
}
