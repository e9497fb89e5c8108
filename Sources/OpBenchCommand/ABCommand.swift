import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench ab BASE HEAD FILE…` or `opbench ab --base-ref REF FILE…`
struct ABCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ab",
        abstract: "Measure two builds, interleaved, and compare them.",
        usage: "opbench ab (<base> <head> | --base-ref <ref> [--head-ref <ref>]) <file> ... [<options>]",
        discussion: """
            The builds are two programs, each a built opbench, or two commits of the package in this folder, which are \
            built first. Each block runs both one after the other, in random order, so that drift affects both \
            equally: the most precise comparison available. Without --blocks, a cell gets 7 blocks, and 15, 25 or 40 \
            while a judged figure is open and more are likely to settle it; alpha is divided among these looks. \
            Backends that the policy does not judge are left out unless --backend names them. `opbench gate --ab` \
            turns the verdicts into an exit code.

            EXAMPLES
              opbench ab --base-ref main workloads/*.json
              opbench ab --base-ref v1.2 --head-ref HEAD~1 workloads/*.json
              opbench ab old/opbench .build/release/opbench workloads/*.json
              opbench ab --base-ref main --layouts 15 workloads/*.json
              opbench ab --run-id two --backend engine old/opbench new/opbench w.json
              opbench ab --base-ref main --policy gate.json --markdown ab.md w.json

            EXIT CODES
              0    measured, whatever the verdicts; or equal programs, with
                   --skip-equal
              3    a sample is invalid, crashed or timed out
                   unexpectedly
              5    the base has no such program, or a baseline of the policy
                   is missing
            """)

    /// Without refs, the first two files are the builds: arguments cannot depend on an option in this parser.
    @OptionGroup(title: OptionTitle.workloads) var selection: SelectionOptions
    @OptionGroup(title: "Builds") var refs: RefOptions
    @OptionGroup(title: OptionTitle.samples) var plan: PlanOptions
    @OptionGroup(title: OptionTitle.samples) var layout: LayoutOptions
    @OptionGroup(title: OptionTitle.comparison) var report: ReportOptions
    @OptionGroup(title: OptionTitle.results) var destination: DestinationOptions
    @OptionGroup(title: OptionTitle.results) var progress: ProgressOptions
    @OptionGroup(title: OptionTitle.limits) var limits: LimitOptions
    @OptionGroup(title: OptionTitle.machines) var part: ShardOptions

    @Option(
        name: .customLong("inject-slowdown"),
        help: ArgumentHelp(
            "Slow down HEAD's operations by this part, to see a gate fail: 0.1 is 10 %.",
            discussion: "Lengthens `work_ns` on the engine and on backends that a program declares.",
            valueName: "part"))
    var injectedSlowdown = 0.0

    @Option(
        name: .customLong("inject-allocations"),
        help: ArgumentHelp("Add this many mallocs to each of HEAD's operations.", visibility: .hidden))
    var injectedAllocations = 0

    /// The paths of the builds; empty with refs.
    var builds: [String] { refs.base == nil ? Array(selection.cells.files.prefix(2)) : [] }

    /// The workloads to measure.
    var workloads: SelectionOptions {
        var workloads = selection
        workloads.cells.files.removeFirst(builds.count)
        return workloads
    }

    func validate() throws {
        if selection.cells.files.count == builds.count {
            throw ValidationError("Missing expected argument '<file> ...'")
        }
        try part.check(destination)
        if layout.layouts != nil, refs.base == nil {
            throw ValidationError("--layouts needs --base-ref: a built program cannot be linked again.")
        }
        try layout.check(plan)
        if part.text != nil, refs.base != nil {
            throw ValidationError("--shard needs two programs, the same on every machine: leave out --base-ref.")
        }
        if part.text != nil, report.isWritten {
            throw ValidationError(
                "--shard compares nothing: leave out the comparison's files, and let `opbench gate --ab` write them."
            )
        }
        try NumberArgument.check(
            injectedSlowdown, option: "--inject-slowdown", in: 0...10, "is a part from 0 to 10")
        try NumberArgument.check(
            injectedAllocations, option: "--inject-allocations", in: 0...1000, "are 0 to 1000")
    }

    /// Slowing down zero work changes nothing; the gate would pass.
    private func checkInjection(into selection: Selection) throws(InputError) {
        guard injectedSlowdown > 0 else { return }
        if selection.cells.allSatisfy({ $0.parameters["work_ns"] == .integer(0) }) {
            throw InputError(
                file: "--inject-slowdown", message: "no operation has work to lengthen",
                remedy: "give them work: --set work_ns=5000")
        }
    }

    /// Whether the programs are equal and no defect is injected, so that they would differ only by noise.
    private func isNothingToMeasure(_ built: (base: BuiltCommit, head: BuiltCommit)) throws -> Bool {
        guard refs.skipsEqual, injectedSlowdown == 0, injectedAllocations == 0,
            try built.base.isSame(as: built.head)
        else { return false }
        StandardError.say(
            "opbench: the programs of \(built.base.commit.words) and \(built.head.commit.words) differ only in the "
                + "recorded commit; nothing is measured")
        return true
    }

    func run() throws {
        let runID = try destination.identifier()
        let files = try report.files()
        let (selection, policy) = try workloads.loadJudged(by: report.policy, or: .standardForSides)
        try layout.check(policy, file: report.policy)
        var options = try plan.runOptions(of: selection, in: destination, as: runID, limits)
        options.refs = refs.base.map { ComparedRefs(base: $0, head: refs.head ?? "HEAD") }
        try checkInjection(into: selection)
        let anchors = try policy.anchors(in: destination.directory, file: report.policy)
        let here = Host.read(on: limits.processors).kind
        // Does the work of the first baseline.
        for anchor in anchors.reversed() {
            options.calibration = try anchor.machine(like: here).calibration
        }
        // Warns if the others did different work.
        for other in anchors.dropFirst() { try MeasuredRun.checkSameHost(anchors[0], other, ignoring: []) }
        // Stages depend on results of all cells, which no single machine has.
        if part.text != nil { options.stagesOfSides = [FigureRule.standardMinBlocks] }
        let interleaved = try InterleavedPlan(
            selection, policy: policy, options: options, layouts: layout.layouts, anchors: anchors)
        let built = try refs.build(layouts: layout.layouts ?? 0)
        if let built, try isNothingToMeasure(built) { return }
        let injected = InjectedDefect(slowdown: injectedSlowdown, allocations: injectedAllocations)
        let programs = try CancellableWork.finish { [builds] in
            if let built {
                try await ComparedBuilds.examine(base: built.base, head: built.head, injected: injected)
            } else {
                try await ComparedBuilds.examine(base: builds[0], head: builds[1], injected: injected)
            }
        }
        let plan = try part.part(of: interleaved.plan, by: programs, isSilent: progress.isHidden)
        // All parts of a sweep are judged when they are merged.
        let execution = RunExecution(
            plan, by: .two(programs), judge: part.text == nil ? interleaved.judge : nil, warnings: selection.warnings,
            isSilent: progress.isHidden)
        if part.text != nil { return try execution.run(shownAs: report.presentation) }
        let ended = try execution.run()
        try report.report(ended.rows, policy: policy, compared: .sides(ended.run), anchors: anchors, files: files)
        try execution.conclude(ended)
    }
}
