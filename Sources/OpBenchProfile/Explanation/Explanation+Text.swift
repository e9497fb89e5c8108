import OpBenchModel

extension Explanation {
    /// The number of functions and sites in the text.
    private static let shown = 8
    private static let shownParts = 4

    /// One line per change, without line ends. Names are short and unescaped; the printing code must escape them.
    ///
    /// - Parameter measured: the run's time and CPU time, which come first; empty if there are none.
    public func lines(measured: [MeasuredChange] = []) -> [String] {
        var lines = [caveat].compactMap(\.self) + measured.map(Self.line)
        lines += [time, cpuTime].map { Self.line(inTurns($0), Quantities.time) }
        let names = shortNames
        let waits = tails.flatMap(Self.tailLines) + waits.map { "waiting, \(Self.line($0, Quantities.time))" }
        if isOfWaits { lines += waits }
        if cpu == nil { lines.append("no CPU profiles of both sides") }
        if let cpu, cpuTime.isSure { lines += ranked(cpu, names) }
        lines += allocations.prefix(Self.shown).map {
            "allocations by \(Self.line(Self.shortened($0, names), Quantities.count))"
        }
        lines += counts.map { Self.line($0, Quantities.count) }
        return isOfWaits ? lines : lines + waits
    }

    /// Whether the CPU time did not change: waits, and the slowest operations, then come before functions.
    private var isOfWaits: Bool { !cpuTime.isSure }

    /// The reason why nothing is significant; nil if the CPU time changed significantly.
    private var caveat: String? {
        if cpuTime.isSure { return nil }
        if time.isSure {
            return "the time changed, but the CPU time did not change significantly: no function is reported"
        }
        let least = Quantities.percent(ChanceTest.leastEffect)
        return tails.isEmpty
            ? "nothing is significant: over \(counted(turns, "turn")) neither the time nor the CPU time changed by \(least) "
                + "beyond chance; no function and no wait is reported; take more --turns"
            : "only the slowest operations changed: no function is reported, and waits only of these"
    }

    /// A figure of these turns, to show beside that of the run.
    private func inTurns(_ change: Change) -> Change {
        var named = change
        named.name += " in \(counted(turns, "turn"))"
        return named
    }

    /// The explanation as a table for a pull request, with full names.
    ///
    /// - Parameter measured: see `lines`.
    public func markdown(measured: [MeasuredChange] = []) -> String {
        var rows: [[String]] = measured.map {
            [$0.name, Quantities.time($0.base), Quantities.time($0.head), Self.percent($0.ratio), Self.interval($0)]
        }
        func row(_ change: Change, _ unit: (Double) -> String, _ name: String? = nil) {
            rows.append([
                name ?? change.name, unit(change.base), unit(change.head), Self.signed(change.difference, unit),
                Self.interval(change, unit),
            ])
        }
        func waitRows() {
            for tail in tails {
                row(tail.latency, Quantities.time)
                for reason in tail.reasons { row(reason, Quantities.time, "\(tail.latency.name), \(reason.name)") }
                if let words = tail.culpritWords {
                    rows.append(["\(tail.latency.name), culprit: \(words)", "", "", "", ""])
                }
            }
            for wait in waits { row(wait, Quantities.time, "waiting, \(wait.name)") }
        }
        for change in [time, cpuTime] { row(inTurns(change), Quantities.time) }
        if isOfWaits { waitRows() }
        if let cpu {
            for function in cpu.functions.prefix(Self.shown) { row(function.change, Quantities.time) }
            rows += Self.unexplained(cpu).map { [$0.name, "", "", $0.difference, ""] }
            for change in cpu.classes { row(change, Quantities.time, "class of code, \(change.name)") }
        }
        for site in allocations.prefix(Self.shown) { row(site, Quantities.count, "allocations by \(site.name)") }
        for count in counts { row(count, Quantities.count) }
        if !isOfWaits { waitRows() }
        let titles = ["what", backends.name(of: .base), backends.name(of: .head), "change", "interval"]
        let columns = titles.enumerated().map { place, title in
            Table<[String]>.Column(title, isText: place == 0) { $0[place] }
        }
        return (caveat.map { MarkdownText.cell($0) + "\n\n" } ?? "") + Table(columns, rows).markdown()
    }

    private static func tailLines(_ tail: ExplainedTail) -> [String] {
        [line(tail.latency, Quantities.time)] + tail.reasons.map { "  \(line($0, Quantities.time))" }
            + [tail.culpritWords.map { "  culprit: \($0)" }].compactMap(\.self)
    }

    /// The functions of a change, its unexplained rest, and its classes of code.
    private func ranked(_ ranking: RankedFunctions, _ names: ShortNames) -> [String] {
        var lines = ["of the CPU time, by function, including the work of runtime, allocator and kernel for it:"]
        for function in ranking.functions.prefix(Self.shown) {
            lines.append("  \(Self.line(Self.shortened(function.change, names), Quantities.time))")
            let parts = function.parts.prefix(Self.shownParts).map {
                "\($0.frameClass.words) \(Self.signed($0.difference, Quantities.time))"
            }
            lines.append("    " + parts.joined(separator: ", "))
        }
        if ranking.functions.count > Self.shown {
            let rest = ranking.functions.dropFirst(Self.shown).reduce(0) { $0 + $1.change.difference }
            lines.append(
                "  \(ranking.functions.count - Self.shown) more: \(Self.signed(rest, Quantities.time))")
        }
        lines += Self.unexplained(ranking).map { "  \($0): \($1)" }
        guard !ranking.classes.isEmpty else { return lines }
        return lines + ["of the CPU time, by class of code:"]
            + ranking.classes.map { "  \(Self.line($0, Quantities.time))" }
    }

    /// The parts of the change that no named function explains.
    private static func unexplained(_ ranking: RankedFunctions) -> [(name: String, difference: String)] {
        let limit = "less than \(Quantities.time(ranking.least)), or not beyond chance"
        var parts = [
            (
                name: "unexplained, in functions that changed by \(limit)",
                difference: signed(ranking.unnamed, Quantities.time)
            )
        ]
        if ranking.unsampled != 0 {
            parts.append(("unexplained, in no sample", signed(ranking.unsampled, Quantities.time)))
        }
        return parts
    }

    /// Short names for all functions in the text.
    private var shortNames: ShortNames {
        ShortNames((cpu?.functions ?? []).map(\.change.name) + allocations.map(\.name))
    }

    /// The change with a function's short name.
    private static func shortened(_ change: Change, _ names: ShortNames) -> Change {
        var shortened = change
        shortened.name = names[change.name]
        return shortened
    }

    private static func line(_ change: Change, _ unit: (Double) -> String) -> String {
        "\(change.name): \(unit(change.base)) → \(unit(change.head)) per operation, "
            + "\(signed(change.difference, unit)) (\(interval(change, unit)))"
    }

    private static func line(_ change: MeasuredChange) -> String {
        "\(change.name): \(Quantities.time(change.base)) → \(Quantities.time(change.head)) per operation, "
            + "\(percent(change.ratio)) (\(interval(change)))"
    }

    private static func interval(_ change: MeasuredChange) -> String {
        change.interval.map { "\(percent($0.lowerBound)) … \(percent($0.upperBound))" } ?? "too few blocks"
    }

    /// The difference of a ratio from 1, in percent.
    private static func percent(_ ratio: Double) -> String { Quantities.change(ratio - 1) }

    private static func interval(_ change: Change, _ unit: (Double) -> String) -> String {
        "\(signed(change.interval.lowerBound, unit)) … \(signed(change.interval.upperBound, unit))"
    }

    private static func signed(_ value: Double, _ unit: (Double) -> String) -> String {
        (value < 0 ? "−" : "+") + unit(value.magnitude)
    }
}
