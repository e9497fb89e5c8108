import CLinux
import Glibc
import OpBenchModel

/// The machine's processors as reported by the kernel: which share a core or memory, and which are isolated.
public struct ProcessorLayout: Sendable, Equatable {
    /// A NUMA node: processors with equally fast access to one part of the memory.
    struct Node: Sendable, Equatable {
        var number: Int
        var processors: ProcessorSet
    }

    var online: ProcessorSet
    /// Processors that this process may use, sched_getaffinity(2).
    var allowed: ProcessorSet
    /// Processors between which the kernel moves no threads (`isolcpus=`, isolated partitions of cpuset).
    var isolated = ProcessorSet([])
    /// Processors without a periodic tick while one thread runs (`nohz_full=`).
    var tickless = ProcessorSet([])
    /// The online processors of each core, ordered by their lowest numbers.
    var cores: [ProcessorSet]
    /// Nodes with processors; one node if the kernel reports none.
    var nodes: [Node]

    /// This machine.
    public static let here = read()

    /// Reads `cpu` and `node` in a folder such as /sys/devices/system.
    ///
    /// - Parameter allowed: nil to ask the kernel about this process.
    static func read(in folder: String = "/sys/devices/system", allowed: ProcessorSet? = nil) -> ProcessorLayout {
        func list(_ name: String) -> ProcessorSet? { SystemFile.line("\(folder)/\(name)").flatMap { ProcessorSet($0) } }
        let allowed = allowed ?? ownAllowed()
        let online = list("cpu/online") ?? allowed
        var cores: [ProcessorSet] = []
        var assigned: Set<Int> = []
        for processor in online.numbers where !assigned.contains(processor) {
            let siblings = list("cpu/cpu\(processor)/topology/thread_siblings_list") ?? ProcessorSet([processor])
            let core = siblings.intersection(online).union(ProcessorSet([processor]))
            assigned.formUnion(core.numbers)
            cores.append(core)
        }
        let numbers = (list("node/has_cpu") ?? list("node/online"))?.numbers ?? []
        let nodes = numbers.compactMap { number in
            list("node/node\(number)/cpulist").map { Node(number: number, processors: $0.intersection(online)) }
        }.filter { !$0.processors.isEmpty }
        return ProcessorLayout(
            online: online, allowed: allowed, isolated: list("cpu/isolated") ?? ProcessorSet([]),
            tickless: list("cpu/nohz_full") ?? ProcessorSet([]), cores: cores,
            nodes: nodes.isEmpty ? [Node(number: 0, processors: online)] : nodes)
    }

    private static func ownAllowed() -> ProcessorSet {
        var numbers = [Int32](repeating: 0, count: ProcessorSet.limit)
        let count = clinux_list_allowed_processors(&numbers, Int32(numbers.count))
        return ProcessorSet(numbers.prefix(max(0, Int(count))).map(Int.init))
    }

    /// Processors that this process can use: the allowed ones, and the isolated ones, which a process must choose
    /// itself.
    var usable: ProcessorSet { allowed.union(isolated).intersection(online) }

    /// The nodes of processors.
    func nodes(of processors: ProcessorSet) -> [Node] {
        nodes.map { Node(number: $0.number, processors: $0.processors.intersection(processors)) }
            .filter { !$0.processors.isEmpty }
    }

    /// The number of cores of processors.
    func coreCount(of processors: ProcessorSet) -> Int { cores.count { !$0.intersection(processors).isEmpty } }
}

/// The processors, cores and NUMA nodes that a run's samples run on, as recorded in `run.json`.
struct ProcessorFacts: Codable, Sendable, Equatable {
    var cpus: ProcessorSet
    var cores: Int
    /// The processors of each node, by its number.
    var nodes: [String: ProcessorSet]

    /// - Returns: nil for an empty set, when the kernel reported no processors.
    init?(of processors: ProcessorSet, on machine: ProcessorLayout) {
        guard !processors.isEmpty else { return nil }
        cpus = processors
        cores = machine.coreCount(of: processors)
        nodes = machine.nodes(of: processors).reduce(into: [:]) { $0["\($1.number)"] = $1.processors }
    }

    /// Readable form: `0-3: 4 cores of node 0`.
    var words: String {
        let numbers = nodes.keys.sorted { (Int($0) ?? 0, $0) < (Int($1) ?? 0, $1) }
        let place = numbers.count == 1 ? "node \(numbers[0])" : "nodes \(numbers.joined(separator: ", "))"
        return "\(cpus): \(counted(cores, "core")) of \(place)"
    }

    /// The suffix of a host class whose samples do not run on the whole machine; empty if they do.
    ///
    /// Processors that the user chose are listed, since the machine's other processors may be of another kind. If this
    /// process was given only a part of the machine, the suffix has just the number: container managers assign a
    /// different set each time.
    static func restriction(to processors: ProcessorSet?, on machine: ProcessorLayout) -> String {
        if let processors { return processors == machine.online ? "" : ", on cpus \(processors)" }
        let allowed = machine.allowed.intersection(machine.online)
        return allowed == machine.online || allowed.isEmpty ? "" : ", on \(allowed.count) of them"
    }
}

// MARK: - Choice

extension ProcessorLayout {
    /// Processors to measure on.
    struct Choice: Sendable, Equatable {
        var processors: ProcessorSet
        /// The reasons for the choice, in words.
        var reasons: [String]

        /// The option with its reasons: `--cpus 2-7: one thread per core`.
        var words: String { "--cpus \(processors): \(reasons.joined(separator: ", "))" }
    }

    /// With more cores than this, the first is left to the kernel and to opbench itself.
    private static let fewCores = 4

    /// Processors on which threads neither share a core, nor access another node's memory, nor wait for a quota; nil if
    /// this process may use no others anyway.
    ///
    /// - Parameter quota: the cgroup's quota, as a number of processors.
    func choice(quota: Double? = nil) -> Choice? {
        let allowed = allowed.intersection(online)
        var reasons: [String] = []
        let shared = allowed.subtracting(isolated)
        if !shared.isEmpty, shared != allowed {
            reasons.append("without the isolated \(isolated.intersection(allowed))")
        }
        let candidates = shared.isEmpty ? allowed : shared
        let ofCores = cores.map { $0.intersection(candidates) }.filter { !$0.isEmpty }
        if ofCores.contains(where: { $0.count > 1 }) { reasons.insert("one thread per core", at: 0) }
        let single = ProcessorSet(ofCores.compactMap(\.first))
        let parts = nodes(of: single).map {
            (node: $0.number, all: $0.processors, processors: withoutFirst($0.processors))
        }
        guard let part = parts.max(by: { $0.processors.count < $1.processors.count }) else { return nil }
        if parts.count > 1 { reasons.append("all on node \(part.node)") }
        var best = part.processors
        if let quota, Double(best.count) > max(1, quota) {
            best = ProcessorSet(best.numbers.prefix(max(1, Int(quota))))
            reasons.append("no more than the cgroup's quota of \(quota.formattedTenths)")
        }
        guard !reasons.isEmpty, best != allowed else { return nil }
        if part.all != part.processors, let first = online.first {
            reasons.append("without \(first), which takes most interrupts")
        }
        return Choice(processors: best, reasons: reasons)
    }

    /// Leaves out the core of the lowest processor, which takes most interrupts, if enough are left.
    private func withoutFirst(_ processors: ProcessorSet) -> ProcessorSet {
        guard processors.count > Self.fewCores, let first = online.first else { return processors }
        return processors.subtracting(cores.first { $0.numbers.contains(first) } ?? ProcessorSet([first]))
    }
}

extension Double {
    /// `2`, `1.5`.
    fileprivate var formattedTenths: String {
        let tenths = (self * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
    }
}
