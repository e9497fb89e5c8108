import OpBenchModel

/// The columns of a table or file, with explanations that come from the code that prints and writes them.
struct ColumnTopic {
    let title: String
    let columns: [Described]

    struct Described {
        let name: String
        /// Empty if the table prints it beside each figure.
        var unit = ""
        let meaning: String
    }

    static let all = [
        summary, marks, backends, compared, goals, variances, summaryFile, samplesFile, metrics, surroundings,
    ]

    private static let summary = ColumnTopic(
        title: "Tables of run, show and baseline show, with --wide",
        columns: [
            Described(
                name: "backend",
                meaning: """
                    The backend that executed the cell whose parameters are printed above; below it, indented, the \
                    classes of its operations, which have their own latencies.
                    """)
        ]
            + SummaryColumn.all(baseline: .dispatch).map {
                Described(name: ColumnTitle($0.title).plain, meaning: $0.meaning)
            })

    private static let marks = ColumnTopic(
        title: "Letters of the column \(RowMark.column)",
        columns: RowMark.allCases.map { Described(name: String($0.rawValue), meaning: $0.meaning) })

    private static let backends = ColumnTopic(
        title: "Backends",
        columns: BackendDefinition.all.map {
            Described(name: $0.id.rawValue, meaning: $0.summary + ($0.id == .serial ? " " + whySerialIsSlower : ""))
        })

    private static let whySerialIsSlower = """
        It creates no objects or threads, and is the floor if operations do no work. If they do, it can be \
        slower than the others, above 1×: they share the work among the cores, and it has one.
        """

    private static let compared = ColumnTopic(
        title: "Tables of compare, ab and gate", columns: CompareRow.reportColumns.map(described))
    private static let goals = ColumnTopic(
        title: "Tables of gate with goals", columns: GoalRow.reportColumns.map(described))

    private static let variances = ColumnTopic(
        title: "Table of variances, of ab and gate --ab with --wide",
        columns: VarianceTable.columns.map { Described(name: $0.title, meaning: $0.meaning) })

    private static func described<Row>(_ column: ReportColumn<Row>) -> Described {
        Described(name: column.title, meaning: column.meaning)
    }

    private static let summaryFile = ColumnTopic(title: SummaryRow.fileName, columns: described(SummaryRow.self))
    private static let samplesFile = ColumnTopic(title: SampleRow.fileName, columns: described(SampleRow.self))

    private static func described<Row: DescribedRow>(_: Row.Type) -> [Described] {
        Row.columnMeanings.map { Described(name: $0.name, unit: $0.unit, meaning: $0.meaning) }
    }

    private static let metrics = ColumnTopic(
        title: "Metrics of \(SampleRow.fileName)",
        columns: Metric.catalogue.map { Described(name: $0.name, unit: $0.unit.rawValue, meaning: $0.summary) })

    private static let surroundings = ColumnTopic(
        title: "Facts around the code, as in the member surroundings of run.json",
        columns: SurroundingFact.allCases.map {
            Described(name: $0.rawValue, meaning: "Of the \($0.owner.rawValue). \($0.meaning)")
        })

    // MARK: Finding

    /// The columns that have one of the names.
    ///
    /// - Throws: `InputError` for an unknown name.
    static func named(_ names: [String]) throws(InputError) -> [ColumnTopic] {
        for name in names where !all.contains(where: { $0.columns.contains { $0.answers(to: name) } }) {
            let nearest = Suggestion.nearest(to: name, among: all.flatMap { $0.columns.map(\.name) })
            throw InputError(
                file: "explain-columns", message: "there is no column, metric or backend \"\(name)\"",
                remedy: (nearest.map { "did you mean \"\($0)\"? " } ?? "") + "`opbench explain-columns` lists them all"
            )
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

extension ColumnTopic.Described {
    /// Matches the title or its first word. Single letters must match in case, since capitals have other meanings.
    fileprivate func answers(to name: String) -> Bool {
        if self.name.count == 1 { return self.name == name }
        let (own, asked) = (self.name.lowercased(), name.lowercased())
        return own == asked || own.hasPrefix(asked + " ")
    }
}
