/// One row of `opbench runs`: a run in a folder, by its manifest.
public struct RunListRow: Sendable, Hashable {
    public enum State: String, Sendable {
        case running, finished
        /// Ended by a signal or killed; `--resume` continues it.
        case interrupted
    }

    /// The name that selects the run: its folder's name.
    public var name: String
    public var runID: String
    public var isBaseline: Bool
    public var startedUTC: String
    /// Empty unless the run ended normally or by a signal.
    public var endedUTC = ""
    /// Names separated by spaces.
    public var workloads: String
    public var backends: String
    public var cells: Int
    /// The most throughput blocks of a cell, or blocks of another kind if there are none: completed blocks or, in runs
    /// of older versions, planned ones.
    public var blocks: Int
    /// The numbers of completed and planned samples.
    public var samples: Int
    public var plannedSamples: Int
    /// The number of samples that failed unexpectedly; nil if unknown.
    public var badSamples: Int?
    public var state: State
    public var hostClass: String
    public var allocator: String
    /// `debug` or `release`.
    public var build: String
    public var commit: String

    public init(
        name: String, runID: String, isBaseline: Bool, startedUTC: String, workloads: String, backends: String,
        cells: Int, blocks: Int, samples: Int, plannedSamples: Int, badSamples: Int?, state: State, host: HostKind,
        commit: String
    ) {
        (self.name, self.runID, self.isBaseline, self.startedUTC) = (name, runID, isBaseline, startedUTC)
        (self.workloads, self.backends, self.cells, self.blocks) = (workloads, backends, cells, blocks)
        (self.samples, self.plannedSamples, self.badSamples) = (samples, plannedSamples, badSamples)
        (self.state, self.commit) = (state, commit)
        (hostClass, allocator, build) = (host.hostClass, host.allocator, host.configuration)
    }

    public var host: HostKind { HostKind(hostClass: hostClass, allocator: allocator, configuration: build) }
}

extension RunListRow: CSVRow {
    public static let fileName = "runs.csv"
    public static let hasParameters = false
    public static let isExport = true

    public static let columnList: [CSVColumn<RunListRow>] = [
        .schemaVersion, .init("name", \.name), .init("run_id", \.runID), kindColumn,
        .init("started_utc", \.startedUTC), .init("ended_utc", \.endedUTC), .init("workloads", \.workloads),
        .init("backends", \.backends), .init("cells", \.cells), .init("blocks", \.blocks),
        .init("samples", \.samples), .init("samples_planned", \.plannedSamples), .init("samples_bad", \.badSamples),
        .init("state", \.state), .init("host_class", \.hostClass), .init("allocator", \.allocator),
        .init("build", \.build), .init("commit", \.commit),
    ]

    private static let kindColumn = CSVColumn<RunListRow>(
        name: "kind", write: { $0.isBaseline ? "baseline" : "run" },
        read: { row, text in
            row.isBaseline = text == "baseline"
            return ["baseline", "run"].contains(text) ? nil : "baseline or run"
        })

    public static let blank = RunListRow(
        name: "", runID: "", isBaseline: false, startedUTC: "", workloads: "", backends: "", cells: 0, blocks: 0,
        samples: 0, plannedSamples: 0, badSamples: nil, state: .finished,
        host: HostKind(hostClass: "", allocator: "", configuration: ""), commit: "")
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
