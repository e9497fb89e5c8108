import OpBenchModel

/// Everything computed from one trace.
public struct TraceReport: Sendable {
    /// The effect of a change, from schedules of the same bodies (`ListSchedule`).
    public struct WhatIf: Equatable, Sendable {
        /// The change, in words.
        public var change: String
        /// The scheduled time in nanoseconds.
        public var elapsed: Int64
        /// The time of the schedule without the change.
        public var unchanged: Int64

        /// The factor: 2 for half the time.
        public var speedup: Double { elapsed > 0 ? Double(unchanged) / Double(elapsed) : 1 }
    }

    public let trace: SampleTrace
    public let workSpan: WorkSpan
    public let waits: WaitAnalysis
    public let path: CriticalPath
    public let inversions: PriorityInversions
    public let fairness: Fairness
    public let wakeUps: WakeUps
    public let tails: Tails
    public let whatIfs: [WhatIf]

    /// - Parameters:
    ///   - trace: any trace; it is checked.
    ///   - tolerance: the tolerance of `PriorityInversions`, in nanoseconds.
    /// - Throws: `RecordError` if the trace is inconsistent or its operations wait in a cycle.
    public init(_ trace: SampleTrace, tolerance: Int64 = 10_000) throws(RecordError) {
        try trace.check()
        let graph = try OperationGraph(trace)
        self.trace = trace
        waits = WaitAnalysis(trace, graph)
        workSpan = WorkSpan(trace, graph, burden: waits.burden)
        path = CriticalPath(trace, graph)
        inversions = PriorityInversions(trace, tolerance: tolerance)
        fairness = Fairness(trace, waits)
        wakeUps = WakeUps(trace)
        tails = Tails(trace, graph, waits)
        whatIfs = Self.whatIfs(trace, graph, workSpan)
    }

    private static func whatIfs(_ trace: SampleTrace, _ graph: OperationGraph, _ workSpan: WorkSpan) -> [WhatIf] {
        guard workSpan.work > 0 else { return [] }
        let workers = workSpan.workers
        let unchanged = ListSchedule(trace, graph, .init(workers: workers)).elapsed
        var changes: [(String, ListSchedule.Change)] = [
            ("twice the workers (\(2 * workers))", .init(workers: 2 * workers))
        ]
        if trace.queues.contains(where: { $0.limit != nil }) {
            changes.append(("queues without limits", .init(workers: workers, unlimited: true)))
        }
        let longest = workSpan.spanPath.max {
            (trace.operations[$0].duration, $1) < (trace.operations[$1].duration, $0)
        }
        if let longest {
            let name = trace.className(of: trace.operations[longest])
            changes.append(("operation \(longest) (\(name)) in zero time", .init(workers: workers, free: [longest])))
        }
        changes.append(
            (
                "all submitted at the beginning, except by operations",
                .init(workers: workers, submittedAtOnce: true)
            ))
        return changes.map { name, change in
            WhatIf(change: name, elapsed: ListSchedule(trace, graph, change).elapsed, unchanged: unchanged)
        }
    }
}

// MARK: - Lines for a terminal

extension TraceReport {
    /// The lines of the summary, without line ends. They contain unescaped names, which the printing code must escape.
    public func lines() -> [String] {
        let executed = trace.operations.count(where: \.wasExecuted)
        guard executed > 0 else { return ["no operation was executed"] }
        var workers = counted(workSpan.workers, "worker")
        let added = workSpan.workers - trace.workerCount
        if added > 0 { workers += ", \(added) of them only while bodies blocked" }
        var lines = ["\(counted(executed, "operation")) in \(Quantities.time(workSpan.elapsed)), \(workers)"]
        if trace.lostOperations > 0 {
            lines.append(
                "\(counted(trace.lostOperations, "more was", plural: "more were")) lost; the figures cover only the others"
            )
        }
        lines += workSpanLines + waitLines(of: "all operations", waits.total) + pathLines + whatIfLines
        return lines + priorityLines + wakeUpLines + tails.lines()
    }

    private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    private var workSpanLines: [String] {
        let figures = workSpan
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

    private var pathLines: [String] {
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
            let reason = WaitReason.allCases.max { (step.wait[$0], $1.rawValue) < (step.wait[$1], $0.rawValue) }
            if let reason, step.wait[reason] > 0 { line += ", most of it \(reason.words)" }
            lines.append(line)
        }
        return lines
    }

    private var whatIfLines: [String] {
        whatIfs.map {
            "what if \($0.change): \(Quantities.time($0.unchanged)) → \(Quantities.time($0.elapsed)), "
                + "\(Quantities.ratio($0.speedup)) as fast, if nothing but bodies took time"
        }
    }

    private var priorityLines: [String] {
        var lines: [String] = []
        if let worst = inversions.worst {
            let (culprit, victim) = (trace.operations[worst.culprit], trace.operations[worst.victim])
            lines.append(
                "priority inversions: \(inversions.inversions.count) of \(counted(inversions.starts, "start")), "
                    + "\(Quantities.time(inversions.delay)) of delay; worst: operation \(worst.culprit) "
                    + "(\(trace.className(of: culprit)), priority \(culprit.priority)) before \(worst.victim) "
                    + "(\(trace.className(of: victim)), priority \(victim.priority)) at \(Quantities.time(worst.time)), "
                    + "\(Quantities.time(worst.delay))")
        } else if Set(trace.operations.map(\.priority)).count > 1 {
            lines.append("priority inversions: none of \(counted(inversions.starts, "start"))")
        }
        if let starved = fairness.longestStarvation, starved.wait > 0 {
            let name = trace.className(of: trace.operations[starved.operation])
            lines.append(
                "longest starvation: operation \(starved.operation) (\(name)), \(Quantities.time(starved.wait)), "
                    + "overtaken by \(starved.overtakenBy) of its queue")
        }
        if fairness.classes.count > 1 {
            let means = fairness.classes.map { "\($0.name) \(Quantities.time($0.mean))" }
            lines.append(
                "waits by class: \(means.joined(separator: ", ")); Jain's index \(Quantities.count(fairness.index))")
        }
        return lines
    }

    private var wakeUpLines: [String] {
        guard wakeUps.parks + wakeUps.wakes > 0 else { return [] }
        var lines = [
            "threads parked \(Self.times(wakeUps.parks)) and were woken \(Self.times(wakeUps.wakes)), "
                + "\(wakeUps.vainWakes) of them in vain"
        ]
        if let pair = wakeUps.pairs.first(where: { $0.waker != nil }), let waker = pair.waker {
            lines.append(
                "most often: \(trace.threads[waker].name) woke \(trace.threads[pair.woken].name), \(pair.count)×, "
                    + "at worst \(Quantities.time(pair.longest)) late")
        }
        return lines
    }
}
