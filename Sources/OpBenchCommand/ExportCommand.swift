import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench export --format FORMAT RUN…`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print recorded runs in another tool's format.",
        discussion: """
            otava and otava-config take any number of runs and make a history for Apache Otava, which finds the points \
            where figures changed; the other formats take one run.

            EXAMPLES
              opbench export --format otava monday tuesday > history.csv
              opbench export --format otava-config monday tuesday > otava.yaml
              opbench export --format jmh main > jmh-result.json
              opbench export --format github-action-benchmark main > benchmark.json
              opbench export --format bencher main > bencher.json
              opbench export --format prometheus main > opbench.prom
            """)

    @Argument(
        help: ArgumentHelp("Runs: folders, or ids under results/ and results/baseline/.", valueName: "run"),
        completion: .run)
    var runs: [String]

    @Option(help: ArgumentHelp("The tool.", valueName: "format"))
    var format: ExportFormat

    @Option(
        name: .customLong("results"), help: ArgumentHelp("The folder to look runs up in.", valueName: "dir"))
    var folder = "results"

    func validate() throws {
        try FolderArgument.check(folder, option: "--results")
        if runs.count > 1, !format.isHistory {
            throw ValidationError("\(format.rawValue) takes one run; otava takes several.")
        }
    }

    func run() throws {
        let exported = try runs.map { try ExportedRun(MeasuredRun($0, in: folder)) }
        let leftOut = format.isHistory ? OtavaExport.leftOut(exported) : 0
        if leftOut > 0 {
            let figures = counted(leftOut, "figure is", plural: "figures are")
            StandardError.say("opbench: warning: \(figures) left out, because some runs lack them")
        }
        try StandardOutput.write(text(of: exported))
    }

    private func text(of exported: [ExportedRun]) -> String {
        switch format {
        case .otava: OtavaExport.data(exported)
        case .otavaConfig: OtavaExport.configuration(exported)
        case .jmh: JSONExports.jmh(exported[0])
        case .githubActionBenchmark: JSONExports.githubActionBenchmark(exported[0])
        case .bencher: JSONExports.bencher(exported[0])
        case .prometheus: PrometheusExport.text(exported[0])
        }
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
