/// The reference model of a queue of limit 1 whose every decision follows from what came before: which operation it
/// chooses next. Arrays searched from the front, and nothing clever.
struct ReferenceQueue {
    enum State { case idle, waiting, ready, begun, finished }

    struct Member {
        var state = State.idle
        /// 0 very low to 4 very high.
        var level: Int
        var isCancelled = false
        /// For those with a readiness of their own.
        var isOpen: Bool
        /// Unfinished ones, and all operations that depend on this one in the order of the latest call that said so.
        var dependencies: Set<Int> = []
        var dependents: [Int] = []
        /// A cancelled one that overrides `start` takes a slot as any other (contract J9).
        let overridesStart: Bool

        var isReady: Bool { isOpen && (dependencies.isEmpty || isCancelled) }
        /// Finished by the queue without a slot, and without any observable order.
        var isSlotless: Bool { isCancelled && !overridesStart }
    }

    private(set) var members: [Member]
    /// The ready ones of each level, in the order in which they became ready there.
    private var levels: [[Int]] = Array(repeating: [], count: 5)

    init(_ members: [Member]) { self.members = members }

    // MARK: What is done to it

    /// Contract G5, G6: ready ones go to the back of their level.
    mutating func add(_ index: Int) {
        members[index].state = .waiting
        settle(index)
    }

    /// Contract G10: to the back of the new level.
    mutating func setLevel(_ index: Int, _ level: Int) {
        guard members[index].level != level else { return }
        if members[index].state == .ready { withdraw(index) }
        members[index].level = level
        settle(index)
    }

    /// Contract E9, E10, E18, E19. Adding one twice makes it the latest.
    mutating func addDependency(_ index: Int, on other: Int) {
        guard members[other].state != .finished, members[index].state != .begun, members[index].state != .finished
        else { return }
        members[index].dependencies.insert(other)
        members[other].dependents.removeAll { $0 == index }
        members[other].dependents.append(index)
        if members[index].state == .ready, !members[index].isReady { withdraw(index) }
    }

    /// Contract E13.
    mutating func removeDependency(_ index: Int, on other: Int) {
        members[index].dependencies.remove(other)
        members[other].dependents.removeAll { $0 == index }
        settle(index)
    }

    /// Contract F3.
    mutating func open(_ index: Int) {
        members[index].isOpen = true
        settle(index)
    }

    /// Contract J4, J5.
    mutating func cancel(_ index: Int) {
        guard !members[index].isCancelled, members[index].state != .finished else { return }
        members[index].isCancelled = true
        settle(index)
    }

    // MARK: What it does

    /// Contract G3, G4: the first of the highest level, now that the slot is free.
    mutating func choose() -> Int? {
        guard let level = levels.lastIndex(where: { !$0.isEmpty }) else { return nil }
        let index = levels[level].removeFirst()
        members[index].state = .begun
        return index
    }

    /// Contract D15, G6: its dependents become ready, in the order of those calls.
    mutating func finish(_ index: Int) {
        members[index].state = .finished
        for dependent in members[index].dependents {
            members[dependent].dependencies.remove(index)
            settle(dependent)
        }
        members[index].dependents = []
    }

    /// Finishes the operations that need no slot. None of them has dependents.
    mutating func finishSlotless() -> [Int] {
        let slotless = members.indices.filter { members[$0].isSlotless && members[$0].state == .ready }
        for index in slotless {
            withdraw(index)
            finish(index)
        }
        return slotless
    }

    private mutating func settle(_ index: Int) {
        guard members[index].state == .waiting, members[index].isReady else { return }
        members[index].state = .ready
        levels[members[index].level].append(index)
    }

    private mutating func withdraw(_ index: Int) {
        members[index].state = .waiting
        levels[members[index].level].removeAll { $0 == index }
    }
}
