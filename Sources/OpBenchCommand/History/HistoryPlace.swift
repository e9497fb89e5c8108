import ArgumentParser
import OpBenchModel

/// Options that select a history.
struct HistoryPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The history's file; by default \(HistoryRow.fileName) in the folder of runs.", valueName: "file"))
    var file: String?

    @Option(name: .customLong("results"), help: ArgumentHelp("The folder of runs.", valueName: "dir"))
    var folder = "results"

    var path: String { file ?? "\(folder)/\(HistoryRow.fileName)" }

    func validate() throws {
        try FolderArgument.check(folder, option: "--results")
        if file?.isEmpty == true { throw ValidationError("--file is empty; name a file.") }
    }
}
