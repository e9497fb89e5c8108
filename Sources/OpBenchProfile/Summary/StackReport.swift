import OpBenchModel

/// The text for a terminal about a profile of stacks: the classes of functions, and the heaviest functions.
public struct StackReport: Sendable {
    public let profile: StackProfile
    public let table: ClassTable
    private let backend: BackendID

    /// The limit above which weights including callees are unreliable.
    public static let mostUnknownCallers = 0.05

    /// The limit above which the error is reported; a hundred samples of equal weight reach it.
    private static let mostStandardError = 0.05

    public init(_ profile: StackProfile, on backend: BackendID, operations: Int) {
        self.profile = profile
        self.backend = backend
        table = ClassTable(profile, on: backend, operations: operations)
    }

    /// The lines, without line ends. They contain unescaped names, which the printing code must escape.
    ///
    /// - Parameter count: the number of functions.
    public func lines(functions count: Int = 10) -> [String] {
        guard table.total > 0 else { return ["no sample"] }
        let unit = profile.unit
        var lines = [
            profile.words
                + (table.operations > 0
                    ? ", \(unit.text(Double(table.total) / Double(table.operations))) per operation" : "")
        ]
        if unit != .nanoseconds { return lines + allocators(count) + [unknownCallers] + fewSamples }
        for row in table.rows where row.weight > 0 {
            var line = "  \(row.frameClass.words): \(Quantities.percent(Double(row.weight), of: Double(table.total)))"
            if table.operations > 0 { line += ", \(unit.text(row.perOperation)) per operation" }
            lines.append(line)
            if row.frameClass == .library { lines += modules }
        }
        lines += [unknownCallers] + fewSamples
        let functions = profile.functions()
        let shortened = Self.shortened(functions.map(\.frame.name), first: count)
        for (function, name) in zip(functions, shortened) {
            lines.append(
                "  \(Quantities.percent(Double(function.own), of: Double(table.total))) own, "
                    + "\(Quantities.percent(Double(function.withCallees), of: Double(table.total))) with callees: "
                    + name)
        }
        return lines
    }

    /// The standard error of a share of one half, which is the largest, assuming independent samples, those of a stack
    /// with equal weights.
    var standardError: Double {
        if profile.isWhole { return 0 }
        let squares = profile.samples.reduce(0.0) {
            $0 + Double($1.weight) * Double($1.weight) / Double(max(1, $1.count))
        }
        return squares.squareRoot() / (2 * Double(table.total))
    }

    private var fewSamples: [String] {
        let error = standardError
        guard error > Self.mostStandardError else { return [] }
        return ["few samples: shares have a standard error of up to \(Quantities.percent(error))"]
    }

    private static let mostModules = 5

    /// The heaviest modules.
    private var modules: [String] {
        table.modules.prefix(Self.mostModules).map { module in
            "    \(module.name): \(Quantities.percent(Double(module.weight), of: Double(table.total)))"
        }
    }

    private var unknownCallers: String {
        "callers unknown: \(Quantities.percent(Double(table.unknownCallers), of: Double(table.total)))"
            + (table.unknownCallersShare > Self.mostUnknownCallers ? "; the share with callees is too low" : "")
    }

    /// The lines of a memory profile. All allocations are malloc's, so they are attributed to the functions that
    /// requested them.
    private func allocators(_ count: Int) -> [String] {
        let functions = AttributedWeights(profile, on: backend).functions.values
            .sorted { ($1.total, $0.name) < ($0.total, $1.name) }
        return zip(functions, Self.shortened(functions.map(\.name), first: count)).map { function, name in
            "  \(Quantities.percent(Double(function.total), of: Double(table.total)))"
                + (table.operations > 0
                    ? ", \(profile.unit.text(Double(function.total) / Double(table.operations))) per operation" : "")
                + ": \(name)"
        }
    }

    /// Short forms of the first names.
    static func shortened(_ names: [String], first count: Int) -> [String] {
        let short = ShortNames(names)
        return names.prefix(count).map { short[$0] }
    }
}
