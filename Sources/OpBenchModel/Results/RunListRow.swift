/// One row of `opbench runs`: a run in a folder, by its manifest.
public struct RunListRow: Sendable, Hashable {
    public enum State: String, Sendable {
        case running, finished
        /// Ended by a signal or killed; `--resume` continues it.
        case interrupted
    }

    /// The name that selects the run: its folder's name.
    public var name: String
    public var isBaseline: Bool
    public var startedUTC: String
    /// Names separated by spaces.
    public var workloads: String
    public var backends: String
    public var cells: Int
    /// The most completed throughput blocks of a cell, or blocks of another kind if there are none.
    public var blocks: Int
    /// The numbers of completed and planned samples.
    public var samples: Int
    public var plannedSamples: Int
    /// The number of samples that failed unexpectedly; nil if unknown.
    public var badSamples: Int?
    public var state: State
    public var host: HostKind

    public init(
        name: String, isBaseline: Bool, startedUTC: String, workloads: String, backends: String, cells: Int,
        blocks: Int, samples: Int, plannedSamples: Int, badSamples: Int?, state: State, host: HostKind
    ) {
        (self.name, self.isBaseline, self.startedUTC) = (name, isBaseline, startedUTC)
        (self.workloads, self.backends, self.cells, self.blocks) = (workloads, backends, cells, blocks)
        (self.samples, self.plannedSamples, self.badSamples) = (samples, plannedSamples, badSamples)
        (self.state, self.host) = (state, host)
    }
}

/// The properties of a host that must be equal for figures to be comparable.
public struct HostKind: Hashable, Sendable {
    public var hostClass: String
    public var allocator: String
    /// `debug` or `release`.
    public var configuration: String

    public init(hostClass: String, allocator: String, configuration: String) {
        self.hostClass = hostClass
        self.allocator = allocator
        self.configuration = configuration
    }

    /// One line for people, without the commit in jemalloc's version.
    public var summary: String { "\(hostClass), \(Self.shortened(allocator: allocator)), \(configuration)" }

    /// An allocator's name, version and options, such as `jemalloc 5.3.0, narenas:1`.
    public static func shortened(allocator: String) -> String {
        guard let commit = allocator.firstRange(of: "-0-g") else { return allocator }
        return String(allocator[..<commit.lowerBound] + allocator[commit.upperBound...].drop(while: \.isHexDigit))
    }

    /// The first difference, for people; nil if there is none.
    public func difference(from other: HostKind) -> (what: String, own: String, others: String)? {
        [
            ("host class", hostClass, other.hostClass), ("allocator", allocator, other.allocator),
            ("build", configuration, other.configuration),
        ].first { $0.1 != $0.2 }
    }
}
