import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// Limits of sample processes: the options that `run` and `ab` share.
struct LimitOptions: ParsableArguments {
    @Option(
        name: .customLong("cpus"),
        help: ArgumentHelp(
            "Run all samples only on these processors, such as 0-3,8 or 0-14:2.",
            discussion: """
                As for taskset(1). The engine and Dispatch make as many threads as there are processors, so runs are \
                comparable only with the same list. `opbench doctor` suggests one.
                """,
            valueName: "list"), transform: FormedArgument.processors)
    var processors: ProcessorSet?

    /// - Throws: `InputError` for processors that samples cannot have here.
    func checked() throws(InputError) -> SampleLimits {
        let limits = SampleLimits(processors: processors)
        try limits.check()
        return limits
    }
}
