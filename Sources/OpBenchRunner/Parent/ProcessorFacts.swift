import OpBenchModel

/// Where a run's samples run, as `run.json` tells: which processors, on how many cores, of which NUMA nodes.
struct ProcessorFacts: Codable, Sendable, Equatable {
    var cpus: ProcessorSet
    var cores: Int
    /// The processors of each node, by its number.
    var nodes: [String: ProcessorSet]

    /// - Returns: nil for no processors: the kernel did not tell.
    init?(of processors: ProcessorSet, on machine: ProcessorLayout) {
        guard !processors.isEmpty else { return nil }
        cpus = processors
        cores = machine.coreCount(of: processors)
        nodes = machine.nodes(of: processors).reduce(into: [:]) { $0["\($1.number)"] = $1.processors }
    }

    /// For people: `0-3: 4 cores of node 0`.
    var words: String {
        let numbers = nodes.keys.sorted { (Int($0) ?? 0, $0) < (Int($1) ?? 0, $1) }
        let place = numbers.count == 1 ? "node \(numbers[0])" : "nodes \(numbers.joined(separator: ", "))"
        return "\(cpus): \(cores) \(cores == 1 ? "core" : "cores") of \(place)"
    }

    /// The end of a host class whose samples do not run on the whole machine; empty if they do.
    ///
    /// Those that were asked for are named, since the others of the machine may be of another kind. Of a part that was
    /// given to this process only the number counts: whoever starts containers gives each another one.
    static func restriction(to processors: ProcessorSet?, on machine: ProcessorLayout) -> String {
        if let processors { return processors == machine.online ? "" : ", on cpus \(processors)" }
        let allowed = machine.allowed.intersection(machine.online)
        return allowed == machine.online || allowed.isEmpty ? "" : ", on \(allowed.count) of them"
    }
}
