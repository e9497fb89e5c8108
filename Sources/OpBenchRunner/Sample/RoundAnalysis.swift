import Histogram
import OpBenchBackends
import OpBenchModel

/// The analysis of the stamps of one sample's rounds.
struct RoundAnalysis {
    /// Figures of one class of operations; the empty class means all operations.
    struct ClassFigures {
        var operations = 0
        var inversions = 0
        var cpuNanoseconds: Int64 = 0
        var runNanoseconds: Int64 = 0
        var niceSum = 0
        var niceMinimum = Int.max
        var niceMaximum = Int.min
    }

    let plan: WorkloadPlan
    private(set) var recorder = LatencyRecorder()
    private(set) var classes: [String: ClassFigures] = [:]
    private(set) var startsAfterSuspend = 0
    private(set) var mostStartsInAHold = 0
    /// Whether the backend kept up with an open loop, by class: of all operations, and of each group of a replay. Empty
    /// in other plans.
    private(set) var keepingUp: [String: KeepingUp] = [:]

    /// The operations of each group of a replay.
    let groups: [String: [Int]]

    init(plan: WorkloadPlan) {
        self.plan = plan
        let byIndex = plan.groups.map { groups in
            Dictionary(grouping: 0..<plan.operationCount) { Int(groups.ofOperation[$0]) }
        }
        groups = Dictionary(
            uniqueKeysWithValues: (byIndex ?? [:]).map { index, members in (plan.groups!.name(index), members) })
    }

    /// The operations whose latencies are apart.
    private var parts: OperationClasses? { plan.groups ?? plan.classes }

    /// Adds one round before its stamps are reset.
    mutating func add(_ round: Round, _ body: OperationBody) {
        addLatencies(round, body)
        if let classes = plan.classes {
            addClasses(classes, body)
            if classes.label == "priority" { addInversions(classes, body) }
        }
        if !round.holds.isEmpty { addHolds(round.holds, body) }
        if plan.pacing != nil { addPace(round.pace, body) }
    }

    /// Adds the analysis of other rounds of the same plan.
    mutating func merge(_ other: RoundAnalysis) {
        keepingUp.merge(other.keepingUp) { $0.merged(with: $1) }
        for (key, histogram) in other.recorder.histograms { recorder.merge(histogram, key.stage, key.operationClass) }
    }

    /// The start of an operation's wait: the instant at which it is ready. If the queue is suspended during submission,
    /// no operation is ready before the release.
    private func ready(_ operation: Int, _ round: Round, _ body: OperationBody) -> Int64 {
        plan.startsSuspended ? max(round.submitted, body.ready(operation)) : body.ready(operation)
    }

    private mutating func addLatencies(_ round: Round, _ body: OperationBody) {
        let stages: [LatencyStage] = [.ready, .start, .run, .end, .submit, .notified]
        var local = emptyHistograms(of: stages)
        for operation in 0..<plan.operationCount where body.read(.start, operation) > 0 {
            let index = Int(parts?.ofOperation[operation] ?? 0)
            let ready = ready(operation, round, body)
            let submit = body.read(.submit, operation)
            let (start, end) = (body.read(.start, operation), body.read(.end, operation))
            for (stage, time) in [ready - submit, start - ready, end - start, end - ready, start - submit].enumerated()
            {
                local[index][stage].record(nanoseconds: time)
            }
            let notified = body.read(.notified, operation)
            if notified > 0 { local[index][5].record(nanoseconds: notified - end) }
        }
        merge(local, of: stages)
    }

    /// By class and stage.
    private func emptyHistograms(of stages: [LatencyStage]) -> [[Histogram<UInt64>]] {
        [[Histogram<UInt64>]](
            repeating: [Histogram<UInt64>](repeating: Histogram(), count: stages.count),
            count: parts?.keys.count ?? 1)
    }

    private mutating func merge(_ local: [[Histogram<UInt64>]], of stages: [LatencyStage]) {
        for index in local.indices {
            for (stage, histogram) in zip(stages, local[index]) {
                recorder.merge(histogram, stage)
                if let parts { recorder.merge(histogram, stage, parts.name(index)) }
            }
        }
    }

    private mutating func addClasses(_ planned: OperationClasses, _ body: OperationBody) {
        var local = [ClassFigures](repeating: ClassFigures(), count: planned.keys.count)
        for operation in 0..<plan.operationCount {
            let index = Int(planned.ofOperation[operation])
            local[index].operations += 1
            guard planned.label == "thread_priority" else { continue }
            let nice = Int(body.read(.nice, operation))
            local[index].cpuNanoseconds += body.read(.cpu, operation)
            local[index].runNanoseconds += body.read(.end, operation) - body.read(.start, operation)
            local[index].niceSum += nice
            local[index].niceMinimum = min(local[index].niceMinimum, nice)
            local[index].niceMaximum = max(local[index].niceMaximum, nice)
        }
        for index in local.indices { classes[planned.name(index), default: ClassFigures()].add(local[index]) }
    }

    private mutating func addInversions(_ planned: OperationClasses, _ body: OperationBody) {
        var operations = [[OrderedOperation]](repeating: [], count: plan.queueLimits.count)
        for operation in 0..<plan.operationCount where body.read(.start, operation) > 0 {
            operations[plan.queueIndex(of: operation)].append(
                OrderedOperation(
                    ready: body.ready(operation), start: body.read(.start, operation), end: body.read(.end, operation),
                    level: Int(planned.ofOperation[operation])))
        }
        for queue in operations {
            for (operation, victim) in zip(queue, Inversions.victims(in: queue)) where victim != nil {
                classes[planned.name(operation.level), default: ClassFigures()].inversions += 1
            }
        }
    }

    private mutating func addHolds(_ found: [Hold], _ body: OperationBody) {
        let suspension = SuspensionFigures(
            holds: found, starts: (0..<plan.operationCount).map { body.read(.start, $0) })
        startsAfterSuspend += suspension.startsPerHold.reduce(0, +)
        mostStartsInAHold = max(mostStartsInAHold, suspension.startsPerHold.max() ?? 0)
        var (quiesce, resume) = (Histogram<UInt64>(), Histogram<UInt64>())
        for time in suspension.quiesceTimes { quiesce.record(nanoseconds: time) }
        for time in suspension.resumeToStart { resume.record(nanoseconds: time) }
        recorder.merge(quiesce, .quiesce)
        recorder.merge(resume, .resume)
    }

    /// Latencies from a client's view: one that waits for each operation (service), or arrives when the plan says
    /// (intended).
    private mutating func addPace(_ pace: Pace, _ body: OperationBody) {
        let stages: [LatencyStage] = [.service, .intended, .lag]
        var local = emptyHistograms(of: stages)
        for operation in 0..<plan.operationCount {
            let (submit, end) = (body.read(.submit, operation), body.read(.end, operation))
            if end == 0 { continue }
            let index = Int(parts?.ofOperation[operation] ?? 0)
            local[index][0].record(nanoseconds: end - submit)
            guard case .arrivals(let instants) = plan.pacing else { continue }
            let arrival = pace.firstArrival + instants[operation]
            local[index][1].record(nanoseconds: end - arrival)
            local[index][2].record(nanoseconds: submit - arrival)
        }
        if case .arrivals(let instants) = plan.pacing {
            // A cancelled operation may never end.
            let ends = (0..<plan.operationCount).map { operation in
                let end = body.read(.end, operation)
                return end > 0 ? end - pace.firstArrival : .max
            }
            keepingUp.merge(compare(arrivals: instants, ends: ends)) { $0.merged(with: $1) }
        }
        merge(local, of: stages)
    }

    /// Compares ends with arrivals, of all operations and of each group.
    func compare(arrivals: [Int64], ends: [Int64]) -> [String: KeepingUp] {
        var parts = ["": KeepingUp(arrivals: arrivals, ends: ends)]
        for (name, members) in groups {
            parts[name] = KeepingUp(
                arrivals: members.map { arrivals[$0] }, ends: members.map { ends[$0] }, window: arrivals.last)
        }
        return parts
    }

    /// The 99th percentile from intended submit to end, in nanoseconds; 0 if nothing arrived.
    var intendedP99: Int64 {
        let key = LatencyRecorder.Key(stage: .intended, operationClass: "")
        return Int64(recorder.histograms[key]?.valueAtPercentile(99) ?? 0)
    }

    var inversions: Int { classes.values.reduce(0) { $0 + $1.inversions } }
}

extension RoundAnalysis.ClassFigures {
    fileprivate mutating func add(_ other: Self) {
        operations += other.operations
        inversions += other.inversions
        cpuNanoseconds += other.cpuNanoseconds
        runNanoseconds += other.runNanoseconds
        niceSum += other.niceSum
        niceMinimum = min(niceMinimum, other.niceMinimum)
        niceMaximum = max(niceMaximum, other.niceMaximum)
    }
}

/// Whether a backend kept up with the arrivals of an open loop. If it did not, operations wait for the rest of the
/// round, so their latency reflects the round's length and not the backend.
struct KeepingUp: Sendable, Equatable {
    private(set) var rounds = 1
    private(set) var overloadedRounds: Int
    /// The time from the first arrival to the last, in nanoseconds, summed over rounds, and the operations that arrived
    /// and ended in it.
    private(set) var window: Int64
    private(set) var arrived: Int
    private(set) var ended: Int

    /// The limits of the backlog at the end: this part of the operations, and at least this many, since even a queue
    /// that keeps up has some backlog when arrivals cluster. Half of it must exist in the middle already, so that a
    /// single stall does not count.
    static let backlogPart = 0.05
    static let leastBacklog = 20.0

    /// - Parameters:
    ///   - arrivals: the instants of arrival, ascending, in nanoseconds from the first.
    ///   - ends: the instants at which the operations ended, from the same origin.
    ///   - window: the instant of the last arrival of all; nil for that of these operations.
    init(arrivals: [Int64], ends: [Int64], window whole: Int64? = nil) {
        let last = whole ?? arrivals.last ?? 0
        func count(until instant: Int64) -> (arrived: Int, ended: Int) {
            (arrivals.count { $0 < instant }, ends.count { $0 <= instant })
        }
        let (middle, end) = (count(until: last / 2), count(until: last))
        let bound = max(Self.backlogPart * Double(arrivals.count), Self.leastBacklog)
        let isOverloaded =
            Double(end.arrived - end.ended) > bound && Double(middle.arrived - middle.ended) > bound / 2
        overloadedRounds = isOverloaded ? 1 : 0
        (window, arrived, ended) = (last, end.arrived, end.ended)
    }

    func merged(with other: KeepingUp) -> KeepingUp {
        var sum = self
        sum.rounds += other.rounds
        sum.overloadedRounds += other.overloadedRounds
        sum.window += other.window
        sum.arrived += other.arrived
        sum.ended += other.ended
        return sum
    }

    /// Whether most rounds were overloaded.
    var isOverloaded: Bool { 2 * overloadedRounds > rounds }

    /// Arrivals and completions per second; nil if all arrived at once.
    var rates: (arrival: Double, completion: Double)? {
        func perSecond(_ count: Int) -> Double { Double(count) * 1e9 / Double(window) }
        return window > 0 ? (perSecond(arrived), perSecond(ended)) : nil
    }

    /// Reports two rates.
    func report(_ operationClass: String = "", into report: inout SampleReport) {
        guard let rates else { return }
        report.add(.arrivalRate, "rate", rates.arrival, operationClass: operationClass, operations: arrived)
        report.add(.completionRate, "rate", rates.completion, operationClass: operationClass, operations: ended)
    }
}

/// A queue's reactions to its suspensions. Holds after the last start of a round carry no information and are left out.
struct SuspensionFigures: Sendable, Equatable {
    /// The number of operations that started after suspend had returned, for each hold.
    private(set) var startsPerHold: [Int] = []
    /// The time from suspend's return to the last such start, in nanoseconds; 0 if nothing started.
    private(set) var quiesceTimes: [Int64] = []
    /// The time from the call of resume to the first start before the next hold, in nanoseconds.
    private(set) var resumeToStart: [Int64] = []

    init(holds: [Hold], starts: [Int64]) {
        let starts = starts.sorted()
        for (index, hold) in holds.enumerated() {
            let first = starts.partition { $0 > hold.suspendReturned }
            let afterHold = starts.partition { $0 >= hold.resumeCalled }
            guard first < starts.count else { return }
            startsPerHold.append(afterHold - first)
            quiesceTimes.append(afterHold > first ? starts[afterHold - 1] - hold.suspendReturned : 0)
            let next = index + 1 < holds.count ? holds[index + 1].suspendReturned : Int64.max
            if afterHold < starts.count, starts[afterHold] < next {
                resumeToStart.append(starts[afterHold] - hold.resumeCalled)
            }
        }
    }
}
