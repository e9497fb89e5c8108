import OpBenchModel

/// The text for a terminal about threads' waits.
public struct OffCPUReport: Sendable {
    public let profile: OffCPU
    private let classifier: FrameClassifier
    /// The number of operations between the marks; 0 if unknown.
    public let operations: Int
    private let bodies: RecordedBodies?

    /// - Parameter bodies: the bodies of the same time, if the program recorded them.
    public init(_ profile: OffCPU, on backend: BackendID, operations: Int, bodies: RecordedBodies? = nil) {
        (self.profile, self.operations, self.bodies) = (profile, operations, bodies)
        classifier = FrameClassifier(backend)
    }

    /// The lines, without line ends. They contain unescaped names, which the printing code must escape.
    ///
    /// - Parameter count: the maximum number of threads, of pairs and of cases.
    public func lines(_ count: Int = 8) -> [String] {
        guard !profile.threads.isEmpty else { return ["no switch"] }
        return OffCPU.lines(of: profile.threads, duration: profile.marks.duration, operations, count) + causes()
            + wakeUps() + waits(count) + flaws()
    }

    private func perOperation(_ number: Double) -> String {
        operations > 0 ? ", \(Quantities.count(number / Double(operations))) per operation" : ""
    }

    private func causes() -> [String] {
        ["waits for:"]
            + profile.causes.map { "  \($0.cause.words): \(Quantities.time($0.time)), \(counted($0.count, "time"))" }
    }

    private func wakeUps() -> [String] {
        guard profile.knowsWakers else { return ["wake-ups: unknown without the kernel's tracepoints"] }
        let (count, delay) = profile.wakeUps
        guard count > 0 else { return ["wake-ups: none"] }
        return [
            "wake-ups: \(Quantities.count(Double(count)))" + perOperation(Double(count))
                + ", \(Quantities.time(Double(delay) / Double(count))) late on average"
        ]
    }

    /// Waits by function and waker, and those of bodies by the operations' classes.
    private func waits(_ count: Int) -> [String] {
        let waits = BlamedWaits(profile, bodies, classifier)
        let pairs = waits.sums { .init(function: $0.place, waker: $0.waker) }
        let (ended, others) = (pairs.filter { $0.key.waker != nil }, pairs.filter { $0.key.waker == nil })
        let names = ShortNames(pairs.flatMap { [$0.key.function, $0.key.waker].compactMap(\.self) })
        func list(_ heading: String, _ sums: [BlamedWaits.Sum]) -> [String] {
            if sums.isEmpty { return [] }
            let lines = sums.prefix(count).map { sum in
                let waker = sum.key.waker.map { " ← \(names[$0])" } ?? ""
                return
                    "  \(Quantities.time(sum.time)), \(counted(sum.count, "time")): \(names[sum.key.function])\(waker)"
            }
            return [heading] + lines + Self.more(sums.count - lines.count, "pair")
        }
        let idle = waits.idle > 0 ? ["without work: \(Quantities.time(waits.idle)) of the queue's threads"] : []
        return list("blocked in ← woken by:", ended)
            + list(profile.knowsWakers ? "blocked in, woken by no thread of the process:" : "blocked in:", others)
            + idle + blockedBodies(waits, count, names)
    }

    private func blockedBodies(_ waits: BlamedWaits, _ count: Int, _ names: ShortNames) -> [String] {
        guard let bodies else { return [] }
        guard profile.threads.contains(where: { bodies.covers($0.id) }) else {
            return ["the recording has no thread of this profile, so blocked bodies are unknown"]
        }
        let sums = waits.sums { $0.group == nil ? nil : $0 }
        let lines = sums.prefix(count).map { sum in
            let waker = [sum.key.wakerGroup, sum.key.waker.map { names[$0] }].compactMap(\.self).joined(separator: ", ")
            return "  \(sum.key.group ?? ""): blocked \(Quantities.time(sum.time)) in \(names[sum.key.function]), "
                + counted(sum.count, "time") + (waker.isEmpty ? "" : ", woken by \(waker)")
        }
        return ["blocked bodies, by the recording:" + (lines.isEmpty ? " none" : "")] + lines
            + Self.more(sums.count - lines.count, "case")
    }

    fileprivate static func more(_ count: Int, _ word: String) -> [String] {
        count > 0 ? ["  and \(counted(count, "more \(word)"))"] : []
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
            $0.running.addClamped($1.running)
            $0.waiting.addClamped($1.waiting)
            $0.blocked.addClamped($1.blocked)
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
        return lines + OffCPUReport.more(threads.count - count, "thread")
    }
}
