import OpBenchModel

/// Limits that apply to all sample processes of a run from their first instruction on.
public struct SampleLimits: Sendable, Equatable {
    /// The processors that they run on; nil for all that opbench itself may use.
    public var processors: ProcessorSet?

    public init(processors: ProcessorSet? = nil) { self.processors = processors }

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
        guard processors != other.processors else { return nil }
        return processors.map { "--cpus was \($0)" } ?? "--cpus was not given"
    }
}

extension SampleLimits: Codable {
    private enum CodingKeys: String, CodingKey {
        case processors = "cpus"
    }
}
