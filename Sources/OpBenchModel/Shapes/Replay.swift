extension Shape { public static let replay = Shape("replay") }

extension ShapeDefinition {
    /// A recorded program's operations, with other limits, at another speed or on another queue.
    static let replay = ShapeDefinition(
        shape: .replay,
        summary: "The arrivals, dependencies, priorities, cancellations and bodies of a recorded program.",
        parameters: [
            .init(
                name: "recording", format: .recording, defaultValue: .recording(sample),
                summary:
                    "What was recorded, as columns of numbers; `opbench init --from-recording` writes them. In a cell_id "
                    + "it is a digest of them.",
                takesList: false),
            .init(
                name: "limit", format: .wholeNumber(1...concurrencyLimit, orWord: "recorded"),
                defaultValue: .text("recorded"),
                summary: "The limit of every queue on concurrent operations; \"recorded\" keeps the program's.",
                unit: "count"),
            .init(
                name: "queue", format: .wholeNumber(0...RecordedLoad.queueLimit - 1, orWord: "all"),
                defaultValue: .text("all"),
                summary: "The number of the one queue whose operations are replayed, or \"all\".", unit: "count"),
            .init(
                name: "speed", format: .realNumber(0.01...100), defaultValue: .number(1),
                summary: "How fast operations arrive: 2 halves the recorded gaps and the times to cancellations."),
            .choice("priorities", ["recorded", "ignored"], "Whether operations have their recorded priorities."),
        ],
        operationCount: { cell in
            guard let queue = cell.parameters["queue"]?.integer else { return cell.recordedLoad.operationCount }
            return cell.recordedLoad[.queues].count { $0 == queue }
        },
        kinds: [.throughput, .latency, .memory, .check],
        problem: { cell in
            let load = cell.recordedLoad
            if let queue = cell.parameters["queue"]?.integer, !load[.queues].contains(queue) {
                return (
                    "no operation is in queue \(queue)", "the recording has the queues 0 to \(load.limits.count - 1)"
                )
            }
            let seconds = Double(load.span) / 1e9 / cell.number("speed")
            guard seconds > secondsLimit else { return nil }
            return (
                "its operations arrive in \(FigureText.write(seconds)) s",
                "they arrive in at most \(FigureText.write(secondsLimit)) s: take a part of the recording, or raise speed"
            )
        },
        estimate: RoundEstimate(whole: { cell, _ in cell.replayedLoad.seconds(speed: cell.number("speed")) }),
        sketch: \.self,
        plan: { cell, plan in
            let load = cell.replayedLoad
            let speed = cell.number("speed")
            plan.detail = Replay(load, speed: speed)
            plan.pacing = .arrivals(load.instants(speed: speed))
            if !load.dependencies.isEmpty {
                plan.graph = DependencyGraph(operationCount: load.operationCount, edges: load.dependencies)
            }
            let limits = cell.replayedLimits(of: load)
            if limits.count == 1 {
                plan.limit = limits[0]
            } else {
                plan.queues = WorkloadPlan.Queues(limits: limits, ofOperation: load[.queues].map { UInt8($0) })
            }
            let names = load.groupNames
            plan.groups = OperationClasses(label: "group", load[.groups]) { names.isEmpty ? String($0) : names[$0] }
            guard cell.text("priorities") == "recorded" else { return }
            plan.classes = OperationClasses(
                label: "priority", load[.priorities], key: { PriorityName.allCases[$0 / 4 + 2].rawValue },
                value: Double.init)
            if plan.classes != nil { plan.concerns = .priorityOrder }
        })

    /// Operations that arrive one by one.
    private static let sample: RecordedLoad = {
        var builder = RecordedLoad.Builder(limits: [nil])
        for operation in 0..<100 {
            builder.add(gap: operation == 0 ? 0 : 100_000, work: 50_000, wait: 0, queue: 0, priority: 0)
        }
        return builder.load
    }()
}

extension Cell {
    fileprivate var recordedLoad: RecordedLoad {
        guard let load = parameters["recording"]?.content as? RecordedLoad else {
            preconditionFailure("\(shape.rawValue) has no recording")
        }
        return load
    }

    /// The recorded load, or the part of one queue.
    fileprivate var replayedLoad: RecordedLoad {
        guard let queue = parameters["queue"]?.integer else { return recordedLoad }
        return recordedLoad.of(queue: queue)
    }

    fileprivate func replayedLimits(of load: RecordedLoad) -> [Int?] {
        guard let limit = parameters["limit"]?.integer else { return load.limits }
        return load.limits.map { _ in limit }
    }
}

extension RecordedLoad {
    /// The instants of arrival, in nanoseconds from the first.
    fileprivate func instants(speed: Double) -> [Int64] {
        var sum = 0
        return self[.gaps].enumerated().map { index, gap in
            if index > 0 { sum += gap }
            return Int64(Double(sum) / speed)
        }
    }

    /// A guess of a round's time: that of the arrivals, or of the bodies on two threads.
    fileprivate func seconds(speed: Double) -> Double {
        let bodies = zip(self[.work], self[.waits]).reduce(0) { $0 + $1.0 + $1.1 }
        return max(Double(span) / speed, Double(bodies) / 2) / 1e9
    }
}

extension OperationClasses {
    /// The classes that operations have by a number each; nil if all have the same.
    fileprivate init?(
        label: String, _ numbers: [Int], key: (Int) -> String, value: (Int) -> Double = { _ in 0 }
    ) {
        let used = Set(numbers).sorted()
        guard used.count > 1 else { return nil }
        let index = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($1, UInt8($0)) })
        self.init(
            label: label, keys: used.map(key), values: used.map(value), ofOperation: numbers.map { index[$0]! })
    }
}

/// The bodies and the cancellations of recorded operations.
package struct Replay: ShapeDetail {
    /// The processor time of each body, and the time that it spends besides, in nanoseconds.
    package private(set) var work: [Int]
    package private(set) var waits: [Int]
    /// The recorded instant of each arrival, in nanoseconds from the first, and the time from it to the end; 0 if it is
    /// not known.
    package let arrivals: [Int64]
    package let latencies: [Int]
    /// The calls that cancel an operation, by their instants in nanoseconds from the first arrival.
    package let cancellations: [(instant: Int64, operation: Int)]
    /// Nil if nothing is cancelled.
    package private(set) var cancellation: Cancellation?
    /// Whether an operation, or one that it follows, is cancelled; empty if nothing is.
    private var isAffected: [Bool]

    fileprivate init(_ load: RecordedLoad, speed: Double) {
        (work, waits) = (load[.work], load[.waits])
        (arrivals, latencies) = (load.instants(speed: 1), load[.latencies])
        let cancelled = load.cancellations
        guard !cancelled.isEmpty else {
            (cancellations, cancellation, isAffected) = ([], nil, [])
            return
        }
        let instants = load.instants(speed: speed)
        cancellations = cancelled.map { (instants[$0.operation] + Int64(Double($0.delay) / speed), $0.operation) }
            .sorted { $0 < $1 }
        var isChosen = [Bool](repeating: false, count: load.operationCount)
        for (operation, _) in cancelled { isChosen[operation] = true }
        cancellation = Cancellation(live: isChosen)
        isAffected = isChosen
        var reached = cancelled.map(\.operation)
        let graph = DependencyGraph(operationCount: load.operationCount, edges: load.dependencies)!
        while let operation = reached.popLast() {
            for successor in graph.successors[operation].map(Int.init) where !isAffected[successor] {
                isAffected[successor] = true
                reached.append(successor)
            }
        }
    }

    package var runsEveryBody: Bool { cancellation == nil }

    /// A body in a warm-up takes at most this long, in nanoseconds.
    private static let shortenedNanoseconds = 100_000

    package func shortened(to operations: Int) -> (any ShapeDetail)? {
        var shortened = self
        shortened.work = work.prefix(operations).map { min($0, Self.shortenedNanoseconds) }
        shortened.waits = waits.prefix(operations).map { min($0, Self.shortenedNanoseconds) }
        shortened.cancellation?.isChosen.removeSubrange(operations...)
        if !isAffected.isEmpty { shortened.isAffected.removeSubrange(operations...) }
        return shortened
    }

    // MARK: The outcome

    /// Checks the marks. An operation that is to be cancelled ran or not; the mark of one that follows it is any that
    /// is not too high.
    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        guard let cancellation else { return MarkCheck.violations(of: traces, in: plan) }
        var (missing, early, repeated, unasked) = (0, 0, 0, 0)
        for operation in 0..<plan.operationCount {
            let (slot, expected) = (traces.slot(operation), plan.expectedMark(of: operation))
            let mark = slot % RoundTraces.cancelledMark
            if slot == 0 || mark == 0 && !cancellation.isChosen[operation] { missing += 1 }
            if expected < RoundTraces.cancelledMark {
                if mark > expected { repeated += 1 }
                if !isAffected[operation], mark > 0, mark < expected { early += 1 }
            }
            if !isAffected[operation], slot >= RoundTraces.cancelledMark, expected < RoundTraces.cancelledMark {
                unasked += 1
            }
        }
        return findings(
            (missing, "\(counted(missing, "operation")) neither ran nor was cancelled"),
            (repeated, "\(counted(repeated, "operation")) ran more than once"),
            (early, "\(counted(early, "operation")) ran before a predecessor"), Cancellation.unasked(unasked))
    }
}

extension Replay {
    /// The remedy for a backend without priorities.
    package static let withoutPriorities = "set priorities to \"ignored\""
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var replay: Replay? { detail(Replay.self) }

    /// The differences in meaning on a queue of closures.
    ///
    /// - Parameter order: how the backend keeps dependencies.
    package func replayNote(following order: String) -> String {
        [
            graph == nil ? nil : order, cancellation == nil ? nil : "a flag per operation, read by its closure",
        ].compactMap(\.self).joined(separator: "; ")
    }
}
