import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// The part of a sweep to measure: the option that `run` and `ab` share.
struct ShardOptions: ParsableArguments {
    @Option(
        name: .customLong("shard"),
        help: ArgumentHelp(
            "Measure one part of several, such as 2/8.",
            discussion: """
                Files and options must be the same on every machine. The finished part is a folder in --output, for \
                `opbench merge`; repeating the command continues an interrupted part. OPBENCH_HOST replaces the host \
                name.
                """,
            valueName: "i/n"))
    var text: String?

    /// Refuses options that name a run.
    func check(_ destination: DestinationOptions) throws {
        if text != nil, destination.runID != nil || destination.resume {
            throw ValidationError(
                "--shard names the part, and an interrupted part continues: leave out --run-id and --resume.")
        }
    }

    /// - Throws: `InputError` for a malformed shard.
    func shard() throws -> Shard? {
        try text.map { text in
            guard let shard = Shard(text) else {
                throw InputError(
                    file: "--shard", message: "\(JSONText.excerpt(text)) is not a shard",
                    remedy: "write I/N, I from 1 to N and N at most \(Shard.countLimit)")
            }
            return shard
        }
    }

    /// The part of the plan to measure; all of it without `--shard`.
    ///
    /// - Parameter builds: the two builds; nil for one program.
    func part(of plan: RunPlan, by builds: ComparedBuilds? = nil, isSilent: Bool) throws -> RunPlan {
        guard let shard = try shard() else { return plan }
        let part = plan.part(shard, of: builds)
        if !isSilent, let sweep = part.sweep {
            StandardError.say(
                "opbench: shard \(shard) of the sweep \(sweep.prefix(12)): \(part.cells.count) of "
                    + "\(counted(plan.cells.count, "cell")), on \(part.options.host)")
        }
        return part
    }
}
