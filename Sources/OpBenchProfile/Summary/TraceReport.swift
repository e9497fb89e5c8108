import OpBenchModel

/// Everything computed from one trace.
public struct TraceReport: Sendable {
    public let trace: SampleTrace
    public let waits: WaitAnalysis
    public let tails: Tails
    /// Nil for a server's trace.
    public let graph: Graph?

    /// The figures of operations that were submitted, and then executed until none was left.
    public struct Graph: Sendable {
        public let workSpan: WorkSpan
        public let path: CriticalPath
    }

    /// - Parameter trace: any trace; it is checked.
    /// - Throws: `RecordError` if the trace is inconsistent or its operations wait in a cycle.
    public init(_ trace: SampleTrace) throws(RecordError) {
        try trace.check()
        let graph = try OperationGraph(trace)
        self.trace = trace
        waits = WaitAnalysis(trace, graph)
        tails = Tails(trace, graph, waits)
        self.graph = Self.graph(trace, graph, burden: waits.burden)
    }

    /// A server gets work as long as it runs; a graph gets all in the first fifth of its time, but what its own operations
    /// submit.
    private static func graph(_ trace: SampleTrace, _ graph: OperationGraph, burden: Int64) -> Graph? {
        guard let range = trace.executedRange else { return nil }
        let lastSubmission = trace.operations.indices
            .reduce(range.lowerBound) { latest, index in
                graph.submitter(of: index) == nil ? max(latest, trace.operations[index].submit) : latest
            }
        guard lastSubmission <= range.lowerBound + trace.elapsed / 5 else { return nil }
        return Graph(workSpan: WorkSpan(trace, graph, burden: burden), path: CriticalPath(trace, graph))
    }
}

// MARK: - Lines for a terminal

extension TraceReport {
    /// The lines of the summary, without line ends. They contain unescaped names, which the printing code must escape.
    ///
    /// - Parameter isPerturbed: whether tracing changed the operations' times too much to show any.
    public func lines(isPerturbed: Bool = false) -> [String] {
        let executed = trace.operations.count(where: \.wasExecuted)
        guard executed > 0 else { return ["no operation was executed"] }
        let workers = trace.mostWorkers
        let added = workers - trace.workerCount
        var lines = [
            counted(executed, "operation") + (isPerturbed ? ", " : " in \(Quantities.time(trace.elapsed)), ")
                + counted(workers, "worker") + (added > 0 ? ", \(added) of them only while bodies blocked" : "")
        ]
        if isPerturbed { return lines + wakeUpLines }
        lines += tails.lines(after: graph.map(finding))
        lines += graph.map { workSpanLines($0.workSpan) + pathLines($0.path) } ?? loadLines
        return lines + waitLines(of: "all operations", waits.total) + wakeUpLines
    }

    private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    /// The cause that kept a graph from using all workers for all of its time, in a word with the threshold.
    private func finding(_ graph: Graph) -> String {
        let (figures, path) = (graph.workSpan, graph.path)
        let executed = trace.operations.count(where: \.wasExecuted)
        if executed < 2 * figures.workers {
            return "too few operations: \(executed), less than two for each worker"
        }
        let used = Quantities.percent(figures.utilisation)
        if figures.utilisation >= 0.8 { return "nothing: bodies took \(used) of the workers' time, 80 % or more" }
        let inBodies = Double(path.duration) / Double(max(1, path.total))
        if inBodies >= 0.5 {
            let longest = path.steps.max { $0.duration < $1.duration }!
            let share = "\(Quantities.percent(inBodies)) of the time, half or more"
            return 2 * longest.duration >= path.duration
                ? "imbalance: bodies of the critical path took \(share), and one of them half of that: operation "
                    + "\(longest.operation) (\(trace.className(of: trace.operations[longest.operation])))"
                : "serial: bodies of the critical path took \(share)"
        }
        let reason = path.waits.greatest
        let share = Quantities.percent(Double(path.waits[reason]), of: Double(path.waits.total))
        return "\(reason.word): most of the critical path's waits, \(share), are for this: \(reason.words)"
    }

    /// The use of workers, processors and queues by a server.
    private var loadLines: [String] {
        let (elapsed, executed) = (Double(max(1, trace.elapsed)), trace.operations.filter(\.wasExecuted))
        func share(_ time: KeyPath<TracedOperation, Int64>) -> String {
            Quantities.count(executed.reduce(0) { $0 + Double($1[keyPath: time]) } / elapsed)
        }
        var lines = [
            "bodies: \(share(\.elapsed)) at once on average, \(Quantities.count(tails.running)) running, \(share(\.blocked)) blocked, "
                + "\(share(\.knownProcessorWait)) waiting for one of \(counted(trace.workerCount, "processor"))"
        ]
        for (index, queue) in trace.queues.enumerated() {
            guard let limit = queue.limit else { continue }
            let own = trace.operations.indices.filter {
                trace.operations[$0].wasExecuted && trace.operations[$0].queue == index
            }
            guard !own.isEmpty else { continue }
            let waiting = own.reduce(Int64(0)) { $0 + waits.splits[$1][.limit] + waits.splits[$1][.priority] }
            let depth = TraceCounter(
                "", up: own.map { trace.operations[$0].ready }, down: own.map { trace.operations[$0].end }
            ).points
            let longer = zip(depth, depth.dropFirst()).filter { $0.0.value > limit }
                .reduce(Int64(0)) { $0 + $1.1.time - $1.0.time }
            if longer == 0 { continue }
            lines.append(
                "limit \(limit) of \(queue.name): more were ready for \(Quantities.percent(Double(longer) / elapsed)) of the "
                    + "time; it costs \(Quantities.time(Double(waiting) / Double(own.count))) per operation")
        }
        return lines
    }

    private func workSpanLines(_ figures: WorkSpan) -> [String] {
        func planned(_ time: KeyPath<WorkSpan.Planned, Int64>) -> String {
            figures.planned.map { " (planned \(Quantities.time($0[keyPath: time])))" } ?? ""
        }
        return [
            "work \(Quantities.time(figures.work))\(planned(\.work)), "
                + "span \(Quantities.time(figures.span))\(planned(\.span)) over "
                + "\(counted(figures.spanPath.count, "operation")), parallelism \(Quantities.count(figures.parallelism))",
            "burdened span \(Quantities.time(figures.burdenedSpan)) at \(Quantities.time(figures.burden)) per operation"
                + ", parallelism \(Quantities.count(figures.burdenedParallelism))",
            "ran \(Quantities.count(figures.averageParallelism)) at once; bodies took "
                + "\(Quantities.percent(figures.utilisation)) of the workers' time",
            "no schedule takes less than \(Quantities.time(figures.lowerBound)), a greedy one at most "
                + "\(Quantities.time(figures.brentBound)); scheduling efficiency "
                + Quantities.percent(figures.schedulingEfficiency),
        ]
    }

    private func waitLines(of what: String, _ split: WaitSplit) -> [String] {
        guard split.total > 0 else { return [] }
        let parts = WaitReason.allCases.filter { split[$0] > 0 }
            .sorted { (split[$1], $0.rawValue) < (split[$0], $1.rawValue) }
            .map { "\($0.words) \(Quantities.percent(Double(split[$0]), of: Double(split.total)))" }
        return ["waits of \(what), \(Quantities.time(split.total)): " + parts.joined(separator: ", ")]
    }

    /// The number of critical path steps in the summary.
    private static let shownSteps = 5

    private func pathLines(_ path: CriticalPath) -> [String] {
        let waits = path.waits
        var lines = [
            "critical path: \(counted(path.steps.count, "operation")), \(Quantities.time(path.duration)) in bodies, "
                + "\(Quantities.time(waits.total)) waiting"
        ]
        lines += waitLines(of: "the critical path", waits)
        for step in path.longest(Self.shownSteps) {
            let operation = trace.operations[step.operation]
            var line =
                "  operation \(step.operation) (\(trace.className(of: operation))): "
                + "\(Quantities.time(step.duration)) after \(Quantities.time(step.wait.total))"
            let reason = step.wait.greatest
            if step.wait[reason] > 0 { line += ", most of it \(reason.words)" }
            lines.append(line)
        }
        return lines
    }

    /// How often threads slept and were woken, and how often one was woken that did not sleep.
    private var wakeUpLines: [String] {
        var (parks, wakes, vain, parked) = (0, 0, 0, Set<UInt16>())
        // A wake-up at the time of the park counts as after it.
        let order: [TracedThreadEvent.Kind?: Int] = [.park: 0, .wake: 1]
        for event in trace.threadEvents.sorted(by: { ($0.time, order[$0.kind] ?? 2) < ($1.time, order[$1.kind] ?? 2) })
        {
            switch event.kind {
            case .park:
                parks += 1
                parked.insert(event.thread)
            case .wake:
                wakes += 1
                if !parked.contains(event.other) { vain += 1 }
            case .unpark: parked.remove(event.thread)
            default: continue
            }
        }
        guard parks + wakes > 0 else { return [] }
        return [
            "threads parked \(Self.times(parks)) and were woken \(Self.times(wakes)), \(vain) of them in vain"
        ]
    }
}
