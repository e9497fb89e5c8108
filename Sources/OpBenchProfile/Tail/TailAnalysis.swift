extension Tails {
    /// - Parameters:
    ///   - trace: a trace that passes `SampleTrace.check()`.
    ///   - waits: the waits of the same trace.
    public init(_ trace: SampleTrace, _ graph: OperationGraph, _ waits: WaitAnalysis) {
        var analysis = TailAnalysis(trace, graph, waits)
        title = trace.title
        groups = analysis.tails().sorted { ($1.latency.p99, $0.name) < ($0.latency.p99, $1.name) }
        culprits = analysis.culprits()
        let time = trace.operations.reduce(0.0) { $0 + ($1.wasExecuted ? Double($1.ownTime) : 0) }
        (running, processors) = (time / Double(max(1, trace.elapsed)), trace.workerCount)
    }
}

private struct TailAnalysis {
    private let trace: SampleTrace
    private let waits: WaitAnalysis
    private let groups: Groups
    private let delays: Delays
    /// The causes that delayed slow operations.
    private var found: [Cause: [Delays.Charge]] = [:]

    private static let leastSlow = 3
    private static let leastVictims = 3
    private static let leastShare = 0.2
    /// In nanoseconds: threads wait so long for the kernel on any machine at times.
    private static let leastByKernel = 1e6
    private static let mostUsual = 100

    init(_ trace: SampleTrace, _ graph: OperationGraph, _ waits: WaitAnalysis) {
        (self.trace, self.waits, groups) = (trace, waits, Groups(trace))
        delays = Delays(trace, graph, waits, groups: groups.ofOperation, members: groups.members)
    }

    mutating func tails() -> [Tail] {
        groups.members.indices.map { group in
            let members = groups.members[group].sorted { (latency($1), $0) < (latency($0), $1) }
            let slow = members.prefix(max((members.count + 99) / 100, Self.leastSlow))
            let total = slow.reduce(WaitSplit()) { $0 + waits.splits[$1] }
            let culprits = judge(slow, of: members)
            let operations = members.map { trace.operations[$0] }
            return Tail(
                name: groups.members.count > 1 ? groups.names[group] : "", operations: members.count,
                rate: Double(members.count) * 1e9 / Double(max(1, trace.elapsed)),
                latency: Spread(members.map(latency)), wait: Spread(operations.map { $0.start - $0.submit }),
                body: Spread(operations.map(\.elapsed)), slow: slow.count,
                slowLatency: slow.reduce(0) { $0 + latency($1) },
                reasons: NamedTime.parts(of: total, body: slow.reduce(0) { $0 + trace.operations[$1].ownTime }),
                culprits: culprits)
        }
    }

    private func latency(_ index: Int) -> Int64 { trace.operations[index].end - trace.operations[index].submit }

    /// Adds the delays of slow operations to `found`, if they are large enough.
    ///
    /// - Parameter members: the slowest first.
    private mutating func judge(_ slow: ArraySlice<Int>, of members: [Int]) -> [NamedTime] {
        let usual = usualWork(of: members)
        let mean = Double(slow.reduce(0) { $0 + latency($1) }) / Double(slow.count)
        let least = max(mean * Self.leastShare, usual.values.reduce(0, +))
        var parts: [NamedTime] = []
        for (cause, charges) in Dictionary(grouping: slow.flatMap { delays.charges(of: $0) }, by: \.cause) {
            let unusual = charges.compactMap { charge -> Delays.Charge? in
                var charge = charge
                charge.time -= usual[cause, default: 0]
                return charge.time > 0 ? charge : nil
            }
            let delay = unusual.reduce(0) { $0 + $1.time }
            let floor = cause.kind.isKernel ? max(least, Self.leastByKernel) : least
            guard delay > 0, delay >= floor * Double(slow.count) else { continue }
            found[cause, default: []] += unusual
            parts.append(NamedTime(name(of: cause), Int64(delay)))
        }
        return parts.sorted { ($1.time, $0.name) < ($0.time, $1.name) }
    }

    /// The work in the latency of an operation between the 40th and the 60th percentile, on average.
    private func usualWork(of members: [Int]) -> [Cause: Double] {
        let middle = members[(2 * members.count / 5)..<max(2 * members.count / 5 + 1, 3 * members.count / 5)]
        let chosen = stride(from: middle.startIndex, to: middle.endIndex, by: middle.count / Self.mostUsual + 1)
        let charges = chosen.flatMap { delays.charges(of: members[$0]) }.filter(\.cause.kind.isWork)
        return Dictionary(charges.map { ($0.cause, $0.time / Double(Array(chosen).count)) }, uniquingKeysWith: +)
    }

    private func name(of cause: Cause) -> String {
        let group = cause.place < groups.names.count ? groups.names[cause.place] : ""
        let queue = cause.place < trace.queues.count ? trace.queues[cause.place] : SampleTrace.Queue(name: "")
        return switch cause.kind {
        case .holder: "\(group) likely held what others waited for"
        case .blocked: "\(group) was blocked in its body"
        case .running: "\(group) ran for long"
        case .limit: "the limit \(queue.limit.map { "\($0) " } ?? "")of \(queue.name)"
        case .suspension: "\(queue.name) was suspended"
        case .workers: "all workers were in bodies"
        case .processors: Culprit.noProcessor
        case .wakeUps: "threads were slow to wake up"
        case .engine: "the engine's way from one operation to the next"
        }
    }

    // MARK: Culprits

    func culprits() -> [Culprit] {
        found.compactMap { cause, charges -> Culprit? in
            let victims = Set(charges.map(\.victim))
            guard victims.count >= Self.leastVictims else { return nil }
            let incidents = incidents(charges)
            return Culprit(
                word: cause.kind.word, name: name(of: cause), delay: Int64(charges.reduce(0) { $0 + $1.time }),
                delayed: victims.count,
                groups: Set(victims.map { groups.ofOperation[$0] }).sorted().map { groups.names[$0] },
                incidents: incidents.count,
                runs: charges[0].culprit.map { groups.members[groups.ofOperation[$0]].count },
                clearest: incidents.prefix(2).map(incident))
        }.sorted { ($1.delay, $0.name) < ($0.delay, $1.name) }
    }

    /// The delays of each incident, the greatest first: by one operation, or while some operation waited.
    private func incidents(_ charges: [Delays.Charge]) -> [[Delays.Charge]] {
        var incidents: [[Delays.Charge]] = []
        if charges[0].culprit != nil {
            incidents = Array(Dictionary(grouping: charges) { $0.culprit }.values)
        } else {
            var until = TraceTime.min
            for charge in charges.sorted(by: { (submit($0), $0.victim) < (submit($1), $1.victim) }) {
                if submit(charge) > until { incidents.append([]) }
                incidents[incidents.count - 1].append(charge)
                until = max(until, trace.operations[charge.victim].end)
            }
        }
        func order(_ incident: [Delays.Charge]) -> (Double, Int) {
            (-incident.reduce(0) { $0 + $1.time }, incident[0].victim)
        }
        return incidents.sorted { order($0) < order($1) }
    }

    private func submit(_ charge: Delays.Charge) -> TraceTime { trace.operations[charge.victim].submit }

    private func incident(_ charges: [Delays.Charge]) -> Incident {
        let byVictim = Dictionary(charges.map { ($0.victim, $0.time) }, uniquingKeysWith: +)
        let others = byVictim.filter { $0.key != charges[0].culprit }
        let longest = (others.isEmpty ? byVictim : others).max { ($0.value, $1.key) < ($1.value, $0.key) }!
        return Incident(
            culprit: charges[0].culprit.map(timeline), delay: Int64(byVictim.values.reduce(0, +)),
            delayed: byVictim.count, victim: timeline(longest.key))
    }

    private func timeline(_ index: Int) -> SlowOperation {
        let operation = trace.operations[index]
        return SlowOperation(
            operation: index, name: groups.names[groups.ofOperation[index]],
            thread: Int(operation.worker) < trace.threads.count ? trace.threads[Int(operation.worker)].name : nil,
            submit: operation.submit, ready: operation.ready, start: operation.start, end: operation.end,
            reasons: NamedTime.parts(of: waits.splits[index], body: operation.ownTime))
    }
}

/// The operations of a trace by class and queue.
struct Groups {
    /// For each operation.
    private(set) var ofOperation: [Int]
    /// The executed operations of each group.
    private(set) var members: [[Int]] = []
    private(set) var names: [String] = []

    init(_ trace: SampleTrace) {
        ofOperation = [Int](repeating: 0, count: trace.operations.count)
        var numbers: [UInt32: Int] = [:]
        for (index, operation) in trace.operations.enumerated() where operation.wasExecuted {
            let key = UInt32(operation.queue) << 8 | UInt32(operation.operationClass)
            let group = numbers[key] ?? members.count
            if group == members.count {
                numbers[key] = group
                members.append([])
                let queue = trace.queues.count > 1 ? " in \(trace.queues[Int(operation.queue)].name)" : ""
                names.append(trace.className(of: operation) + queue)
            }
            members[group].append(index)
            ofOperation[index] = group
        }
    }
}

extension Cause.Kind {
    fileprivate var word: Culprit.Word {
        switch self {
        case .holder, .blocked: .blocked
        case .running: .stragglers
        case .limit: .limit
        case .suspension: .suspended
        case .workers, .processors: .overloaded
        case .wakeUps, .engine: .overhead
        }
    }
}

extension Spread {
    /// - Parameter values: one at least.
    fileprivate init(_ values: [Int64]) {
        let sorted = values.sorted()
        func percentile(_ percent: Int) -> Int64 { sorted[(sorted.count * percent + 99) / 100 - 1] }
        self.init(p50: percentile(50), p90: percentile(90), p99: percentile(99), max: sorted[sorted.count - 1])
    }
}

extension NamedTime {
    /// The parts of a latency that are not 0, the greatest first.
    static func parts(of split: WaitSplit, body: Int64 = 0) -> [NamedTime] {
        let parts = WaitReason.allCases.map { NamedTime($0.words, split[$0]) } + [NamedTime(Tails.body, body)]
        return parts.enumerated().filter { $0.element.time > 0 }
            .sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }.map(\.element)
    }
}
