import Glibc
import OpBenchBackends
import OpBenchModel

// Accessors for the code that judges a recorded run's rows or lists runs.

/// A machine that measured a run, or a part of a merged run.
public struct RunMachine: Sendable {
    /// Nil in runs that were recorded without it.
    public let name: String?
    public let kind: HostKind
    /// The known facts around the code; in a run of two builds, around that of the head.
    public let surroundings: Surroundings
    /// Its work kernel's speed.
    package let calibration: WorkKernel
    /// Iterations of its work kernel per nanosecond.
    public var iterationsPerNanosecond: Double { calibration.iterationsPerNanosecond }
    /// The ids of its cells; nil for all cells of the run.
    public let cells: Set<String>?
    /// The shards that it measured; empty if the run was not merged.
    public let shards: [String]
}

extension RunFacts {
    /// The kind of host that measured the run. A run merged from several kinds has a combined value, which equals no
    /// host.
    public var hostKind: HostKind { host.kind }

    /// Machines of one class are comparable.
    public var hostClass: String { host.hostClass }
    public var allocator: String { host.allocator }
    /// `debug` or `release`.
    public var configuration: String { host.configuration }
    /// The commit that the program was built from, if known.
    public var commit: String? { host.git?.commit }
    public var isDirty: Bool { host.git?.isDirty ?? false }
    /// Resolution of the clock behind the figures; nil if the run does not record it.
    public var clockResolutionNanoseconds: Double? { host.clockResolutionNanoseconds }
    /// The unit of the latency histograms, and so their finest resolution, whatever the clock.
    public static let histogramUnitNanoseconds = 1.0

    /// Iterations of the run's work kernel per nanosecond.
    public var iterationsPerNanosecond: Double { calibration.iterationsPerNanosecond }
    /// Whether it was measured with `--quick`.
    public var isQuick: Bool { identity.isQuick }
    /// The ids of the cells with throughput samples that have not reached the precision which the run was for; nil if
    /// unknown, or if for none.
    public var impreciseCells: [String]? { precision == nil ? nil : progress?.impreciseCells }
    /// The number of cells with throughput samples, and of those among them that have no ratio: no other backend has such
    /// samples beside Dispatch.
    public var timedCells: (all: Int, withoutRatio: Int) {
        let timed = identity.order.map(PlannedName.init).filter { $0.flavour == .throughput }
        let backends = Dictionary(grouping: timed, by: \.cellID).values.map { names in
            Set(names.map { BackendID(rawValue: $0.backend) })
        }
        return (backends.count, backends.count { $0.count < 2 || !$0.contains(where: \.isDispatch) })
    }
    /// The number of blocks that the cells of two interleaved builds have at the end of each stage; empty if all cells
    /// have the same number.
    public var stages: [Int] { stagesOfBlocks ?? [] }
    public var samplesPlanned: Int { identity.order.count }
    /// Whether all samples were taken.
    public var isFinished: Bool { progress?.state == .finished }
    /// Whether it was merged from parts.
    public var isMerged: Bool { parts?.isEmpty == false }

    /// The machines that measured it: one, unless it was merged from parts. A machine that measured several parts
    /// appears once for each, with that part's calibration.
    public var machines: [RunMachine] {
        guard let parts, !parts.isEmpty else {
            return [
                RunMachine(
                    name: host.name, kind: host.kind, surroundings: surroundings(on: host),
                    calibration: calibration, cells: nil, shards: [])
            ]
        }
        return parts.map { part in
            RunMachine(
                name: part.machine.name, kind: part.machine.kind,
                surroundings: surroundings(on: part.machine),
                calibration: part.calibration, cells: Set(part.cells),
                shards: [part.shard.description])
        }
    }

    private func surroundings(on machine: Host) -> Surroundings {
        let facts = machine.surroundings
        return builds.map { facts.replacingBuild(by: $0.head.description.surroundings) } ?? facts
    }

    /// The known facts around the code on the machines of one kind, by side: `base` and `head` for a run of two builds,
    /// else one entry without a name.
    public func surroundings(on kind: HostKind) -> [String: Surroundings] {
        let around = Surroundings.joined(machines.filter { $0.kind == kind }.map(\.surroundings))
        guard let builds else { return ["": around] }
        return Side.allCases.reduce(into: [:]) { sides, side in
            sides[side.rawValue] = around.replacingBuild(by: builds.build(of: side).description.surroundings)
        }
    }

    /// The distinct kinds of host, in the order of the machines.
    public var hostKinds: [HostKind] {
        machines.reduce(into: []) { kinds, machine in
            if !kinds.contains(machine.kind) { kinds.append(machine.kind) }
        }
    }

    /// The machine that measured a cell; nil if no machine of the run did.
    public func machine(of cellID: String) -> RunMachine? {
        machines.first { $0.cells?.contains(cellID) ?? true }
    }

    /// The machine, the build and the run in readable form, with labels.
    public var environment: [(label: String, value: String)] {
        let memory = Double(host.memoryBytes) / Double(1 << 30)
        let commit = host.git.map { $0.commit + ($0.isDirty ? ", with changes" : "") }
        let known: [(String, String?)] = [
            ("started", startedUTC), ("ended", progress?.endedUTC),
            ("machine", host.name), ("sweep", sweep), ("shard", shard?.part.description),
            ("processor", "\(host.cpu), \(host.cores) cores"),
            ("samples run on", host.processors?.words),
            ("memory", "\((memory * 10).rounded() / 10) GiB"), ("allocator", host.allocator),
            ("environment", host.environment.flatMap { $0.isEmpty ? nil : SampleEnvironment.words($0) }),
            ("build", host.configuration), ("commit", commit),
            ("opbench", opbench.map { $0.version + ($0.commit.map { ", commit \($0)" } ?? "") }),
            ("program", executable?.path), ("program's SHA-256", executable?.sha256), ("base", builds?.base.path),
            ("head", builds?.head.path),
            ("clock's resolution", host.clockResolutionNanoseconds.map { "\($0) ns" }),
            ("work kernel", "\(iterationsPerNanosecond) iterations per nanosecond"),
            ("random seed", String(identity.seed)),
        ]
        let around = surroundings(on: host)
        let facts = SurroundingFact.allCases.map { ($0.title, around.text(of: $0)) }
        return (known + facts).compactMap { label, value in value.map { (label, $0) } }
    }

    // MARK: The list of runs

    /// Reads the list entry of a run from the `run.json` in its folder, without its rows or workloads.
    ///
    /// - Parameter name: the name that finds the run.
    /// - Throws: `InputError` if the description is missing or unreadable.
    public static func listRow(
        of folder: String, name: String, isBaseline: Bool
    ) throws(InputError) -> RunListRow {
        let facts = try decode("\(folder)/\(fileName)")
        return facts.listRow(name: name, isBaseline: isBaseline, state: state(facts.progress?.state, folder))
    }

    func listRow(name: String, isBaseline: Bool, state: RunListRow.State) -> RunListRow {
        let samples = identity.order.map(PlannedName.init)
        let found = Set(samples.map(\.backend))
        // Tables' order first, then unknown backends.
        let known = BackendID.known.map(\.rawValue).filter(found.contains)
        return RunListRow(
            name: name, isBaseline: isBaseline, startedUTC: startedUTC,
            workloads: identity.workloads.map(\.name).joined(separator: " "),
            backends: (known + found.subtracting(known).sorted()).joined(separator: " "),
            cells: Set(samples.map(\.cellID)).count, blocks: progress?.blocksDone ?? 0,
            samples: progress?.samplesDone ?? 0, plannedSamples: samples.count, badSamples: progress?.samplesBad,
            state: state, host: host.kind)
    }

    /// A run that records `running` but whose folder no process has locked was killed.
    private static func state(_ written: Progress.State?, _ folder: String) -> RunListRow.State {
        switch written {
        case .finished: return .finished
        case .running:
            guard let lock = try? WrittenFolder(folder), let isFree = try? lock.lock() else { return .interrupted }
            return isFree ? .interrupted : .running
        case .cancelled, nil: return .interrupted
        }
    }
}
