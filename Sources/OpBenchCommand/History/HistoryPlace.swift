import ArgumentParser
import OpBenchModel

/// Options that select a history.
struct HistoryPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The history's file; by default \(HistoryRow.fileName) in the folder of runs.", valueName: "file"))
    var file: String?

    @OptionGroup var results: ResultsOption

    var path: String { file ?? "\(results.folder)/\(HistoryRow.fileName)" }

    func validate() throws {
        if file?.isEmpty == true { throw ValidationError("--file is empty; name a file.") }
    }
}
