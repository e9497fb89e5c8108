#if Suite
    import ArgumentParser
    import OpBenchHistory
    import OpBenchModel

    /// `opbench history add|list|trend|report|export`
    struct HistoryCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "Keep figures of many runs; show how they change.",
            discussion: """
                A history is one SQLite file, results/history.sqlite unless --database names another. For each run it \
                keeps the median of every figure over the samples, its 95 % interval and the number of samples. The runs' \
                rows stay the source: you can remove the file at any time and add the runs again. Several processes may \
                add at once.

                EXAMPLES
                  opbench history add results/*T*
                  opbench history trend --cell 'depth=1000' --backend engine
                  opbench history trend --metric allocations --format csv
                  opbench history report -o trend.html
                  opbench history export > figures.csv
                """,
            subcommands: [
                HistoryAddCommand.self, HistoryListCommand.self, HistoryTrendCommand.self, HistoryReportCommand.self,
                HistoryExportCommand.self,
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
                  opbench history list --database nightly.sqlite
                """)

        @OptionGroup var place: HistoryPlace

        func run() throws {
            let history = try History(place.path, for: .reading)
            let entries = try history.entries()
            try history.close()
            guard !entries.isEmpty else { return try StandardOutput.write("no runs in \(place.path)\n") }
            let table = PrintedTable(
                [
                    .init(title: "run", isText: true), .init(title: "measured", isText: true),
                    .init(title: "commit", isText: true), .init(title: "cells"), .init(title: "figures"),
                    .init(title: "host", isText: true),
                ],
                rows: entries.map { entry in
                    [
                        entry.run.id, TrendText.day(entry.run), TrendText.commit(entry.run), String(entry.cells),
                        String(entry.figures), entry.run.host.summary,
                    ]
                })
            try StandardOutput.write(table.text())
        }
    }
#else
    import ArgumentParser
    import OpBenchModel

    /// `opbench history` of a program that was built with the trait `Kit`.
    struct HistoryCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history", abstract: "Keep figures of many runs (not in this program).")

        @Argument(parsing: .captureForPassthrough, help: .hidden)
        var arguments: [String] = []

        func run() throws {
            throw InputError(
                file: "history", message: "this program was built with the trait Kit, without SQLite",
                remedy: "add its runs with opbench itself, or build it with the trait Suite in Package.swift")
        }
    }
#endif
