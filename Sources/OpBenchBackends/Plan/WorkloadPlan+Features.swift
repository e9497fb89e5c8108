import OpBenchModel

// The plans of the shapes about single features of operation queues.

extension WorkloadPlan {
    init(cancelStorm cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        producers = cell.integer("producers")
        startsSuspended = cell.text("enqueue") == "suspended"
        let call = Cancellation.Call(rawValue: cell.text("call")) ?? .each
        cancellation = Cancellation(
            call: call, isBeforeRelease: startsSuspended,
            isChosen: Self.chosen(
                percent: call == .all ? 100 : cell.integer("cancelled_percent"), of: operationCount,
                seed: cell.integer("seed")))
    }

    init(blocking cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        blocking = Blocking(
            kind: Blocking.Kind(rawValue: cell.text("kind")) ?? .sleep, nanoseconds: cell.integer("block_ns"))
    }

    init(memoryFence cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        form = Form(rawValue: cell.text("form")) ?? .closure
        payloadBytes = cell.integer("payload_bytes")
        startsSuspended = true
    }

    /// Whether drain and teardown are reported together, as what letting go of the operations takes.
    package var asksForRelease: Bool { shape == .memoryFence }

    /// Chooses that many of a hundred, spread by chance, and exactly so many in all.
    private static func chosen(percent: Int, of operations: Int, seed: Int) -> [Bool] {
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var (left, wanted) = (operations, operations * percent / 100)
        return (0..<operations).map { _ in
            defer { left -= 1 }
            guard Int(generator.next() % UInt64(left)) < wanted else { return false }
            wanted -= 1
            return true
        }
    }
}

// MARK: - Blocked operations

extension WorkloadPlan {
    /// The operation that this one waits for; nil if it waits for none.
    package func partner(of operation: Int) -> Int? {
        guard blocking?.kind == .wait, operation % 2 == 0, operation + 1 < operationCount else { return nil }
        return operation + 1
    }

    /// The makespan of a plan of blocked operations if starting one cost nothing and every thread that the limit allows
    /// were there at once; at the default limit, a thread for each. nil for other plans.
    package func idealBlockedMakespan(processors: Int) -> Int? {
        idealBlockedMakespan(processors: processors, limit: limit ?? operationCount)
    }

    package func idealBlockedMakespan(processors: Int, limit: Int) -> Int? {
        guard let blocking else { return nil }
        let width = min(limit, operationCount)
        let (turns, atOnce) =
            blocking.kind == .sleep ? (operationCount, width) : ((operationCount + 1) / 2, max(1, width / 2))
        let waves = (turns + atOnce - 1) / atOnce
        let work = operationCount * workNanoseconds / max(1, processors)
        return max(waves * (blocking.nanoseconds + workNanoseconds), work)
    }
}

// MARK: - Observers, barriers, groups, announced ends, starts by hand

extension WorkloadPlan {
    init(observers cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        observers = cell.integer("observers")
    }

    init(barriers cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        form = .closure
        let every = cell.integer("every")
        barrierEvery = every
        // A role that nobody has is no class.
        let roles = [every > 1 ? "operation" : nil, every <= operationCount ? "barrier" : nil].compactMap(\.self)
        classes = Classes(
            label: "role", keys: roles, values: roles.map { _ in 0 },
            ofOperation: (0..<operationCount).map { $0 % every == every - 1 ? UInt8(roles.count - 1) : 0 })
    }

    init(blockGroups cell: Cell) {
        self.init(cell, operations: cell.integer("groups") * cell.integer("blocks"))
        groupSize = cell.integer("blocks")
    }

    init(asynchronous cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        announcedEnd = AnnouncedEnd(rawValue: cell.text("ended_by"))
    }

    init(manualStart cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        form = Form(rawValue: cell.text("form")) ?? .subclass
        producers = cell.integer("producers")
        startsByHand = true
    }

    @inlinable
    package func isBarrier(_ operation: Int) -> Bool {
        barrierEvery.map { operation % $0 == $0 - 1 } ?? false
    }

    /// How many barriers come before an operation.
    package func barriersBefore(_ operation: Int) -> Int { barrierEvery.map { operation / $0 } ?? 0 }

    /// The groups of a part of the operations; parts begin and end between groups.
    package func groups(of part: Range<Int>) -> [Range<Int>] {
        stride(from: part.lowerBound, to: part.upperBound, by: groupSize).map { $0..<$0 + groupSize }
    }

    /// What others are told of each operation: its observers of its finish, or whoever waits of its end.
    package var noticesPerOperation: Int? { announcedEnd == nil ? observers : 1 }
}
