import OpBenchModel

/// What the processes of a run's samples are held to, from their first instruction on. All samples of a run to the same.
public struct SampleLimits: Sendable, Equatable {
    /// The processors that they run on; nil for those that opbench itself may use.
    public var processors: ProcessorSet?
    /// How much memory each may write to and shares with nobody, in bytes; nil for as much as the system gives.
    public var memoryBytes: Int?

    /// Less does not start Swift, Foundation and jemalloc for certain, in bytes.
    public static let leastMemory = 64 << 20
    public static let mostMemory = 1 << 50

    public init(processors: ProcessorSet? = nil, memoryBytes: Int? = nil) {
        self.processors = processors
        self.memoryBytes = memoryBytes
    }

    static let none = SampleLimits()

    /// Holds the processors against the machine.
    ///
    /// - Throws: `InputError` for processors that are not there, or that this process may not use.
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

    /// What is legal but perhaps not meant.
    public func warnings(on machine: ProcessorLayout = .here) -> [String] {
        guard let processors, processors.count > 1 else { return [] }
        let isolated = processors.intersection(machine.isolated)
        if isolated.isEmpty { return [] }
        return [
            "--cpus \(processors): \(isolated) isolated; the kernel moves no thread between isolated processors, so "
                + "that all threads of a sample stay on the one that they begin on"
        ]
    }

    // MARK: In words

    /// Why a run with these limits is not one with others, for people; nil if it is.
    func difference(from other: SampleLimits) -> String? {
        if processors != other.processors { return Self.given("--cpus", processors?.description) }
        if memoryBytes != other.memoryBytes { return Self.given("--max-memory", memoryBytes.map(Self.text(ofMemory:))) }
        return nil
    }

    private static func given(_ option: String, _ value: String?) -> String {
        value.map { "\(option) was \($0)" } ?? "\(option) was not given"
    }

    /// An amount of memory as the option takes it, without loss: `4GiB`, `1536MiB`.
    public static func text(ofMemory bytes: Int) -> String {
        for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] where bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)B"
    }

    /// What to say of a sample that did not come to its end; empty without a limit of memory.
    ///
    /// - Parameter diagnostics: what the process wrote to standard error.
    func note(onFailure diagnostics: String) -> String {
        guard let memoryBytes else { return "" }
        let limit = "--max-memory \(Self.text(ofMemory: memoryBytes))"
        let isCertain = Self.wordsOfScarcity.contains { diagnostics.contains($0) }
        return isCertain
            ? "it needed more memory than \(limit) allows; give more, or less to do"
            : "memory was limited by \(limit); if it needs more, give more, or less to do"
    }

    /// What Swift, the C library and the loader say where they are refused memory.
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
