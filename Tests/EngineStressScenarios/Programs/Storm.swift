import Glibc
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
    private var stewardCalls = 0
    private static let mostStewardCalls = 12

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
        for edge in program.subjects.flatMap(\.fixed) {
            let pair = Pair(dependent: edge.dependent, dependency: edge.dependency)
            if owns(pair) { edges[pair] = edge }
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
        let (program, history) = (program, program.history)
        let subject = program.subjects.randomElement(using: &random)!
        let records = program.queues
        let place = Int.random(in: 0..<records.count, using: &random)
        let record = records[place]
        switch action {
        case .cancel: program.cancel(subject)
        case .cancelAll: record.cancelAll(history)
        case .suspend: record.set(.suspended(true), history)
        case .resume: record.set(.suspended(false), history)
        case .changeLimit:
            guard record.plan.mayChangeLimit else { return }
            record.set(.limit([0, 1, 2, 5, -1, Int.max].randomElement(using: &random)!), history)
        case .changePriority: program.raise(subject, to: .allCases.randomElement(using: &random)!)
        case .changeThreadPriority: changeThreadPriority(subject)
        case .addOrRemoveDependency: addOrRemove(subject)
        case .removeNothing: if let operation = subject.operation { operation.removeDependency(operation) }
        case .observe: if subject.kind.isObject { program.comeAndGo(subject, &random) }
        case .observeQueue: program.comeAndGo(record, &random)
        case .replaceCompletion:
            if subject.task.hasCompletion { subject.operation?.completionBlock = { subject.complete() } }
        case .waitShortly: program.waitShortly(subject)
        case .waitForQueue: record.queue?.waitUntilFinished(timeout: .microseconds(30))
        case .list: program.list(place, subject)
        case .listElsewhere:
            let listed = Guarded(program.list(place, subject))
            program.releaser.perform { listed.withLock { $0 = [] } }
        case .openGate: if subject.kind == .held { program.open(subject) }
        case .closeGate: if subject.kind == .held { program.close(subject) }
        case .dropQueue: record.drop(history)
        case .callSteward: callSteward(place, subject)
        case .pause: usleep(UInt32.random(in: 1...100, using: &random))
        }
    }

    private func changeThreadPriority(_ subject: Subject) {
        guard !program.plan.queues[subject.task.queue].isOrderly else { return }
        if random.hits(30) {
            subject.operation?.qualityOfService = random.hits(50) ? .background : .userInitiated
        } else {
            subject.operation?.threadPriority = [0.5, 0.5, 0.375, 0].randomElement(using: &random)!
        }
    }

    private func addOrRemove(_ subject: Subject) {
        guard subject.index > 0 else { return }
        let other = Int.random(in: 0..<subject.index, using: &random)
        // Now and then one that is there from the start.
        let chosen = Bool.random(using: &random) ? subject.fixed.randomElement(using: &random)?.dependency : nil
        let pair = Pair(dependent: subject.index, dependency: chosen ?? other)
        let cycle = program.plan.cycle
        guard owns(pair), chosen != nil || program.plan.mayDepend(subject.index, on: other) else { return }
        if let edge = edges[pair] {
            guard !edge.isPermanent else { return }
            program.remove(edge)
            edges[pair] = nil
        } else if !cycle.contains(pair.dependent) || !cycle.contains(pair.dependency) {
            let edge = Edge(dependent: pair.dependent, dependency: pair.dependency, isPermanent: false)
            edges[pair] = edge
            late.append(edge)
            program.addLate(edge)
        }
    }

    /// Has an operation of a queue above all others do the same, and release what it gets.
    private func callSteward(_ place: Int, _ subject: Subject) {
        guard stewardCalls < Self.mostStewardCalls else { return }
        stewardCalls += 1
        let (program, die) = (program, Int.random(in: 0..<10, using: &random))
        program.steward.addOperation {
            switch die {
            case 0: program.queues[place].cancelAll(program.history)
            case 1..<3: program.cancel(subject)
            case 3..<5:
                program.queues[place].set(.suspended(true), program.history)
                program.queues[place].set(.suspended(false), program.history)
            default: program.list(place, subject)
            }
        }
    }
}
