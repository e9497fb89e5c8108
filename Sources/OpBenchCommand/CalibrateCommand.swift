import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench calibrate FILE…`
struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure how much identical builds differ on this host.",
        usage: "opbench calibrate <file> ... [<options>]",
        discussion: """
            Runs this build against itself, interleaved, with 15 blocks unless --blocks is given, and keeps the run \
            under results/calibration/. All calibrations of this class of host determine the noise floors in \
            results/calibration/noise-floors.csv, which ab, compare and gate use: they raise a lower threshold to the \
            floor and mark it. One calibration gives the floors of two interleaved builds. Three calibrations of the \
            same build, taken at different times, give those of runs from different times; without them, absolute \
            times of such runs stay inconclusive.

            With --layouts, both sides are the checked-out commit in different layouts, each in two blocks. The floors \
            then include the difference between layouts, as between commits of which one only moves code.

            EXAMPLES
              opbench calibrate workloads/*.json
              opbench calibrate --layouts 15 workloads/engine/tiny.json
              opbench calibrate --backend engine,dispatch --metric throughput w.json
            """)

    @OptionGroup(title: OptionTitle.workloads) var selection: SelectionOptions
    @OptionGroup(title: OptionTitle.samples) var plan: PlanOptions
    @OptionGroup(title: OptionTitle.samples) var layout: LayoutOptions
    @OptionGroup(title: OptionTitle.results) var destination: DestinationOptions
    @OptionGroup(title: OptionTitle.results) var progress: ProgressOptions
    @OptionGroup(title: OptionTitle.limits) var limits: LimitOptions

    @Flag(name: .customLong("all"), help: "Print the floors of all figures, not only of the total time.")
    var showsAll = false

    func validate() throws {
        try selection.cells.requireFiles()
        if layout.layouts != nil, plan.blocks != nil || plan.quick {
            throw ValidationError("--layouts takes two blocks of each layout: leave out --blocks and --quick.")
        }
    }

    func run() throws {
        let runID = try destination.identifier()
        let selection = try selection.load()
        let folder = CalibrationFolder(in: destination.directory)
        var options = plan.runOptions(in: folder.path, runID: runID, resume: destination.resume)
        options.limits = try limits.checked()
        options.optionOfKinds = selection.optionOfKinds
        // Reports mistakes in the plan before anything is built.
        _ = try RunPlan(specs: selection.specs, options: options)
        let built = try layout.layouts.map(RefOptions.buildCheckedOut)
        options.builds = try CancellableWork.run {
            await Result.catching {
                guard let built else { return try await ComparedBuilds.sameTwice() }
                return try await ComparedBuilds.examine(base: built.base, head: built.head)
            }
        }.value.get()
        options.stagesOfSides = [layout.layouts.map { 2 * $0 } ?? FigureRule.standardMinBlocks]
        let plan = try RunPlan(specs: selection.specs, options: options)
        let execution = RunExecution(selection, plan, isSilent: progress.isHidden)
        let ended = try execution.run(writesSummary: false)
        if let facts = try RunFacts.read(in: ended.folder) {
            let cells = Set(ended.summary.samples.map(\.cellID))
            let floors = try folder.update(for: facts).filter { cells.contains($0.cellID) }
            try StandardOutput.write(
                FloorTable.text(of: floors, showsAll: showsAll, width: TableWidth.ofOutput())
                    + VarianceTable.text(
                        of: VarianceFinding.all(of: ended.summary.samples), width: TableWidth.ofOutput()))
        }
        try execution.conclude(ended)
    }
}
