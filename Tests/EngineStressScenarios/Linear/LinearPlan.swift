import OperationEngine
import TestSupport

/// A program with one queue of limit 1 in which every decision is made either while the queue is suspended or inside
/// the one operation that runs. So the model knows the order of all starts; the plan is made by playing the model.
struct LinearPlan {
    enum Kind: CaseIterable { case plain, overridesStart, held }

    enum Action: CustomStringConvertible {
        case add([Int])
        case prioritize(Int, Int)
        case addDependency(Int, on: Int)
        case removeDependency(Int, on: Int)
        case open(Int)
        case cancel(Int)

        func concerns(_ operation: Int) -> Bool {
            switch self {
            case .add(let indexes): indexes.contains(operation)
            case .addDependency(let index, let other), .removeDependency(let index, let other):
                index == operation || other == operation
            case .prioritize(let index, _), .open(let index), .cancel(let index): index == operation
            }
        }

        var description: String {
            switch self {
            case .add(let indexes): "add \(indexes)"
            case .prioritize(let index, let level): "#\(index) gets level \(level)"
            case .addDependency(let index, let other): "#\(index) after #\(other)"
            case .removeDependency(let index, let other): "#\(index) not after #\(other)"
            case .open(let index): "open #\(index)"
            case .cancel(let index): "cancel #\(index)"
            }
        }
    }

    /// While the queue is suspended; then it is resumed, and these come to their end.
    struct Phase {
        var actions: [Action] = []
        var starts: [Int] = []
        var ends: [Int] = []
        /// How many are in the queue afterwards.
        var left = 0
    }

    private(set) var kinds: [Kind] = []
    private(set) var levels: [Int] = []
    private(set) var phases: [Phase] = []
    /// The actions of each operation in main.
    private(set) var scripts: [Int: [Action]] = [:]

    private var model: ReferenceQueue
    private var random: SeededGenerator
    private var unadded: [Int]

    init(size: Int, _ generator: SeededGenerator) {
        random = generator
        for _ in 0..<size {
            kinds.append(random.hits(70) ? .plain : Kind.allCases.randomElement(using: &random)!)
            levels.append(Int.random(in: 0...4, using: &random))
        }
        model = ReferenceQueue(
            zip(kinds, levels).map { kind, level in
                ReferenceQueue.Member(level: level, isOpen: kind != .held, overridesStart: kind == .overridesStart)
            })
        unadded = (0..<size).shuffled(using: &random)
        let phaseCount = 4
        for number in 1...phaseCount { play(isLast: number == phaseCount, size) }
    }

    private mutating func play(isLast: Bool, _ size: Int) {
        var phase = Phase()
        let count = Int.random(in: size / 4...size, using: &random)
        for _ in 0..<count { if let action = draw() { phase.actions.append(action) } }
        if isLast { phase.actions += lastActions() }
        phase.ends += model.finishSlotless()
        while let index = model.choose() {
            if !model.members[index].isCancelled {
                phase.starts.append(index)
                scripts[index] = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in draw() }
            }
            phase.ends += model.finishSlotless()
            model.finish(index)
            phase.ends.append(index)
        }
        phase.left = model.members.count { $0.state == .waiting }
        phases.append(phase)
    }

    /// Whatever is not there yet comes, and what is closed opens.
    private mutating func lastActions() -> [Action] {
        var actions: [Action] = unadded.isEmpty ? [] : [.add(unadded)]
        unadded = []
        for index in kinds.indices where kinds[index] == .held && !model.members[index].isOpen {
            actions.append(.open(index))
        }
        for action in actions { apply(action) }
        return actions
    }

    /// All that is done to an operation, and when.
    func story(of index: Int) -> [String] {
        phases.enumerated().flatMap { number, phase -> [String] in
            let before = phase.actions.filter { $0.concerns(index) }.map { "before phase \(number): \($0)" }
            let during = phase.starts.flatMap { actor in
                (scripts[actor] ?? []).filter { $0.concerns(index) }.map { "#\(actor) in phase \(number): \($0)" }
            }
            return before + during
        }
    }

    // MARK: Drawing actions

    /// A random action that makes sense now, applied to the model.
    private mutating func draw() -> Action? {
        let index = Int.random(in: 0..<kinds.count, using: &random)
        let action: Action? =
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4: drawAdd()
            case 4..<7: .prioritize(index, Int.random(in: 0...4, using: &random))
            case 7..<9: drawDependency(of: index)
            case 9: model.members[index].dependencies.min().map { .removeDependency(index, on: $0) }
            case 10: kinds[index] == .held && !model.members[index].isOpen ? .open(index) : nil
            default: mayBeCancelled(index) ? .cancel(index) : nil
            }
        if let action { apply(action) }
        return action
    }

    private mutating func drawAdd() -> Action? {
        guard !unadded.isEmpty else { return nil }
        let count = [1, 1, 1, 5].randomElement(using: &random)!
        let batch = Array(unadded.suffix(count))
        unadded.removeLast(batch.count)
        return .add(batch)
    }

    /// One with a readiness of its own is asked after the others have been filed, so its order among them is the
    /// engine's affair; and who waits for one that finishes without a slot has no certain order.
    private mutating func drawDependency(of index: Int) -> Action? {
        guard index > 0, kinds[index] != .held else { return nil }
        let other = Int.random(in: 0..<index, using: &random)
        return model.members[other].isSlotless || model.members[index].isSlotless
            ? nil : .addDependency(index, on: other)
    }

    private func mayBeCancelled(_ index: Int) -> Bool {
        let member = model.members[index]
        let isWaitedFor = !member.dependents.isEmpty
        return member.state != .begun && member.state != .finished && (member.overridesStart || !isWaitedFor)
    }

    private mutating func apply(_ action: Action) {
        switch action {
        case .add(let indexes):
            // A queue asks those with a readiness of their own when the whole batch is in, and files them then.
            for index in indexes where kinds[index] != .held { model.add(index) }
            for index in indexes where kinds[index] == .held { model.add(index) }
        case .prioritize(let index, let level): model.setLevel(index, level)
        case .addDependency(let index, let other): model.addDependency(index, on: other)
        case .removeDependency(let index, let other): model.removeDependency(index, on: other)
        case .open(let index): model.open(index)
        case .cancel(let index): model.cancel(index)
        }
    }
}
