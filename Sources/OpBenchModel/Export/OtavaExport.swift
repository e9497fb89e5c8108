/// A history of runs for Apache Otava, which looks for the points where a series of figures changed.
public enum OtavaExport {
    /// The name of the test in the configuration.
    static let testName = "opbench"
    /// The file that the configuration names.
    static let dataFile = "history.csv"
    private static let attributes = ["commit", "run_id"]

    /// A line a run, in the order of time, and a column for each figure that all the runs have: Otava takes no gaps.
    public static func data(_ runs: [ExportedRun]) -> String {
        let columns = sharedColumns(of: runs)
        let header = CSVText.line(["time"] + attributes + columns)
        return runs.sorted { $0.startedUTC < $1.startedUTC }.reduce(into: header) { text, run in
            let figures = figures(of: run)
            let values = columns.map { FigureText.write(figures[$0]!) }
            text += CSVText.line([run.startedUTC, run.commit, run.runID].map(CSVText.exported) + values)
        }
    }

    /// The configuration that goes with it: YAML, in its subset JSON where names have to be quoted.
    public static func configuration(_ runs: [ExportedRun]) -> String {
        var text = """
            tests:
              \(testName):
                type: csv
                file: \(dataFile)
                time_column: time
                attributes: [\(attributes.joined(separator: ", "))]
                metrics:

            """
        for column in sharedColumns(of: runs) {
            text += "      \(JSONText.quoted(column)): {direction: -1, scale: 1}\n"
        }
        return text
    }

    /// How many figures are left out because some run lacks them.
    public static func leftOut(_ runs: [ExportedRun]) -> Int {
        runs.reduce(into: Set<String>()) { $0.formUnion(figures(of: $1).keys) }.count - sharedColumns(of: runs).count
    }

    private static func sharedColumns(of runs: [ExportedRun]) -> [String] {
        guard let first = runs.first else { return [] }
        return runs.dropFirst().reduce(Set(figures(of: first).keys)) { $0.intersection(figures(of: $1).keys) }.sorted()
    }

    private static func figures(of run: ExportedRun) -> [String: Double] {
        var figures: [String: Double] = [:]
        for row in run.summary {
            // As the header of the data has it, so that the configuration names the same column.
            let name = CSVText.exported(row.exportedName.split(separator: " ").joined(separator: "/"))
            for figure in ExportedFigure.all(of: row) { figures["\(name)/\(figure.column)"] = figure.value }
        }
        return figures
    }
}
