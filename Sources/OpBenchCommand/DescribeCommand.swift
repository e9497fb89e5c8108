import ArgumentParser
import OpBenchModel

/// `opbench describe [NAME…]`
struct DescribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Explain a shape, a parameter, a body, a column, a metric or a backend.",
        discussion: """
            Without a name, lists everything that has one. A shape comes with its parameters, the backends that support \
            it, and an example. The name of a column is its title or its first word. `columns` explains all columns and \
            metrics. `workload-schema` and `policy-schema` print the JSON Schema (2020-12) of such files, generated from \
            the definitions by which opbench checks them: set `$schema` to it, and an editor completes and checks.

            EXAMPLES
              opbench describe
              opbench describe chain
              opbench describe time/op start serial
              opbench describe policy-schema > policy.schema.json
            """)

    @Argument(
        help: ArgumentHelp("What to explain.", valueName: "name"),
        completion: .list(Shape.allCases.map(\.rawValue) + ["columns"] + Schema.allCases.map(\.rawValue)))
    var names: [String] = []

    private enum Schema: String, CaseIterable {
        case workload = "workload-schema"
        case policy = "policy-schema"

        var text: String { self == .workload ? WorkloadSpec.schema() : GatePolicy.schema() }
    }

    func run() throws {
        let width = TableWidth.ofOutput()
        if names.isEmpty { return try StandardOutput.write(Self.list(width: width)) }
        let topics = try ColumnTopic.named(names.filter { Self.text(of: $0, width: width) == nil })
        let texts = names.compactMap { Self.text(of: $0, width: width) }
        try StandardOutput.write(
            (texts + (topics.isEmpty ? [] : [ColumnTopic.text(of: topics, width: width)])).joined(separator: "\n"))
    }

    /// The text about a name that is not one of `ColumnTopic.all`; nil for those.
    private static func text(of name: String, width: Int?) -> String? {
        if let shape = Shape(rawValue: name) { return ShapeText.of(.of(shape)) }
        return name == "columns" ? ColumnTopic.text(of: ColumnTopic.all, width: width) : Schema(rawValue: name)?.text
    }

    static func list(width: Int?) -> String {
        let shapes = ShapeDefinition.all.map { (term: $0.shape.rawValue, meaning: $0.summary) }
        let others = ColumnTopic.all.map { topic in
            "\n"
                + DefinitionList(
                    entries: [(term: topic.title, meaning: topic.columns.map(\.name).uniqued().joined(separator: ", "))]
                ).text(width: width)
        }
        return "Shapes\n" + DefinitionList(entries: shapes).text(width: width, indentation: 2) + others.joined()
            + "\nOne of them is explained by: opbench describe NAME\n"
    }
}

/// The columns of a table or file, or other names, with explanations that come from the code that has them.
struct ColumnTopic {
    let title: String
    let columns: [ColumnMeaning]

    static let all = [
        parameters, bodies, backends, summary, marks, judged, variances, summaryFile, samplesFile, metrics,
        surroundings,
    ]

    private static let parameters = ColumnTopic(
        title: "Parameters of workloads",
        columns: Set(ShapeDefinition.all.flatMap { $0.parameters.map(\.name) }).sorted().flatMap { name in
            // Shapes may have different parameters of one name.
            let meanings = ShapeDefinition.all.compactMap { definition in
                definition.parameter(named: name).map { (definition.shape.rawValue, "\($0.summary) \($0.facts)") }
            }
            return meanings.map(\.1).uniqued().map { meaning in
                let shapes = meanings.filter { $0.1 == meaning }.map(\.0)
                let having = shapes.count == ShapeDefinition.all.count ? "every shape" : shapes.joined(separator: ", ")
                return ColumnMeaning(name: name, meaning: "Of \(having). \(meaning)")
            }
        })

    private static let bodies = ColumnTopic(
        title: "Bodies, the values of body: a name, or an object of a name and values",
        columns: BodyDefinition.all.map { body in
            let values = body.fields.map { "\($0.name): \($0.summary) \($0.facts)" }
            return ColumnMeaning(name: body.name, meaning: ([body.summary] + values).joined(separator: " "))
        } + [ColumnMeaning(name: BodyDefinition.mix, meaning: BodyDefinition.mixSummary)])

    private static let summary = ColumnTopic(
        title: "Tables of run and show, with --wide",
        columns: [
            ColumnMeaning(
                name: "backend",
                meaning: """
                    The backend that executed the cell whose parameters are printed above; below it, indented, the \
                    classes of its operations, which have their own latencies.
                    """)
        ] + SummaryRow.columns(SummaryColumns()).map(\.described))

    private static let marks = ColumnTopic(
        title: "Letters of the column \(RowMark.column)",
        columns: RowMark.allCases.map { ColumnMeaning(name: String($0.rawValue), meaning: $0.meaning) })

    private static let backends = ColumnTopic(
        title: "Backends",
        columns: BackendDefinition.all.map {
            ColumnMeaning(
                name: $0.id.rawValue, meaning: $0.summary + ($0.id == .serial ? " " + whySerialIsSlower : ""))
        })

    private static let whySerialIsSlower = """
        It creates no objects or threads, and is the floor if operations do no work. If they do, it can be \
        slower than the others, above 1×: they share the work among the cores, and it has one.
        """

    private static let judged = ColumnTopic(
        title: "Tables of compare, ab and gate", columns: CompareRow.allColumns.map(\.described))

    private static let variances = ColumnTopic(
        title: "Table of variances, of ab and gate --ab with --wide",
        columns: VarianceTable.columns.map(\.described))

    private static let summaryFile = ColumnTopic(title: SummaryRow.fileName, columns: SummaryRow.columnMeanings)
    private static let samplesFile = ColumnTopic(title: SampleRow.fileName, columns: SampleRow.columnMeanings)

    private static let metrics = ColumnTopic(
        title: "Metrics of \(SampleRow.fileName)",
        columns: Metric.catalogue.map { ColumnMeaning(name: $0.name, unit: $0.unit.rawValue, meaning: $0.summary) })

    private static let surroundings = ColumnTopic(
        title: "Facts around the code, as in the member surroundings of run.json",
        columns: SurroundingFact.allCases.map {
            ColumnMeaning(name: $0.rawValue, meaning: "Of the \($0.owner.rawValue). \($0.meaning)")
        })

    // MARK: Finding

    /// The columns that have one of the names.
    ///
    /// - Throws: `InputError` for an unknown name.
    static func named(_ names: [String]) throws(InputError) -> [ColumnTopic] {
        for name in names where !all.contains(where: { $0.columns.contains { $0.answers(to: name) } }) {
            let known = all.flatMap { $0.columns.map(\.name) } + Shape.allCases.map(\.rawValue)
            let nearest = Suggestion.nearest(to: name, among: known)
            if let path = CellOptions.workload(like: name) {
                throw InputError(
                    file: "describe", message: "\"\(name)\" is a workload file",
                    remedy: "`opbench list \(path)` shows its cells and backends")
            }
            throw InputError(
                file: "describe", message: "nothing is called \"\(name)\"",
                remedy: (nearest.map { "did you mean \"\($0)\"? " } ?? "") + "`opbench describe` lists all names")
        }
        return all.map { topic in
            ColumnTopic(
                title: topic.title,
                columns: topic.columns.filter { column in names.contains { column.answers(to: $0) } })
        }.filter { !$0.columns.isEmpty }
    }

    // MARK: Text

    /// - Parameter width: nil for no limit.
    static func text(of topics: [ColumnTopic], width: Int?) -> String {
        topics.map { topic in
            let entries = topic.columns.map { column in
                (
                    term: column.name,
                    meaning: (column.unit.isEmpty ? "" : "[\(column.unit)] ") + column.meaning
                )
            }
            return topic.title + "\n" + DefinitionList(entries: entries).text(width: width, indentation: 2)
        }.joined(separator: "\n")
    }
}

extension ColumnMeaning {
    /// Matches the title or its first word. Single letters must match in case, since capitals have other meanings.
    fileprivate func answers(to name: String) -> Bool {
        if self.name.count == 1 { return self.name == name }
        let (own, asked) = (self.name.lowercased(), name.lowercased())
        return own == asked || own.hasPrefix(asked + " ")
    }
}
