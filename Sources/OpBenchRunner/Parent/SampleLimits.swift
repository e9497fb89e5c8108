import OpBenchModel

/// Limits that apply to all sample processes of a run from their first instruction on.
public struct SampleLimits: Sendable, Equatable {
    /// The processors that they run on; nil for all that opbench itself may use.
    public var processors: ProcessorSet?
    /// Limit of each process's private writable memory, in bytes; nil for no limit.
    public var memoryBytes: Int?

    /// The least memory that starts Swift, Foundation and jemalloc reliably, in bytes.
    public static let leastMemory = 64 << 20
    public static let mostMemory = 1 << 50

    public init(processors: ProcessorSet? = nil, memoryBytes: Int? = nil) {
        self.processors = processors
        self.memoryBytes = memoryBytes
    }

    static let none = SampleLimits()

    /// Checks the processors against the machine.
    ///
    /// - Throws: `InputError` for processors that do not exist, or that this process may not use.
    public func check(on machine: ProcessorLayout = .here) throws(InputError) {
        guard let processors else { return }
        let missing = processors.subtracting(machine.online)
        guard missing.isEmpty else {
            throw InputError(
                file: "--cpus", message: "\(Self.named(missing)) not online here",
                remedy: "online are \(machine.online); `opbench doctor` says which to choose")
        }
        let refused = processors.subtracting(machine.usable)
        guard refused.isEmpty else {
            throw InputError(
                file: "--cpus", message: "\(Self.named(refused)) not allowed to this process (taskset, cpuset)",
                remedy: "allowed are \(machine.allowed); `opbench doctor` says which to choose")
        }
    }

    private static func named(_ processors: ProcessorSet) -> String {
        processors.count == 1 ? "processor \(processors) is" : "processors \(processors) are"
    }

    /// Warnings about settings that are legal but perhaps unintended.
    public func warnings(on machine: ProcessorLayout = .here) -> [String] {
        guard let processors, processors.count > 1 else { return [] }
        let isolated = processors.intersection(machine.isolated)
        if isolated.isEmpty { return [] }
        return [
            "--cpus \(processors): \(isolated) isolated; the kernel moves no threads between isolated processors, so "
                + "all threads of a sample stay on the processor where they begin"
        ]
    }

    // MARK: In words

    /// How these limits differ from others, in readable form; nil if they do not.
    func difference(from other: SampleLimits) -> String? {
        if processors != other.processors { return Self.given("--cpus", processors?.description) }
        if memoryBytes != other.memoryBytes { return Self.given("--max-memory", memoryBytes.map(Self.text(ofMemory:))) }
        return nil
    }

    private static func given(_ option: String, _ value: String?) -> String {
        value.map { "\(option) was \($0)" } ?? "\(option) was not given"
    }

    /// An exact amount of memory in the option's format: `4GiB`, `1536MiB`.
    public static func text(ofMemory bytes: Int) -> String {
        for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] where bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)B"
    }

    /// The note on a sample that did not complete; empty without a memory limit.
    ///
    /// - Parameter diagnostics: what the process wrote to standard error.
    func note(onFailure diagnostics: String) -> String {
        guard let memoryBytes else { return "" }
        let limit = "--max-memory \(Self.text(ofMemory: memoryBytes))"
        let isCertain = Self.wordsOfScarcity.contains { diagnostics.contains($0) }
        return isCertain
            ? "it needed more memory than \(limit) allows; raise the limit, or reduce the workload"
            : "memory was limited by \(limit); if that was too little, raise the limit, or reduce the workload"
    }

    /// Messages of Swift, the C library and the loader when an allocation fails.
    private static let wordsOfScarcity = [
        "failed to allocate", "ould not allocate", "annot allocate memory", "ut of memory",
        "cannot map zero-fill pages", "bad_alloc",
    ]
}

extension SampleLimits: Codable {
    private enum CodingKeys: String, CodingKey {
        case processors = "cpus"
        case memoryBytes = "max_memory_bytes"
    }
}
