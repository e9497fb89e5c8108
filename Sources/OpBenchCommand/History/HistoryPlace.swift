#if Suite
    import ArgumentParser
    import OpBenchModel

    /// Options that select a history.
    struct HistoryPlace: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The history's file; by default \(RunName.historyFile) in the folder of runs.", valueName: "file"))
        var database: String?

        @Option(name: .customLong("results"), help: ArgumentHelp("The folder of runs.", valueName: "dir"))
        var folder = "results"

        var path: String { database ?? "\(folder)/\(RunName.historyFile)" }

        func validate() throws {
            try FolderArgument.check(folder, option: "--results")
            if database?.isEmpty == true { throw ValidationError("--database is empty; name a file.") }
        }
    }
#endif
