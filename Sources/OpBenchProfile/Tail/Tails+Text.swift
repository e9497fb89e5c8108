import OpBenchModel

extension Tails {
    private static let mostOthers = 4
    /// In parts of the first one's delay.
    private static let leastOther = 0.1
    private static let mostGroups = 8

    /// The culprits that the text names: the first and those that delayed for a tenth of its time or more.
    public var shown: [Culprit] {
        guard let first = culprits.first else { return [] }
        let others = culprits.dropFirst().filter { Double($0.delay) >= Self.leastOther * Double(first.delay) }
        return [first] + others.prefix(Self.mostOthers)
    }

    /// Lines for a terminal, without line ends. They contain unescaped names, which the printing code must escape.
    ///
    /// - Parameter word: what is found of the whole trace, before the causes of slow operations; nil for nothing.
    public func lines(after word: String? = nil) -> [String] {
        guard !groups.isEmpty else { return [] }
        let shown = groups.prefix(Self.mostGroups)
        let more = groups.count > shown.count ? ["  and \(groups.count - shown.count) more, in \(Self.fileName)"] : []
        return causes(after: word) + Self.table(shown) + more + shown.map(\.slowLine)
    }

    /// The greatest cause, with a word for it, and the others.
    private func causes(after word: String?) -> [String] {
        guard let first = culprits.first else {
            let rule =
                "no cause delays the slowest 1 % of a class by a fifth of their latency, and by as much as its usual work"
            return [word ?? "nothing: \(rule)"]
        }
        return (word.map { [$0] } ?? []) + ["\(first.word.rawValue): \(line(of: first))"]
            + first.clearest.flatMap(\.lines) + shown.dropFirst().map { "then \($0.word.rawValue): \(line(of: $0))" }
    }

    private func line(of culprit: Culprit) -> String {
        let isOfProcessors = culprit.name == Culprit.noProcessor
        return culprit.line
            + (isOfProcessors
                ? ", while bodies ran on \(Quantities.count(running)) of \(counted(processors, "processor")) on average"
                : "")
    }

    /// The lines with a heading, as a page shows them.
    public var text: String {
        (["the slowest operations of \(title)"] + lines().map { "  \($0)" }).joined(separator: "\n")
    }

    private static func table(_ groups: ArraySlice<Tail>) -> [String] {
        var cells = [["", "count", "per second", "", "p50", "p90", "p99", "max"]]
        for group in groups {
            let name = group.name.isEmpty ? "all operations" : group.name
            for (title, spread) in [("latency", group.latency), ("wait", group.wait), ("body", group.body)] {
                let isFirst = title == "latency"
                cells.append(
                    [
                        isFirst ? name : "", isFirst ? String(group.operations) : "",
                        isFirst ? Quantities.count(group.rate) : "", title,
                    ] + [spread.p50, spread.p90, spread.p99, spread.max].map { Quantities.time($0) })
            }
        }
        let widths = cells[0].indices.map { column in cells.reduce(0) { max($0, $1[column].count) } }
        return cells.map { line in
            let padded = line.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - line[column].count)
                return column == 0 || column == 3 ? line[column] + space : space + line[column]
            }
            return padded.joined(separator: "  ")
        }
    }
}

extension Tail {
    /// The operations that the figures are about.
    static func words(of group: String) -> String { "slowest 1 %" + (group.isEmpty ? "" : " of \(group)") }

    fileprivate var slowLine: String {
        "\(Self.words(of: name)): \(slow), \(Quantities.time(mean)) on average: "
            + NamedTime.shares(reasons, of: Double(slowLatency))
    }
}

extension Culprit {
    fileprivate var line: String {
        let whose = groups.count == 1 ? groups[0] : counted(groups.count, "class", plural: "classes")
        let times = runs.map { "in \(incidents) of its \(counted($0, "run"))" } ?? counted(incidents, "time")
        return "\(name): \(Quantities.time(delay)) of \(delayed) slow operations of \(whose), \(times)"
    }
}

extension Incident {
    fileprivate var lines: [String] {
        (culprit.map { ["  \($0.line): \($0.shares)"] } ?? [])
            + ["  \(culprit == nil ? "" : "  ")delayed \(delayed) by \(Quantities.time(delay)), longest \(victim.line)"]
    }
}

extension SlowOperation {
    fileprivate var line: String {
        func after(_ time: Int64) -> String { "+" + Quantities.time(Double(time) - Double(submit)) }
        return "operation \(operation) (\(name)): submitted at \(Quantities.time(submit)), ready \(after(ready)), "
            + "started \(after(start)), ended \(after(end))"
    }

    fileprivate var shares: String { NamedTime.shares(reasons, of: Double(end) - Double(submit)) }
}

extension NamedTime {
    /// The least share in a text.
    private static let leastShare = 0.01

    fileprivate static func shares(_ parts: [NamedTime], of whole: Double) -> String {
        parts.filter { Double($0.time) >= leastShare * whole }
            .map { "\($0.name) \(Quantities.percent(Double($0.time), of: whole))" }.joined(separator: ", ")
    }
}
