import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `--for-gate`: what the policy of a gate takes, in place of the usual kinds of sample and numbers of blocks.
struct GateRunOptions: ParsableArguments {
    @Flag(
        name: .customLong("for-gate"),
        help: ArgumentHelp(
            "Take what `opbench gate` needs to reach a verdict, and no more.",
            discussion: """
                That is 15 blocks, or as many as the rules of --policy take, of the kinds of sample that report what is \
                judged: throughput and memory without a policy, of an open loop latency. Backends that it neither judges \
                nor takes ratios to are left out, unless --backend names them. --blocks takes more.
                """))
    var isForGate = false

    @Option(
        help: ArgumentHelp(
            "With --for-gate, the policy file (JSON) of that gate.",
            discussion: "Without it: the one of a gate of two runs that is given none.", valueName: "file"))
    var policy: String?

    func validate() throws {
        if policy != nil, !isForGate { throw ValidationError("--policy goes with --for-gate.") }
    }

    /// Refuses what decides the same in another way.
    func check(_ selection: SelectionOptions, _ plan: PlanOptions) throws {
        guard isForGate else { return }
        if plan.quick { throw ValidationError("--for-gate takes whole samples: leave --quick out.") }
        if selection.kinds != nil {
            throw ValidationError("--for-gate decides which kinds of sample are taken: leave --metric out.")
        }
    }

    /// Reads the workloads and the policy.
    ///
    /// - Returns: the selection with the backends and kinds that are needed, and the number of blocks of each kind for
    ///   which it matters.
    /// - Throws: `InputErrors` with the mistakes of workloads, options and policy.
    func load(
        _ options: SelectionOptions, _ plan: PlanOptions
    ) throws(InputErrors) -> (selection: Selection, blocks: [SampleKind: Int]) {
        let mistakes = Mistakes()
        let loaded = mistakes.keep(options.load)
        let judged = mistakes.keep { () throws(InputErrors) in try self.judgedPolicy() }
        try mistakes.check()
        var selection = loaded!
        guard let policy = judged ?? nil else { return (selection, [:]) }
        if options.cells.backends == nil {
            mistakes.keepFirst { () throws(InputError) in try selection.keepBackends(judgedBy: policy) }
            try mistakes.check()
        }
        var blocks: [SampleKind: Int] = [:]
        for spec in selection.specs {
            let needs = GateNeeds(of: policy, on: spec)
            selection.replaceKinds(of: spec.name, by: needs.kinds)
            blocks.merge(needs.blocks, uniquingKeysWith: max)
            if needs.takesBaseline, !spec.backends.contains(.dispatch) {
                selection.warn("\(spec.file): without the backend dispatch there is no ratio to it for a gate to judge")
            }
        }
        return (selection, blocks.mapValues { plan.blocks ?? $0 })
    }

    private func judgedPolicy() throws(InputErrors) -> GatePolicy? {
        guard isForGate else { return nil }
        guard let policy else { return .standard }
        return try GatePolicy.load(file: policy)
    }
}

extension RunOptions {
    /// Takes so many blocks of some kinds, and as many as usual of the others, if any are given.
    mutating func take(_ blocks: [SampleKind: Int]) {
        if blocks.isEmpty { return }
        (self.blocks, blocksOfKinds) = (nil, blocks)
    }
}
