import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// `opbench explain RUN [RUN]`
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain the difference between two builds: which function, allocation, lock or wait grew.",
        discussion: """
            Takes a run of `opbench ab`, or two runs, and the programs that took their samples. Reruns the cells that \
            regressed, or may have, on both sides, interleaved, eight times each: unprofiled, and with profiles of CPU \
            time, allocations and waits. Prints time and CPU time of the run, then the changes per operation, ranked \
            by the part of the difference that they explain. Reports a change if it is significant after Holm's \
            adjustment for all functions (or for everything else) of the cell, and at least 2 % of the base's CPU \
            time. Reports no function unless the CPU time of these turns changed. A function's figures include the \
            work that the Swift runtime, malloc, the C library and the kernel do for it.

            With --instructions, each side also runs under valgrind's callgrind, ten rounds of at most 2,000 \
            operations per turn, which takes some seconds more. The round with the fewest instructions counts, because \
            the spinning, parking and waking of threads depends on the order of their turns, and only adds \
            instructions.

            EXAMPLES
              opbench explain results/two-builds
              opbench explain before after
              opbench explain --filter work_ns=0 --backend engine results/two-builds
              opbench explain --instructions results/two-builds
              opbench explain --markdown explanation.md --output graphs results/two-builds

            EXIT CODES
              0    explained, or nothing regressed
              3    a sample crashed or timed out
              64   bad usage, a run of one side, a program that is missing or changed, or
                   --instructions without valgrind
            """)

    @Argument(
        help: ArgumentHelp("A run of `opbench ab`, or the run to compare with.", valueName: "run"),
        completion: .run)
    var base: String

    @Argument(help: ArgumentHelp("The run to compare.", valueName: "run"), completion: .run)
    var head: String?

    @Option(
        help: ArgumentHelp("A policy file (JSON), which defines regressions.", valueName: "file"),
        completion: .json)
    var policy: String?

    @Option(
        help: ArgumentHelp(
            "Explain the cells with names that match, whatever their verdicts; see `opbench help run`.",
            valueName: "regex"))
    var filter: String?

    @Option(
        name: .customLong("backend"),
        help: ArgumentHelp("Only these backends, separated by commas.", valueName: "list"), completion: .backends)
    var backends: String?

    @Option(name: .customLong("results"), help: ArgumentHelp("The folder to look runs up in.", valueName: "dir"))
    var folder = "results"

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp("Write difference flame graphs into this new folder.", valueName: "dir"))
    var directory: String?

    @Option(help: ArgumentHelp("Write the explanation to this file, as Markdown.", valueName: "file"))
    var markdown: String?

    @Option(
        help: ArgumentHelp(
            "The number of profiles per side, \(Self.turnsAllowed.lowerBound) to \(Self.turnsAllowed.upperBound).",
            valueName: "n"))
    var turns = 8

    /// Fewer turns cannot distinguish changes from chance.
    private static let turnsAllowed = minimumForInterval...25

    @Option(help: ArgumentHelp("Total duration of a sample's rounds.", valueName: "seconds"))
    var seconds = 0.5

    @Option(help: ArgumentHelp("Time limit of a sample.", valueName: "seconds"))
    var timeout = 60.0

    @Flag(
        name: .customLong("instructions"),
        help: "Also count instructions, with valgrind's callgrind; `opbench doctor` checks whether that works here.")
    var countsInstructions = false

    @Flag(name: .customLong("no-progress"), help: "Hide progress; warnings and errors remain.")
    var hidesProgress = false

    func validate() throws {
        try FolderArgument.check(folder, option: "--results")
        if let directory { try FolderArgument.check(directory, option: "--output") }
        let allowed = Self.turnsAllowed
        guard allowed.contains(turns) else {
            throw ValidationError(
                "--turns is \(turns); allowed is a whole number from \(allowed.lowerBound) to \(allowed.upperBound).")
        }
        try SampleTime.check(seconds: seconds, timeout: timeout)
    }

    func run() throws {
        if countsInstructions { try ProfileMeans.ofInstructions().require(by: "--instructions") }
        let file = try markdown.map { (path) throws(InputError) in try ReportFile(path) }
        let filter = try filter.map { (pattern) throws(InputError) in try CellFilter(pattern) }
        let backends = try backends.map { (list) throws(InputError) in try NameList.backends(list) }
        let runs = try ([base] + [head].compactMap(\.self)).map { try RecordedRun($0, in: folder) }
        let facts = try runs.map { run in
            guard let facts = run.facts else {
                throw InputError(
                    file: run.name, message: "run.json is missing next to the rows",
                    remedy: "name a run's whole folder")
            }
            return facts
        }
        let rows = try compare(runs)
        let targets = try SuspectCells(rows, of: runs[0]).targets(filter: filter, backends: backends)
        guard !targets.isEmpty else {
            StandardError.say("opbench: nothing regressed; --filter explains other cells")
            return
        }
        try explain((facts[0], facts[facts.count - 1]), targets, MeasuredChange.byTarget(rows), file)
    }

    private func compare(_ runs: [RecordedRun]) throws -> [CompareRow] {
        let comparison = RunComparison(folder: folder)
        let isOfSides = runs.count == 1
        let policy = try GatePolicy.forTwoSides(
            policy, or: isOfSides ? .standardForSides : .standard, on: runs.backends)
        return isOfSides
            ? try comparison.compareSides(of: runs[0], policy: policy)
            : try comparison.compare(runs[0], runs[1], policy: policy)
    }

    private func explain(
        _ facts: (base: RunFacts, head: RunFacts), _ targets: [ProfileTarget],
        _ measured: [MeasuredChange.Target: [MeasuredChange]], _ file: ReportFile?
    ) throws {
        let examined = try CancellableWork.run { [base, head] in
            await Result.catching {
                try await ExplainedBuilds(base: facts.base, head: facts.head, names: (base, head ?? base))
            }
        }
        if let signal = examined.signal { throw CommandOutcome(status: ExitStatus.interrupted(by: signal)) }
        let builds = try examined.value.get()
        let output = try directory.map { try ExplanationFolder($0) }
        let options = ProfileOptions(seconds: seconds, timeoutSeconds: timeout, directory: "")
        let (ended, signal) = try CancellableWork.run { [hidesProgress, turns, countsInstructions] in
            let monitor = ExplainMonitor(
                options, targets: targets.count, turns: turns, countsInstructions: countsInstructions,
                measured: measured, output: output, isSilent: hidesProgress)
            let outcome = await Result.catching {
                try await Explainer(
                    builds, targets, options, turns: turns, countsInstructions: countsInstructions, by: .ofVerdicts
                ).run(onEvent: monitor.handle)
                return monitor.hasFailures
            }
            monitor.finish()
            return (outcome: outcome, markdown: monitor.markdown)
        }
        // Includes the cells that were explained before an error or a signal.
        if let file, !ended.markdown.isEmpty { try ReportFile.write([(file, ended.markdown)]) }
        if let signal { throw CommandOutcome(status: ExitStatus.interrupted(by: signal)) }
        if try ended.outcome.get() { throw CommandOutcome(status: ExitStatus.badSample) }
    }
}

extension ChanceTest {
    /// The statistics that comparisons use.
    static let ofVerdicts = ChanceTest(
        probability: { mannWhitneyTest($0, $1) ?? 1 },
        shift: { base, head in
            let estimate = hodgesLehmannShift(from: base, to: head) ?? 0
            return (estimate, hodgesLehmannShiftInterval(from: base, to: head) ?? -.infinity ... .infinity)
        },
        adjusted: holmAdjusted)
}

extension MeasuredChange {
    /// A cell on a backend.
    struct Target: Hashable, Sendable {
        var cellID: String
        var backend: BackendID
    }

    /// Time and CPU time of each cell and backend, as estimated by the comparison.
    static func byTarget(_ rows: [CompareRow]) -> [Target: [MeasuredChange]] {
        var changes: [Target: [MeasuredChange]] = [:]
        for (name, metric) in [("time", Metric.time), ("CPU time", .cpuTime)] {
            for row in rows where row.metric == metric.name && row.phase == "total" && row.operationClass.isEmpty {
                guard let base = row.base, let head = row.head, let ratio = row.ratio else { continue }
                let ends = [row.ratioLow, row.ratioHigh].compactMap(\.self)
                changes[Target(cellID: row.cellID, backend: row.backend), default: []].append(
                    MeasuredChange(
                        name: name, base: base, head: head, ratio: ratio,
                        interval: ends.count == 2 ? ends[0]...max(ends[0], ends[1]) : nil))
            }
        }
        return changes
    }
}

/// The cells with judged figures that regressed, or may have.
struct SuspectCells {
    private let rows: [CompareRow]
    private let run: RecordedRun

    init(_ rows: [CompareRow], of run: RecordedRun) {
        self.rows = rows
        self.run = run
    }

    /// - Parameters:
    ///   - filter: selects cells whatever their verdicts.
    ///   - backends: nil for all.
    /// - Returns: the targets, worst first.
    func targets(filter: CellFilter?, backends: [BackendID]?) throws -> [ProfileTarget] {
        // The original files with the settings of the run's command line.
        let settings = try ParameterSettings.parse(run.facts?.values(of: "--set") ?? [])
        let specs = try WorkloadSpec.overriding(run.facts?.workloads ?? [], with: settings)
        let cells = Dictionary(specs.flatMap { $0.cells }.map { ($0.id, $0) }) { $1 }
        var worst: [ProfileTarget: Double] = [:]
        for row in rows where backends?.contains(row.backend) ?? true {
            let known = cells[row.cellID]
            let isChosen = filter.map { filter in known.map { filter.matches($0) } ?? filter.matches(row.cellID) }
            guard isChosen ?? isSuspect(row) else { continue }
            guard let cell = known else {
                throw InputError(
                    file: run.name, message: "its run.json lacks the workload of the cell \"\(row.cellID)\"",
                    remedy: "measure again with this opbench")
            }
            let target = ProfileTarget(cell: cell, backend: row.backend)
            worst[target] = max(worst[target] ?? 0, row.ratio ?? 0)
        }
        if let filter, worst.isEmpty {
            throw InputError(
                file: "--filter", message: "\"\(filter.pattern)\" matches no cell of \(run.name) on those backends",
                remedy: "`opbench compare --all` prints the cells of runs")
        }
        return worst.keys.sorted {
            (-(worst[$0] ?? 0), $0.cell.id, $0.backend.rawValue) < (-(worst[$1] ?? 0), $1.cell.id, $1.backend.rawValue)
        }
    }

    /// Whether a figure is judged to be worse, or is inconclusive with an estimate beyond the threshold.
    private func isSuspect(_ row: CompareRow) -> Bool {
        switch row.verdict {
        case .regression: true
        case .inconclusive: (row.ratio ?? 0) > 1 + (row.threshold ?? 0)
        case .pass, .improved, .met, .missed, .missing, .unjudged: false
        }
    }
}
