import OpBenchModel

/// The text for a terminal about a profile of stacks: the classes of functions, and the heaviest functions.
public struct StackReport: Sendable {
    public let profile: StackProfile
    public let table: ClassTable
    private let backend: BackendID
    private let operations: Int

    /// The limit above which weights including callees are unreliable.
    public static let mostUnknownCallers = 0.05

    /// The limit above which the error is reported; a hundred samples of equal weight reach it.
    private static let mostStandardError = 0.05

    /// - Parameter operations: the number of operations in the profile; 0 if unknown.
    public init(_ profile: StackProfile, on backend: BackendID, operations: Int) {
        (self.profile, self.backend, self.operations) = (profile, backend, operations)
        table = ClassTable(profile, on: backend)
    }

    /// The lines, without line ends. They contain unescaped names, which the printing code must escape.
    ///
    /// - Parameter count: the number of functions.
    public func lines(functions count: Int = 10) -> [String] {
        guard table.total > 0 else { return ["no sample"] }
        var lines = [profile.words + perOperation(table.total)]
        if profile.unit != .nanoseconds { return lines + allocators(count) + [unknownCallers] + fewSamples }
        for (frameClass, weight) in table.rows where weight > 0 {
            lines.append("  \(frameClass.words): \(share(weight))\(perOperation(weight))")
            if frameClass == .library { lines += modules }
        }
        lines += [unknownCallers] + fewSamples
        let functions = profile.functions()
        let shortened = Self.shortened(functions.map(\.frame.name), first: count)
        for (function, name) in zip(functions, shortened) {
            lines.append("  \(share(function.own)) own, \(share(function.withCallees)) with callees: \(name)")
        }
        return lines
    }

    private func share(_ weight: Int64) -> String { Quantities.percent(Double(weight), of: Double(table.total)) }

    private func perOperation(_ weight: Int64) -> String {
        operations > 0 ? ", \(profile.unit.text(Double(weight) / Double(operations))) per operation" : ""
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
        table.modules.prefix(Self.mostModules).map { "    \($0.name): \(share($0.weight))" }
    }

    private var unknownCallers: String {
        "callers unknown: \(share(table.unknownCallers))"
            + (table.unknownCallersShare > Self.mostUnknownCallers ? "; the share with callees is too low" : "")
    }

    /// The lines of a memory profile. All allocations are malloc's, so they are attributed to the functions that
    /// requested them.
    private func allocators(_ count: Int) -> [String] {
        let functions = AttributedWeights(profile, on: backend).functions.values
            .sorted { ($1.total, $0.name) < ($0.total, $1.name) }
        return zip(functions, Self.shortened(functions.map(\.name), first: count)).map { function, name in
            "  \(share(function.total))\(perOperation(function.total)): \(name)"
        }
    }

    /// Short forms of the first names.
    static func shortened(_ names: [String], first count: Int) -> [String] {
        let short = ShortNames(names)
        return names.prefix(count).map { short[$0] }
    }
}
