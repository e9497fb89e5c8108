import OpBenchModel

// Texts add times as numbers with fractions: those of a file are of any size.

extension Tails {
    /// Lines for a terminal, without line ends. They contain unescaped names, which the printing code must escape.
    public func lines() -> [String] { classes.flatMap { $0.lines() } }

    /// The lines with a heading, as a page shows them.
    public var text: String {
        (["the slowest operations of \(title)"] + lines().map { "  \($0)" }).joined(separator: "\n")
    }
}

extension Tail {
    /// The operations that the figures are about.
    public static func words(of operationClass: String) -> String {
        "slowest 1 %" + (operationClass.isEmpty ? "" : " of \(operationClass)")
    }

    fileprivate func lines() -> [String] {
        let mean = Double(latency) / Double(max(1, slow))
        return [
            "\(Self.words(of: operationClass)): \(slow) of \(counted(operations, "operation")), \(Quantities.time(mean)) "
                + "on average (median of all \(Quantities.time(median))): "
                + NamedTime.shares(reasons, of: Double(latency))
        ] + culpritLines + slowest.map { "  \($0.line)" }
    }

    private var culpritLines: [String] {
        if culprits.isEmpty {
            let least = Quantities.percent(Self.leastShare)
            return ["  no culprit: nothing delayed them by \(least) of that alone"]
        }
        return culprits.map { "  culprit: \($0.line(slow: slow, latency: Double(latency)))" }
    }
}

extension Culprit {
    fileprivate func line(slow: Int, latency: Double) -> String {
        let share = Quantities.percent(Double(delay), of: latency)
        let effect = "\(reason) of \(delayed) of \(slow), \(share) of their latency"
        let time = Quantities.time(took)
        return switch kind {
        case "worker": "\(name), \(time) late: \(effect)" + (note.map { "; \($0)" } ?? "")
        case "queue": "\(name), suspended \(time): \(effect)"
        default: "\(name) (\(kind))\(thread.map { " on \($0)" } ?? "") took \(time)\(parts): \(effect)"
        }
    }
}

extension Culprit {
    private var parts: String {
        let parts = waits.map { "\($0.name) \(Quantities.time($0.time))" }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}

extension SlowOperation {
    fileprivate var line: String {
        let latency = Double(end) - Double(submit)
        func after(_ time: Int64) -> String { "+" + Quantities.time(Double(time) - Double(submit)) }
        var line =
            "operation \(operation)\(thread.map { " on \($0)" } ?? ""), \(Quantities.time(latency)): "
            + "submitted at \(Quantities.time(submit)), ready \(after(ready)), chosen \(after(chosen)), "
            + "started \(after(start)), ended \(after(end)); \(NamedTime.shares(reasons, of: latency))"
        if let culprit { line += "; by \(culprit)" }
        if !meanwhile.isEmpty {
            let parts = meanwhile.map { "\($0.name) \(Quantities.time($0.time))" }
            line += "; its worker meanwhile: \(parts.joined(separator: ", "))"
        }
        return line
    }
}

extension NamedTime {
    /// The least share in a text.
    private static let leastShare = 0.005

    fileprivate static func shares(_ parts: [NamedTime], of whole: Double) -> String {
        parts.filter { Double($0.time) >= leastShare * whole }
            .map { "\($0.name) \(Quantities.percent(Double($0.time), of: whole))" }.joined(separator: ", ")
    }
}
