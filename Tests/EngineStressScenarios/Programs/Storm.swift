import OperationEngine
import TestSupport

/// One thread of a storm: actions drawn by the profile's weights, at random operations and queues.
final class Storm {
    private let program: Program
    private let thread: Int
    private let threads: Int
    private var random: SeededGenerator
    private let actions: [Profile.Action]
    private let totalWeight: Int
    /// The dependencies that this thread adds and removes: nobody else touches these pairs.
    private var edges: [Pair: Edge] = [:]
    private var late: [Edge] = []

    private struct Pair: Hashable {
        let dependent: Int
        let dependency: Int
    }

    init(_ program: Program, thread: Int, of threads: Int) {
        self.program = program
        self.thread = thread
        self.threads = threads
        random = program.run.generator(thread + 1)
        actions = Profile.Action.allCases.filter { program.profile.weights[$0] != nil }
        totalWeight = program.profile.weights.values.reduce(0, +)
        for subject in program.subjects {
            for edge in subject.fixed {
                let pair = Pair(dependent: edge.dependent, dependency: edge.dependency)
                if owns(pair) { edges[pair] = edge }
            }
        }
    }

    private func owns(_ pair: Pair) -> Bool { (pair.dependent &+ pair.dependency) % threads == thread }

    func rage() {
        for _ in 0..<program.subjects.count * program.profile.intensity {
            perform(draw())
            program.run.advance()
        }
        let late = late
        program.lateEdges.withLock { $0 += late }
    }

    private func draw() -> Profile.Action {
        var die = Int.random(in: 0..<totalWeight, using: &random)
        for action in actions {
            die -= program.profile.weights[action]!
            if die < 0 { return action }
        }
        return actions[0]
    }

    private func perform(_ action: Profile.Action) {
        let subject = program.subjects[Int.random(in: 0..<program.subjects.count, using: &random)]
        let operation = program.operation(subject.index)
        let records = program.queues
        let place = Int.random(in: 0..<records.count, using: &random)
        switch action {
        case .cancel: program.cancel(subject)
        case .cancelAll: records[place].cancelAll(program.history)
        case .suspend: records[place].set(.suspended(true), program.history)
        case .resume: records[place].set(.suspended(false), program.history)
        case .changeLimit:
            guard records[place].plan.mayChangeLimit else { return }
            let limit = [0, 1, 2, 5, -1, Int.max].randomElement(using: &random)!
            records[place].set(.limit(limit), program.history)
        case .changePriority:
            operation.queuePriority = Operation.QueuePriority.allCases.randomElement(using: &random)!
        case .changeThreadPriority:
            operation.threadPriority = [0.5, 0.5, 0.375, 0].randomElement(using: &random)!
        case .addOrRemoveDependency: addOrRemove(subject)
        case .removeNothing: operation.removeDependency(operation)
        case .observe: program.comeAndGo(subject, &random)
        case .replaceCompletion: operation.completionBlock = { subject.complete() }
        case .waitShortly: program.waitShortly(subject)
        case .list: program.list(place, &random)
        case .openGate: if subject.isHeld { program.open(subject) }
        case .closeGate: if subject.isHeld { program.close(subject) }
        case .dropQueue: _ = records[place].drop(program.history)
        }
    }

    private func addOrRemove(_ subject: Subject) {
        guard subject.index > 0 else { return }
        let other = program.subjects[Int.random(in: 0..<subject.index, using: &random)]
        // Now and then one that is there from the start.
        let chosen = Bool.random(using: &random) ? subject.fixed.randomElement(using: &random)?.dependency : nil
        let pair = Pair(dependent: subject.index, dependency: chosen ?? other.index)
        guard owns(pair), program.subjects[pair.dependency].task.queue <= subject.task.queue else { return }
        if let edge = edges[pair] {
            guard !edge.isPermanent else { return }
            program.remove(edge)
            edges[pair] = nil
        } else if !program.plan.cycle.contains(pair.dependent) || !program.plan.cycle.contains(pair.dependency) {
            let edge = Edge(dependent: pair.dependent, dependency: pair.dependency, isPermanent: false)
            edges[pair] = edge
            late.append(edge)
            program.addLate(edge)
        }
    }
}
