import OpBenchModel

extension WorkloadPlan {
    /// The plan of a cell. The same cell gives the same plan, for every backend and in every process.
    package init(_ cell: Cell) {
        switch cell.shape {
        case .independent: self.init(independent: cell)
        case .chain: self.init(chain: cell)
        case .graph: self.init(graph: cell)
        case .priorityMix: self.init(priorityMix: cell)
        case .threadPriority: self.init(threadPriority: cell)
        case .suspendResume: self.init(suspendResume: cell)
        case .wakeup: self.init(wakeup: cell)
        case .openLoop: self.init(openLoop: cell)
        case .cancelStorm: self.init(cancelStorm: cell)
        case .blocking: self.init(blocking: cell)
        case .memoryFence: self.init(memoryFence: cell)
        case .observers: self.init(observers: cell)
        case .barriers: self.init(barriers: cell)
        case .blockGroups: self.init(blockGroups: cell)
        case .asynchronous: self.init(asynchronous: cell)
        case .manualStart: self.init(manualStart: cell)
        case .sequence: self.init(sequence: cell) { WorkloadPlan($0) }
        }
    }

    init(_ cell: Cell, operations: Int) {
        self.init(
            shape: cell.shape, operationCount: operations, itemCount: operations, itemsPerOperation: 1,
            workNanoseconds: cell.integer("work_ns"), limit: cell.maxConcurrent)
    }

    private init(independent cell: Cell) {
        let items = cell.integer("items")
        let perOperation = min(items, cell.integer("items_per_operation"))
        self.init(cell, operations: (items + perOperation - 1) / perOperation)
        itemCount = items
        itemsPerOperation = perOperation
        form = Form(rawValue: cell.text("form")) ?? .closure
        producers = cell.integer("producers")
        switch cell.text("submission") {
        case "bulk": submission = .bulk
        case "refill": submission = .refill(window: cell.integer("window"))
        default: submission = .each
        }
    }

    private init(chain cell: Cell) {
        let chains = Chains(
            depth: cell.integer("depth"), count: cell.integer("chains"), queues: cell.integer("queues"))
        self.init(cell, operations: chains.depth * chains.count)
        self.chains = chains
        isReversed = cell.text("order") == "reverse"
    }

    private init(graph cell: Cell) {
        let size = GraphSize(cell)
        self.init(cell, operations: size.operationCount)
        graph = DependencyGraph(size, seed: cell.integer("seed"))
        isReversed = cell.text("order") == "reverse"
    }

    private init(priorityMix cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        let levels: [(key: String, value: Double)] = [
            ("very_low", -8), ("low", -4), ("normal", 0), ("high", 4), ("very_high", 8),
        ]
        let given = Dictionary(uniqueKeysWithValues: cell.weights("mix").map { ($0.key, $0.weight) })
        classes = Classes(
            label: "priority", levels: levels.map { ($0.key, $0.value, given[$0.key] ?? 0) },
            operations: operationCount, seed: cell.integer("seed"))
        startsSuspended = cell.text("enqueue") == "suspended"
    }

    private init(threadPriority cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        let levels = cell.weights("mix").map { (key: $0.key, value: Double($0.key) ?? 0.5, weight: $0.weight) }
        classes = Classes(
            label: "thread_priority", levels: levels.sorted { $0.value < $1.value },
            operations: operationCount, seed: cell.integer("seed"))
        competitors = cell.integer("competitors")
    }

    private init(suspendResume cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        form = .closure
        producers = cell.integer("producers")
        storm = Storm(
            toggles: cell.integer("toggles"), runNanoseconds: cell.integer("run_ns"),
            holdNanoseconds: cell.integer("hold_ns"))
    }

    private init(wakeup cell: Cell) {
        self.init(cell, operations: cell.integer("operations"))
        form = .closure
        pacing = .bursts(
            size: cell.integer("burst"), pauseNanoseconds: cell.integer("pause_ns"),
            staysAwake: cell.text("pause_by") == "spin")
        stall = Stall(cell, of: operationCount)
    }

    /// - Parameter makePlan: makes the plan of a phase.
    init(sequence cell: Cell, makePlan: (Cell) -> WorkloadPlan) {
        let phases = cell.phases.map { PhasePlan(name: $0.name, plan: makePlan($0.cell)) }
        self.init(cell, operations: phases.reduce(0) { $0 + $1.plan.operationCount })
        itemCount = phases.reduce(0) { $0 + $1.plan.itemCount }
        self.phases = phases
        sharesQueue = cell.text("queue") == "shared"
    }

    private init(openLoop cell: Cell) {
        let arrivals = Arrivals(cell)
        let rate = cell.arrivalRate ?? ShapeDefinition.searchedRateFirst
        self.init(cell, operations: arrivals.count(perSecond: rate))
        form = .closure
        self.arrivals = arrivals
        pacing = .arrivals(arrivals.instants(count: operationCount, perSecond: rate))
        stall = Stall(cell, of: operationCount)
        stall?.stallsSubmitter = cell.text("stalls") == "submitter"
    }
}

extension WorkloadPlan {
    /// The plan without what is worked out for every operation: enough to ask whether a backend can express it.
    package static func forSupport(_ cell: Cell) -> WorkloadPlan {
        if cell.shape == .sequence { return WorkloadPlan(sequence: cell, makePlan: forSupport) }
        var parameters = cell.parameters
        for name in ["operations", "width", "layers", "duration_ns"] where parameters[name] != nil {
            parameters[name] = .integer(1)
        }
        return WorkloadPlan(Cell(workload: cell.workload, shape: cell.shape, parameters: parameters, id: cell.id))
    }
}

extension WorkloadPlan.Classes {
    /// Draws a class for every operation by weight. A weight of 0 leaves a class out.
    init(label: String, levels: [(key: String, value: Double, weight: Double)], operations: Int, seed: Int) {
        let used = levels.filter { $0.weight > 0 }
        let total = used.reduce(0) { $0 + $1.weight }
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var drawn: [UInt8] = []
        drawn.reserveCapacity(operations)
        for _ in 0..<operations {
            var rest = generator.unit() * total
            var index = 0
            while index < used.count - 1, rest >= used[index].weight {
                rest -= used[index].weight
                index += 1
            }
            drawn.append(UInt8(index))
        }
        self.init(label: label, keys: used.map(\.key), values: used.map(\.value), ofOperation: drawn)
    }
}

extension Stall {
    /// nil if nothing stands still.
    init?(_ cell: Cell, of operations: Int) {
        let nanoseconds = cell.integer("stall_ns")
        guard nanoseconds > 0 else { return nil }
        self.init(nanoseconds: nanoseconds, operation: operations / 2)
    }
}
