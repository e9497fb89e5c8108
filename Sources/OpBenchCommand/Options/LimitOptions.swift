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
            valueName: "list"), transform: ProcessorArgument.parse)
    var list: ProcessorArgument?

    @Option(
        name: .customLong("max-memory"),
        help: ArgumentHelp(
            "End a sample that needs more memory, such as 4GiB or 512MiB; at least 64MiB.",
            discussion: """
                Counts heap, data and stacks as soon as they are reserved (RLIMIT_DATA). Such a sample is `crashed`, \
                or `timeout` if its backend waits for memory.
                """,
            valueName: "size"), transform: MemoryArgument.parse)
    var memory: MemoryArgument?

    var processors: ProcessorSet? { list?.set }

    func validate() throws {
        if let memory, !(SampleLimits.leastMemory...SampleLimits.mostMemory).contains(memory.bytes) {
            throw ValidationError(
                "--max-memory is \(SampleLimits.text(ofMemory: memory.bytes)); allowed are "
                    + "\(SampleLimits.text(ofMemory: SampleLimits.leastMemory)) to "
                    + "\(SampleLimits.text(ofMemory: SampleLimits.mostMemory)).")
        }
    }

    /// - Throws: `InputError` for processors that samples cannot have here.
    func checked() throws(InputError) -> SampleLimits {
        let limits = SampleLimits(processors: processors, memoryBytes: memory?.bytes)
        try limits.check()
        return limits
    }
}

/// An amount of memory on the command line: `512MiB`, `4GiB`, `1.5GiB`.
struct MemoryArgument: FormedArgument {
    static let form = "a size such as 512MiB or 4GiB"

    let bytes: Int

    init?(argument: String) {
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)]
        guard let (unit, shift) = units.first(where: { argument.hasSuffix($0.0) }) else { return nil }
        let digits = argument.dropLast(unit.count)
        guard digits.first?.isNumber == true, let number = Double(digits), number < 1e6 else { return nil }
        bytes = Int((number * Double(1 << shift)).rounded())
    }
}

/// Processors on the command line: `0-3,8`.
struct ProcessorArgument: FormedArgument {
    static let form = "numbers and ranges, such as 0-3,8 or 0-14:2"

    let set: ProcessorSet

    init?(argument: String) {
        guard let set = ProcessorSet(argument) else { return nil }
        self.set = set
    }
}
