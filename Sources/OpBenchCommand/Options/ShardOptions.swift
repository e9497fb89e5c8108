import ArgumentParser
import Foundation
import OpBenchModel

/// Which part of a plan is measured, in place of workload files.
struct ShardOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Measure a part of this plan, which `opbench plan` wrote.",
            discussion: "It goes with --shard, and decides all that is measured.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var plan: String?

    @Option(
        help: ArgumentHelp(
            "With --plan, which part of how many: 2/8; or auto, or auto/8.",
            discussion: """
                auto takes it from the environment: from SLURM_ARRAY_TASK_ID and the bounds of the job array, or from \
                JOB_COMPLETION_INDEX of an Indexed Job of Kubernetes, which needs the number of shards behind it. Shards \
                take about the same time; each cell is in one of them. A machine is named by its host name, or by \
                OPBENCH_HOST.
                """,
            valueName: "i/n"))
    var shard: String?

    func validate() throws {
        if plan == nil, shard != nil { throw ValidationError("--shard goes with --plan.") }
        if plan != nil, shard == nil {
            throw ValidationError("--plan needs --shard: which part is to be measured, 1/1 for all of it.")
        }
    }

    /// A plan, and the file that it was read from.
    struct Loaded {
        let file: String
        let plan: PlanFile
    }

    /// Reads and checks the plan, and finds out which shard it is; nil without a plan.
    ///
    /// - Throws: `InputErrors` with all that is wrong.
    func load() throws(InputErrors) -> (plan: Loaded, shard: Shard)? {
        guard let file = plan, let text = shard else { return nil }
        let mistakes = Mistakes()
        let plan = mistakes.keep { () throws(InputErrors) in
            try PlanFile.load(file: file, for: ProgramVersion.program)
        }
        let argument = mistakes.keepFirst { () throws(InputError) in try ShardArgument(text) }
        let shard = mistakes.keep(argument) { argument throws(InputErrors) in
            try argument.shard(ProcessInfo.processInfo.environment)
        }
        mistakes.keepFirst(MachineName.check)
        try mistakes.check()
        return (Loaded(file: file, plan: plan!), shard!)
    }
}
