import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench calibrate FILE…`
struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure how much equal builds differ on this host.",
        discussion: """
            Runs this build against itself, interleaved, 15 blocks without --blocks, and keeps the run under \
            results/calibration/. All calibrations of this class of host give the noise floors in \
            results/calibration/noise-floors.csv, which ab, compare and gate use: a threshold below a floor is raised \
            to it and marked. One calibration gives the floors of two interleaved builds; three of the same build, \
            taken at different times, those of runs of different times, without which absolute times of such runs \
            stay inconclusive.

            EXAMPLES
              opbench calibrate workloads/*.json
              opbench calibrate --backend engine,dispatch --metric throughput w.json
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var plan: PlanOptions
    @OptionGroup var destination: DestinationOptions

    @Flag(name: .customLong("all"), help: "Print every figure's floor, not only those of the total time.")
    var showsAll = false

    @Flag(name: .customLong("no-progress"), help: "Hide progress; warnings and errors remain.")
    var hidesProgress = false

    func run() throws {
        let runID = try destination.identifier()
        let selection = try selection.load()
        let folder = CalibrationFolder(in: destination.directory)
        var options = plan.runOptions(
            for: selection, directory: folder.path, runID: runID, resume: destination.resume)
        options.builds = try CancellableWork.run {
            await Result.catching { try await ComparedBuilds.sameTwice() }
        }.value.get()
        options.stagesOfSides = [FigureRule.standardMinBlocks]
        let execution = try RunExecution(selection: selection, options: options, isSilent: hidesProgress)
        let ended = try execution.run()
        let run = try RecordedRun(ended.folder, in: folder.path)
        if let facts = run.facts {
            let cells = Set(run.samples.map(\.cellID))
            let floors = try folder.update(for: facts).filter { cells.contains($0.cellID) }
            try StandardOutput.write(FloorTable.text(of: floors, showsAll: showsAll))
        }
        try execution.conclude(ended, samples: run.samples)
    }
}

/// Noise floors as people read them: a line a figure.
private enum FloorTable {
    static func text(of rows: [NoiseFloorRow], showsAll: Bool) -> String {
        let shown = rows.filter { showsAll || $0.phase == "total" && ["time", "time_ratio"].contains($0.metric) }
        guard !shown.isEmpty else { return "no figure has the six blocks that a noise floor needs\n" }
        let unpaired = Dictionary(
            shown.filter { $0.comparison == .unpaired }.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
        let lines = shown.filter { $0.comparison == .paired }.map { row in
            let other = unpaired[key(row)]
            return [
                row.cellID, row.backend.rawValue, row.figure.figureName, floor(row), String(row.blocks),
                other.map(floor) ?? Quantities.absent, String(row.runs),
            ]
        }
        return PrintedTable(columns, rows: lines).text()
    }

    private static let columns: [PrintedTable.Column] = [
        .init(title: "cell", isText: true), .init(title: "backend", isText: true), .init(title: "figure", isText: true),
        .init(title: "interleaved"), .init(title: "blocks"), .init(title: "runs apart"), .init(title: "runs"),
    ]

    private static func floor(_ row: NoiseFloorRow) -> String {
        row.noiseFloor.map(Quantities.percent) ?? Quantities.absent
    }

    private static func key(_ row: NoiseFloorRow) -> [String] {
        [row.cellID, row.backend.rawValue, row.figure.figureName]
    }
}

extension NoiseFloorRow {
    fileprivate var figure: CompareRow {
        CompareRow(
            cellID: cellID, backend: backend, phase: phase, operationClass: operationClass, metric: metric, stat: stat)
    }
}
