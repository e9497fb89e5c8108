import Glibc
import OpBenchBackends
import OpBenchModel
import OperationEngine

/// The machine and the build, as recorded in `run.json`; what else changes figures is in `surroundings`.
struct HostFacts: Codable, Sendable, Equatable {
    /// The machine's name; nil in older runs, and in runs that several machines measured.
    var host: String?
    var cpu: String
    var cores: Int
    var memoryBytes: Int
    /// Resolution of the clock behind all figures; nil in runs that were recorded without it.
    var clockResolutionNanoseconds: Double?
    /// Machines of one class are comparable: same processor, number of cores and kernel series, and same part of the
    /// cores if samples run on only some.
    var hostClass: String
    /// The processors that samples run on; nil in runs that were recorded without it.
    var processors: ProcessorFacts?
    var allocator: String
    /// `debug` or `release`.
    var configuration: String
    var git: GitFacts?
    /// Variables that change the costs of any program, see `SampleEnvironment`; nil in runs that were recorded without
    /// them.
    var environment: [String: String]?
    /// Nil in runs that were recorded without them.
    var surroundings: Surroundings?

    enum CodingKeys: String, CodingKey {
        case host = "name"
        case cpu, cores
        case memoryBytes = "memory_bytes"
        case clockResolutionNanoseconds = "clock_resolution_ns"
        case hostClass = "host_class"
        case processors, allocator, configuration, git, environment, surroundings
    }

    /// - Parameter processors: the processors that samples are pinned to; nil for all that this process may use.
    static func gather(
        git: GitFacts?, processors: ProcessorSet? = nil, on machine: ProcessorLayout = .here
    ) -> HostFacts {
        let release = SurroundingsReader.systemName(\.release)
        let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        var surroundings = SurroundingsReader.read().replacingBuild(by: BuildDescription.own.surroundings)
        surroundings[.engineWorkers] = "\(Processors.workers(on: (processors ?? machine.allowed).count))"
        let series = release.split(separator: ".").prefix(2).joined(separator: ".")
        return HostFacts(
            cpu: cpuModel, cores: cores,
            memoryBytes: sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)),
            clockResolutionNanoseconds: Double(MonotonicClock.resolution()),
            hostClass: "\(cpuModel) x\(cores) Linux \(series)"
                + ProcessorFacts.restriction(to: processors, on: machine),
            processors: ProcessorFacts(of: processors ?? machine.allowed, on: machine), allocator: Allocator.name,
            configuration: BuildDescription.own.configuration, git: git, environment: SampleEnvironment.found(),
            surroundings: surroundings)
    }

    /// The variables that samples inherit, on one line.
    var inheritedEnvironment: String {
        SampleEnvironment.words((environment ?? [:]).filter { $0.key != SampleEnvironment.allocatorOptions })
    }

    /// The facts around a program's code on this host; without one, only the host's own.
    func around(executable: BuildFacts?) -> Surroundings {
        (surroundings ?? Surroundings()).replacingBuild(by: executable?.description.surroundings ?? Surroundings())
    }

    var kind: HostKind {
        HostKind(hostClass: hostClass, allocator: allocator, configuration: configuration)
    }

    private static let cpuModel: String = {
        let line = SystemFile.text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
        guard let value = line?.split(separator: ":", maxSplits: 1).last else {
            return SurroundingsReader.systemName(\.machine)
        }
        return value.split(separator: " ").joined(separator: " ")
    }()
}

extension HostKind {
    /// The kind of this program on this machine.
    ///
    /// - Parameter processors: the processors that samples are pinned to; nil for all that this process may use.
    public static func here(on processors: ProcessorSet? = nil) -> HostKind {
        HostFacts.gather(git: nil, processors: processors).kind
    }
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
