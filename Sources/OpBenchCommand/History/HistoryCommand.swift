import ArgumentParser
import OpBenchHistory
import OpBenchModel

/// `opbench history add|list|trend|report`
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Keep figures of many runs; show how they change.",
        discussion: """
            A history is one CSV file, results/history.csv unless --file names another. For each run and figure it has \
            a row with the median over the samples, its 95 % interval and the number of samples. The runs' rows stay \
            the source: you can remove the file at any time and add the runs again. Several processes may add at once.

            EXAMPLES
              opbench history add results/*T*
              opbench history trend --cell 'depth=1000' --backend engine
              opbench history trend --metric allocations
              opbench history report -o trend.html
            """,
        subcommands: [
            HistoryAddCommand.self, HistoryListCommand.self, HistoryTrendCommand.self, HistoryReportCommand.self,
        ])
}

/// `opbench history list`
struct HistoryListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the runs of a history in chronological order.",
        discussion: """
            EXAMPLES
              opbench history list
              opbench history list --file nightly.csv
            """)

    @OptionGroup var place: HistoryPlace

    func run() throws {
        let table = Table<History.Entry>(
            [
                .init("run", isText: true) { $0.run.id }, .init("measured", isText: true) { TrendText.day($0.run) },
                .init("commit", isText: true) { TrendText.commit($0.run) },
                .init("cells") { String(Set($0.figures.map(\.name.cellID)).count) },
                .init("figures") { String($0.figures.count) }, .init("host", isText: true) { $0.run.host.summary },
            ], try History(place.path).entries)
        try StandardOutput.write(table.text())
    }
}
