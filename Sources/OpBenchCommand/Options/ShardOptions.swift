import ArgumentParser
import Foundation
import OpBenchModel
import OpBenchRunner

/// Which part of a sweep is measured: what `run` and `ab` have in common.
struct ShardOptions: ParsableArguments {
    @Option(
        name: .customLong("shard"),
        help: ArgumentHelp(
            "Measure one part of how many: 2/8; or auto, or auto/8.",
            discussion: """
                auto takes it from the environment: from SLURM_ARRAY_TASK_ID and the bounds of the job array, or from \
                JOB_COMPLETION_INDEX of an Indexed Job of Kubernetes, which needs the number of shards behind it. Shards \
                take about the same time; each cell is in one of them. A machine is named by its host name, or by \
                OPBENCH_HOST.
                """,
            valueName: "i/n"))
    var text: String?

    /// Refuses what names a run.
    func check(_ destination: DestinationOptions) throws {
        if text != nil, destination.runID != nil || destination.resume {
            throw ValidationError(
                "--shard names the part, and what was interrupted is continued: leave --run-id and --resume out.")
        }
    }

    /// - Throws: `InputErrors` for what is no shard, or if the environment does not tell which.
    func shard() throws -> Shard? {
        try text.map { try ShardArgument($0).shard(ProcessInfo.processInfo.environment) }
    }

    /// The part of the plan that is to be measured; all of it without `--shard`.
    func part(of plan: RunPlan, isSilent: Bool) throws -> RunPlan {
        guard let shard = try shard() else { return plan }
        let part = plan.part(shard)
        if !isSilent, let sweep = part.options.sweep {
            StandardError.say(
                "opbench: shard \(shard) of the sweep \(sweep.sha256.prefix(12)): \(part.cells.count) of "
                    + "\(plan.cells.count) cells, on \(part.options.host)")
        }
        return part
    }
}
