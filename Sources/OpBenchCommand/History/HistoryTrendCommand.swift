import ArgumentParser

/// `opbench history trend`
struct HistoryTrendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trend",
        abstract: "Print how figures change from run to run, and where they changed.",
        discussion: """
            Prints a line for each figure or, if the options select a single one, a line for each run. Without \
            --metric, the figures are the times of operations and their ratios to Dispatch's. Runs of each class of \
            host, allocator and kind of build have a table of their own. Machines drift from day to day; the ratio to \
            Dispatch does not.

            If Apache Otava is installed, it finds the points where figures changed: `otava` on PATH, or the program \
            that OPBENCH_OTAVA names. A change is the mean from its point on, relative to the mean before.

            EXAMPLES
              opbench history trend
              opbench history trend --cell 'depth=1000' --backend engine
              opbench history trend --metric allocations,start_latency
            """)

    @OptionGroup var figures: FigureSelection

    @OptionGroup var place: HistoryPlace

    func run() throws { try StandardOutput.write(TrendTable.text(of: figures.series(of: place))) }
}
