import ArgumentParser
import OpBenchModel

/// `opbench explain-columns [NAME…]`
struct ExplainColumnsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain-columns",
        abstract: "Explain columns, metrics and backends.",
        discussion: """
            Without names, explains all columns of the printed tables, of summary.csv and samples.csv, the letters of \
            the column note, and the metrics. A name is a column's title or its first word, a column or metric of a \
            file, or a backend.

            EXAMPLES
              opbench explain-columns
              opbench explain-columns time/op start
              opbench explain-columns serial
              opbench explain-columns throughput_ops_per_s
            """)

    /// The last line under a table.
    static let pointer = "Columns are explained by: opbench explain-columns\n"

    @Argument(help: ArgumentHelp("Columns, metrics or backends.", valueName: "name"), completion: .columns)
    var names: [String] = []

    func run() throws {
        let topics = try names.isEmpty ? ColumnTopic.all : ColumnTopic.named(names)
        try StandardOutput.write(ColumnTopic.text(of: topics, width: TableWidth.ofOutput()))
    }
}
