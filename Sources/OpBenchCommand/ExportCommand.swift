import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench export --format FORMAT RUN`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a recorded run in another tool's format.",
        discussion: """
            EXAMPLES
              opbench export --format jmh main > jmh-result.json
              opbench export --format github-action-benchmark main > benchmark.json
              opbench export --format bencher main > bencher.json
              opbench export --format prometheus main > opbench.prom
            """)

    @Argument(
        help: ArgumentHelp("The run: a folder, or an id under results/ and results/baseline/.", valueName: "run"),
        completion: .run)
    var name: String

    @Option(help: ArgumentHelp("The tool.", valueName: "format"))
    var format: ExportFormat

    @Option(
        name: .customLong("results"), help: ArgumentHelp("The folder to look runs up in.", valueName: "dir"))
    var folder = "results"

    func validate() throws { try FolderArgument.check(folder, option: "--results") }

    func run() throws {
        let exported = try ExportedRun(MeasuredRun(name, in: folder))
        let text =
            switch format {
            case .jmh: JSONExports.jmh(exported)
            case .githubActionBenchmark: JSONExports.githubActionBenchmark(exported)
            case .bencher: JSONExports.bencher(exported)
            case .prometheus: PrometheusExport.text(exported)
            }
        try StandardOutput.write(text)
    }
}

extension ExportFormat: ExpressibleByArgument {}

extension ExportedRun {
    fileprivate init(_ run: MeasuredRun) throws(InputError) {
        try run.refuseSides(remedy: "export a run of `opbench run`")
        let order = SummaryOrder(specs: run.facts?.workloads ?? [])
        let samples = ThroughputSamples(run.samples).samples
        self.init(
            runID: run.samples[0].runID, startedUTC: run.samples.map(\.timestampUTC).min()!,
            commit: run.facts?.commit ?? "", summary: order.sorted(summarize(run.samples)),
            rates: { (samples[.init(cellID: $0.cellID, backend: $0.backend)] ?? []).map(\.operationsPerSecond) })
    }
}
