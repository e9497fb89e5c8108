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
        lines += [time, cpuTime].map { Self.line(inTurns($0), ProfileText.time) }
        let names = shortNames
        let waits = tails.flatMap(Self.tailLines) + waits.map { "waiting, \(Self.line($0, ProfileText.time))" }
        if isOfWaits { lines += waits }
        if cpu == nil { lines.append("no CPU profiles of both sides") }
        if let cpu, cpuTime.isSure { lines += ranked("of the CPU time", cpu, names, ProfileText.time) }
        lines += allocations.prefix(Self.shown).map {
            "allocations by \(Self.line(Self.shortened($0, names), ProfileText.count))"
        }
        lines += counts.map { Self.line($0, ProfileText.count) }
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
        let least = ProfileText.share(ChanceTest.leastEffect, of: 1)
        return tails.isEmpty
            ? "nothing is significant: over \(counted(turns.base, "turn")) neither the time nor the CPU time changed by \(least) "
                + "beyond chance; no function and no wait is reported; take more --turns"
            : "only the slowest operations changed: no function is reported, and waits only of these"
    }

    /// A figure of these turns, to show beside that of the run.
    private func inTurns(_ change: Change) -> Change {
        var named = change
        named.name += " in \(counted(turns.base, "turn"))"
        return named
    }

    /// The explanation as a table for a pull request, with full names.
    ///
    /// - Parameters:
    ///   - measured: see `lines`.
    ///   - escape: escapes a name for a Markdown table.
    public func markdown(measured: [MeasuredChange] = [], escape: (String) -> String) -> String {
        var text = caveat.map { escape($0) + "\n\n" } ?? ""
        text +=
            "| what | \(backends.name(of: .base)) | \(backends.name(of: .head)) | change | interval |\n"
            + "|---|--:|--:|--:|--:|\n"
        func row(_ change: Change, _ unit: (Double) -> String, _ name: String? = nil) {
            text +=
                "| \(escape(name ?? change.name)) | \(unit(change.base)) | \(unit(change.head)) "
                + "| \(Self.signed(change.difference, unit)) | \(Self.interval(change, unit)) |\n"
        }
        for change in measured {
            text +=
                "| \(escape(change.name)) | \(ProfileText.time(change.base)) | \(ProfileText.time(change.head)) "
                + "| \(Self.percent(change.ratio)) | \(Self.interval(change)) |\n"
        }
        for change in [time, cpuTime] { row(inTurns(change), ProfileText.time) }
        func waitRows() {
            for tail in tails {
                row(tail.latency, ProfileText.time)
                for reason in tail.reasons { row(reason, ProfileText.time, "\(tail.latency.name), \(reason.name)") }
                if let words = tail.culpritWords {
                    text += "| \(escape("\(tail.latency.name), culprit: \(words)")) | | | | |\n"
                }
            }
            for wait in waits { row(wait, ProfileText.time, "waiting, \(wait.name)") }
        }
        if isOfWaits { waitRows() }
        /// - Parameter what: the prefix of each name.
        func rows(_ ranking: RankedFunctions, _ unit: (Double) -> String, _ what: String = "") {
            for function in ranking.functions.prefix(Self.shown) {
                row(function.change, unit, what + function.change.name)
            }
            for (name, difference) in Self.unexplained(ranking, unit) {
                text += "| \(what)\(name) | | | \(Self.signed(difference, unit)) | |\n"
            }
            for change in ranking.classes { row(change, unit, "\(what)class of code, \(change.name)") }
        }
        if let cpu { rows(cpu, ProfileText.time) }
        for site in allocations.prefix(Self.shown) {
            row(site, ProfileText.count, "allocations by \(site.name)")
        }
        for count in counts { row(count, ProfileText.count) }
        if !isOfWaits { waitRows() }
        return text
    }

    private static func tailLines(_ tail: ExplainedTail) -> [String] {
        [line(tail.latency, ProfileText.time)] + tail.reasons.map { "  \(line($0, ProfileText.time))" }
            + [tail.culpritWords.map { "  culprit: \($0)" }].compactMap(\.self)
    }

    /// The functions of a change, its unexplained rest, and its classes of code.
    private func ranked(
        _ what: String, _ ranking: RankedFunctions, _ names: ShortNames, _ unit: (Double) -> String
    ) -> [String] {
        var lines = ["\(what), by function, including the work of runtime, allocator and kernel for it:"]
        for function in ranking.functions.prefix(Self.shown) {
            lines.append("  \(Self.line(Self.shortened(function.change, names), unit))")
            let parts = function.parts.prefix(Self.shownParts).map {
                "\($0.frameClass.words) \(Self.signed($0.difference, unit))"
            }
            lines.append("    " + parts.joined(separator: ", "))
        }
        if ranking.functions.count > Self.shown {
            let rest = ranking.functions.dropFirst(Self.shown).reduce(0) { $0 + $1.change.difference }
            lines.append("  \(ranking.functions.count - Self.shown) more: \(Self.signed(rest, unit))")
        }
        lines += Self.unexplained(ranking, unit).map { "  \($0): \(Self.signed($1, unit))" }
        guard !ranking.classes.isEmpty else { return lines }
        return lines + ["\(what), by class of code:"] + ranking.classes.map { "  \(Self.line($0, unit))" }
    }

    /// The parts of the change that no named function explains.
    private static func unexplained(
        _ ranking: RankedFunctions, _ unit: (Double) -> String
    ) -> [(name: String, difference: Double)] {
        let limit = "less than \(unit(ranking.least)), or not beyond chance"
        return [("unexplained, in functions that changed by \(limit)", ranking.unnamed)]
            + (ranking.unsampled == 0 ? [] : [("unexplained, in no sample", ranking.unsampled)])
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
        "\(change.name): \(ProfileText.time(change.base)) → \(ProfileText.time(change.head)) per operation, "
            + "\(percent(change.ratio)) (\(interval(change)))"
    }

    private static func interval(_ change: MeasuredChange) -> String {
        change.interval.map { "\(percent($0.lowerBound)) … \(percent($0.upperBound))" } ?? "too few blocks"
    }

    /// The difference of a ratio from 1, in percent.
    private static func percent(_ ratio: Double) -> String {
        signed(100 * (ratio - 1)) { ProfileText.fixed($0, decimals: 1) + " %" }
    }

    private static func interval(_ change: Change, _ unit: (Double) -> String) -> String {
        "\(signed(change.interval.lowerBound, unit)) … \(signed(change.interval.upperBound, unit))"
    }

    private static func signed(_ value: Double, _ unit: (Double) -> String) -> String {
        (value < 0 ? "−" : "+") + unit(value.magnitude)
    }
}
