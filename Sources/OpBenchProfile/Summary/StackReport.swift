/// What a terminal shows of a profile of stacks: the classes of functions, and those that weigh most.
public struct StackReport: Sendable {
    public let profile: StackProfile
    public let table: ClassTable

    /// More than that, and who called whom is not to be relied on.
    public static let mostUnknownCallers = 0.05

    public init(_ profile: StackProfile, operations: Int, classifier: FrameClassifier = FrameClassifier()) {
        self.profile = profile
        table = ClassTable(profile, operations: operations, classifier: classifier)
    }

    /// A line each, without line ends. Functions' names are as they were given: whoever prints them escapes them.
    ///
    /// - Parameter count: of functions.
    public func lines(functions count: Int = 10) -> [String] {
        guard table.total > 0 else { return ["no sample"] }
        let unit = profile.unit
        var lines = [
            "\(unit.text(Double(table.total))) in \(profile.samples.count) samples"
                + (table.operations > 0
                    ? ", \(unit.text(Double(table.total) / Double(table.operations))) an operation" : "")
        ]
        for row in table.rows where row.weight > 0 {
            var line = "  \(row.frameClass.words): \(ProfileText.share(Double(row.weight), of: Double(table.total)))"
            if table.operations > 0 { line += ", \(unit.text(row.perOperation)) an operation" }
            lines.append(line)
        }
        let share = ProfileText.share(Double(table.unknownCallers), of: Double(table.total))
        lines.append(
            "callers unknown: \(share)"
                + (table.unknownCallersShare > Self.mostUnknownCallers ? "; the share with callees is too low" : ""))
        for function in profile.functions().prefix(count) {
            lines.append(
                "  \(ProfileText.share(Double(function.own), of: Double(table.total))) own, "
                    + "\(ProfileText.share(Double(function.withCallees), of: Double(table.total))) with callees: "
                    + function.frame.name)
        }
        return lines
    }
}
