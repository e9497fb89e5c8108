import OpBenchProfile

/// One thing that `opbench doctor` looked at.
public struct Finding: Sendable, Equatable, Codable {
    /// What it means for measuring here.
    public enum Weight: String, Sendable, CaseIterable, Codable {
        /// As one would wish.
        case good
        /// Worth knowing; nothing to mend, or the system does not tell.
        case note
        /// Makes figures worse than they need be, or takes some away.
        case bad
    }

    public let subject: String
    public let weight: Weight
    /// What was found, in words.
    public let found: String
    /// What it does to figures and what to do about it; empty where all is well.
    public let remedy: String
}

/// Examines the machine that opbench would measure on.
public enum Doctor {
    /// Looks at everything; takes the watched time and a little more.
    ///
    /// - Parameter watchSeconds: for how long to see what else uses the machine.
    public static func examine(watchSeconds: Double) -> [Finding] {
        findings(from: .take(watchSeconds: watchSeconds))
    }

    static func findings(from readings: HostReadings) -> [Finding] {
        [
            processors(readings), choice(readings), quota(readings), governor(readings), turbo(readings),
            siblings(readings), isolated(readings), nodes(readings),
            hypervisor(readings), foreign(readings), load(readings), clockSource(readings), clock(readings),
            timer(readings), memory(readings), randomization(readings), allocator(readings), environment(readings),
            priority(readings), build(readings),
        ] + ProfileKind.allCases.map { profile($0, readings) } + [instructions(readings)]
    }
}
