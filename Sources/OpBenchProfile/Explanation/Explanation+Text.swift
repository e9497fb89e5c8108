extension Explanation {
    /// How many functions and sites stand in the text.
    private static let shown = 8
    private static let shownParts = 4

    /// A line each, without line ends. Names are short, and otherwise as they were given: whoever prints them escapes
    /// them.
    public func lines() -> [String] {
        var lines = [
            Self.line(time, ProfileText.time), Self.line(cpuTime, ProfileText.time),
        ]
        let names = shortNames
        lines +=
            cpu.map { ranked("of the CPU time", $0, names, ProfileText.time) } ?? ["no CPU profiles of both sides"]
        if let instructions {
            lines.append(Self.line(instructions.total, ProfileText.count))
            lines += ranked("of the instructions", instructions, names, ProfileText.count)
        }
        lines += allocations.prefix(Self.shown).map {
            "allocations by \(Self.line(Self.shortened($0, names), ProfileText.count))"
        }
        lines += counts.map { Self.line($0, ProfileText.count) }
        lines += waits.map { "waiting, \(Self.line($0, ProfileText.time))" }
        return lines
    }

    /// The same as a table for a pull request, with whole names.
    ///
    /// - Parameter escape: makes a name harmless in a table of Markdown.
    public func markdown(escape: (String) -> String) -> String {
        var text = "| what | base | head | change | interval |\n|---|--:|--:|--:|--:|\n"
        func row(_ change: Change, _ unit: (Double) -> String, _ name: String? = nil) {
            text +=
                "| \(escape(name ?? change.name)) | \(unit(change.base)) | \(unit(change.head)) "
                + "| \(Self.signed(change.difference, unit)) | \(Self.interval(change, unit)) |\n"
        }
        row(time, ProfileText.time)
        row(cpuTime, ProfileText.time)
        /// - Parameter what: stands before each name.
        func rows(_ ranking: RankedFunctions, _ unit: (Double) -> String, _ what: String = "") {
            for function in ranking.functions.prefix(Self.shown) {
                row(function.change, unit, what + function.change.name)
            }
            text += "| \(what)unexplained | | | \(Self.signed(ranking.unexplained, unit)) | |\n"
        }
        if let cpu { rows(cpu, ProfileText.time) }
        if let instructions {
            row(instructions.total, ProfileText.count)
            rows(instructions, ProfileText.count, "instructions, ")
        }
        for site in allocations.prefix(Self.shown) {
            row(site, ProfileText.count, "allocations by \(site.name)")
        }
        for count in counts { row(count, ProfileText.count) }
        for wait in waits { row(wait, ProfileText.time, "waiting, \(wait.name)") }
        return text
    }

    /// The functions of a change, and the rest of it.
    private func ranked(
        _ what: String, _ ranking: RankedFunctions, _ names: ShortNames, _ unit: (Double) -> String
    ) -> [String] {
        var lines = ["\(what), by function with what it called outside of engine and workload:"]
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
        lines.append("  unexplained: \(Self.signed(ranking.unexplained, unit))")
        return lines
    }

    /// Of all functions that stand here.
    private var shortNames: ShortNames {
        let ranked = [cpu, instructions].compactMap(\.self).flatMap(\.functions)
        return ShortNames(ranked.map(\.change.name) + allocations.map(\.name))
    }

    /// With a function's short name.
    private static func shortened(_ change: Change, _ names: ShortNames) -> Change {
        var shortened = change
        shortened.name = names[change.name]
        return shortened
    }

    private static func line(_ change: Change, _ unit: (Double) -> String) -> String {
        "\(change.name): \(unit(change.base)) → \(unit(change.head)) an operation, "
            + "\(signed(change.difference, unit)) (\(interval(change, unit)))"
    }

    private static func interval(_ change: Change, _ unit: (Double) -> String) -> String {
        "\(signed(change.interval.lowerBound, unit)) … \(signed(change.interval.upperBound, unit))"
    }

    private static func signed(_ value: Double, _ unit: (Double) -> String) -> String {
        (value < 0 ? "−" : "+") + unit(value.magnitude)
    }
}
