import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `--for-gate`: the kinds of sample and numbers of blocks that a gate's policy needs, instead of the usual ones.
struct GateRunOptions: ParsableArguments {
    @Flag(
        name: .customLong("for-gate"),
        help: ArgumentHelp(
            "Take just the samples that `opbench gate` needs for a verdict.",
            discussion: """
                15 blocks, or as many as --policy needs, of the kinds of sample and the backends that it judges or \
                uses for ratios. --blocks and --backend override that.
                """))
    var isForGate = false

    @Option(
        help: ArgumentHelp(
            "With --for-gate, the gate's policy file (JSON); by default that for two runs.", valueName: "file"),
        completion: .json)
    var policy: String?

    func validate() throws {
        if policy != nil, !isForGate { throw ValidationError("--policy needs --for-gate.") }
    }

    /// Refuses options that conflict with --for-gate.
    func check(_ selection: SelectionOptions, _ plan: PlanOptions) throws {
        guard isForGate else { return }
        if plan.quick { throw ValidationError("--for-gate takes whole samples: leave out --quick.") }
        if selection.kinds != nil {
            throw ValidationError("--for-gate chooses the kinds of sample: leave out --metric.")
        }
    }

    /// Refuses a policy that needs more blocks than there are layouts.
    func check(_ layout: LayoutOptions) throws {
        if isForGate { try layout.check(judgedPolicy(), file: policy) }
    }

    /// Reads the workloads and the policy.
    ///
    /// - Returns: the selection with the needed backends and kinds, and the number of blocks of each kind that the
    ///   policy restricts.
    /// - Throws: `InputErrors` with the mistakes of workloads, options and policy.
    func load(
        _ options: SelectionOptions, _ plan: PlanOptions
    ) throws(InputErrors) -> (selection: Selection, blocks: [SampleKind: Int]) {
        guard isForGate else { return (try options.load(), [:]) }
        var (selection, policy) = try options.load { _ throws(InputErrors) in try judgedPolicy() }
        var blocks: [SampleKind: Int] = [:]
        for spec in selection.specs {
            let needs = GateNeeds(of: policy, on: spec)
            selection.replaceKinds(of: spec.name, by: needs.kinds, namedBy: "--policy")
            blocks.merge(needs.blocks, uniquingKeysWith: max)
            if needs.takesBaseline, !spec.backends.contains(where: \.isDispatch) {
                selection.warn("\(spec.file): without the backend dispatch, a gate has no ratio to judge")
            }
        }
        return (selection, blocks.mapValues { plan.blocks ?? $0 })
    }

    private func judgedPolicy() throws(InputErrors) -> GatePolicy {
        guard let policy else { return .standard }
        return try GatePolicy.load(file: policy)
    }
}

extension RunOptions {
    /// Sets the numbers of blocks of some kinds, and the default for the others, if any are given.
    mutating func take(_ blocks: [SampleKind: Int]) {
        if blocks.isEmpty { return }
        (self.blocks, blocksOfKinds) = (nil, blocks)
    }
}
