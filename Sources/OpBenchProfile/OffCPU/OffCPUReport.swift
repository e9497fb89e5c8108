import OpBenchModel

/// The text for a terminal about threads' waits.
public struct OffCPUReport: Sendable {
    public let profile: OffCPU
    private let classifier: FrameClassifier
    /// The number of operations between the marks; 0 if unknown.
    public let operations: Int

    public init(_ profile: OffCPU, on backend: BackendID, operations: Int) {
        (self.profile, self.operations) = (profile, operations)
        classifier = FrameClassifier(backend)
    }

    /// The lines, without line ends. They contain unescaped names, which the printing code must escape.
    ///
    /// - Parameter count: the maximum number of threads, of stacks and of pairs.
    public func lines(_ count: Int = 8) -> [String] {
        guard !profile.threads.isEmpty else { return ["no switch"] }
        return OffCPU.lines(of: profile.threads, duration: profile.marks.duration, operations, count) + causes()
            + stacks(count) + wakeUps(count) + flaws()
    }

    private func perOperation(_ number: Double) -> String {
        operations > 0 ? ", \(Quantities.count(number / Double(operations))) per operation" : ""
    }

    private func causes() -> [String] {
        ["waits for:"]
            + profile.causes.map { "  \($0.cause.words): \(Quantities.time($0.time)), \(counted($0.count, "time"))" }
    }

    /// The functions where most time was spent waiting: the innermost ones outside the kernel and the C library. Threads
    /// of the queue that wait in no body are without work, and apart.
    private func stacks(_ count: Int) -> [String] {
        let stacks = profile.blocked
        guard stacks.total > 0 else { return [] }
        var (sums, idle) = ([String: Int64](), Int64(0))
        for sample in stacks.samples {
            let frames = stacks.stack(sample.stack).map { stacks.frames[Int($0)] }
            let classes = frames.map { classifier.classify($0) }
            if classes.contains(where: { if case .queue = $0 { true } else { false } }),
                !classes.contains(where: { [.workload, .library].contains($0) })
            {
                idle.addCapped(sample.weight)
                continue
            }
            let place =
                classes.lastIndex { ![.kernel, .futex, .libc, .unknown].contains($0) }
                // Where the chain of callers is broken, the C library's function.
                ?? classes.lastIndex { $0 != .kernel }
            sums[(place.map { frames[$0] } ?? frames.last)?.name ?? "[no stack]", default: 0] += sample.weight
        }
        let places = sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let busy = Double(stacks.total) - Double(idle)
        let apart = idle > 0 ? ", without \(Quantities.time(idle)) of the queue's threads without work" : ""
        return ["blocked in\(apart):"]
            + zip(places, StackReport.shortened(places.map(\.key), first: count)).map {
                "  \(Quantities.percent(Double($0.value), of: busy)): \($1)"
            }
    }

    private func wakeUps(_ count: Int) -> [String] {
        let wakeUps = profile.wakeUps
        guard profile.knowsWakers else { return ["wake-ups: unknown without the kernel's tracepoints"] }
        guard wakeUps.count > 0 else { return ["wake-ups: none"] }
        var lines = [
            "wake-ups: \(Quantities.count(Double(wakeUps.count)))" + perOperation(Double(wakeUps.count))
                + ", \(Quantities.time(Double(wakeUps.delay) / Double(wakeUps.count))) late on average"
        ]
        lines += wakeUps.pairs.prefix(count).map {
            "  \($0.waker) woke \($0.woken) \(counted($0.count, "time")), "
                + "\(Quantities.time(Double($0.delay) / Double($0.count))) late on average, "
                + "\(Quantities.time($0.longestDelay)) at most"
        }
        if let chain = wakeUps.longest, chain.length > 1 {
            let isCut = chain.threads.count < chain.length + 1
            lines.append(
                "longest chain: \(chain.length) wake-ups in \(Quantities.time(chain.duration)): "
                    + (isCut ? "… " : "") + chain.threads.joined(separator: " → "))
        }
        lines += wakeUps.patterns.prefix(3).map {
            "  chain \($0.threads.joined(separator: " → ")): \(counted($0.count, "time"))"
        }
        return lines
    }

    private func flaws() -> [String] {
        profile.lost > 0
            ? [
                "\(counted(profile.lost, "event was", plural: "events were")) lost, so times are too low; profile a shorter or smaller cell"
            ] : []
    }
}

extension OffCPU {
    /// The times that threads ran and waited: one line for all, one for switches, and one for each of the first
    /// threads.
    ///
    /// - Parameters:
    ///   - duration: the total time between the marks, in nanoseconds.
    ///   - operations: the number of operations between the marks; 0 if unknown.
    static func lines(of threads: [ThreadTime], duration: Int64, _ operations: Int, _ count: Int) -> [String] {
        let sums = threads.reduce(into: (running: Int64(0), waiting: Int64(0), blocked: Int64(0), switches: 0)) {
            $0.running.addCapped($1.running)
            $0.waiting.addCapped($1.waiting)
            $0.blocked.addCapped($1.blocked)
            $0.switches += $1.voluntary + $1.involuntary
        }
        let switches = Double(sums.switches)
        var lines = [
            "\(Quantities.time(duration)) of \(counted(threads.count, "thread")): "
                + "\(Quantities.time(sums.running)) running, \(Quantities.time(sums.waiting)) waiting for a processor, "
                + "\(Quantities.time(sums.blocked)) blocked",
            "switches: \(Quantities.count(switches))"
                + (operations > 0 ? ", \(Quantities.count(switches / Double(operations))) per operation" : ""),
        ]
        for thread in threads.prefix(count) {
            lines.append(
                "  \(thread.name): \(Quantities.time(thread.running)) running, "
                    + "\(Quantities.time(thread.waiting)) waiting for a processor, "
                    + "\(Quantities.time(thread.blocked)) blocked; \(counted(thread.voluntary, "time")) voluntarily, "
                    + "\(counted(thread.involuntary, "time")) preempted")
        }
        if threads.count > count { lines.append("  and \(counted(threads.count - count, "more thread"))") }
        return lines
    }
}
