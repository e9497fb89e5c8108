import Glibc
import OpBenchModel

// What a recorded run's description says to those who judge its rows, or list runs.

/// A machine that measured a run, or a part of one that was merged.
public struct RunMachine: Sendable {
    /// Nil in runs that were recorded without it.
    public let name: String?
    public let kind: HostKind
    /// How many iterations of the work kernel it took for a nanosecond.
    public let iterationsPerNanosecond: Double
    /// The ids of its cells; nil for all of the run.
    public let cells: Set<String>?
    /// The shards that it measured; empty for a run that was not merged.
    public let shards: [String]
}

extension RunFacts {
    /// What the run's figures were measured on, if that is one kind of host; else all of them in one, which equals no host.
    public var hostKind: HostKind { host.kind }

    /// Machines of one class are comparable.
    public var hostClass: String { host.hostClass }
    public var allocator: String { host.allocator }
    /// `debug` or `release`.
    public var configuration: String { host.configuration }
    /// Of the sources that the program was built from, as far as the folder it lies in tells.
    public var commit: String? { host.git?.commit }
    public var isDirty: Bool { host.git?.isDirty ?? false }
    /// What the clock of the run's figures tells apart; nil if the run does not say.
    public var clockResolutionNanoseconds: Double? { host.clockResolutionNanoseconds }
    /// The unit of the latency histograms: nothing less can be told, whatever the clock.
    public static let histogramUnitNanoseconds = 1.0

    /// How many iterations of the work kernel the run took for a nanosecond.
    public var iterationsPerNanosecond: Double { calibration.iterationsPerNanosecond }
    /// Whether it was measured with `--quick`.
    public var isQuick: Bool { identity.isQuick }
    /// How many blocks the cells of two interleaved builds have at the end of each stage; empty where they all have the
    /// same number.
    public var stages: [Int] { stagesOfBlocks ?? [] }
    public var samplesPlanned: Int { identity.order.count }
    /// Whether all samples were taken.
    public var isFinished: Bool { progress?.state == Progress.finished }
    /// Whether it was merged of parts.
    public var isMerged: Bool { parts?.isEmpty == false }

    /// The machines that measured it: one, unless it was merged of parts. One machine may have measured several parts, each with
    /// a calibration of its own.
    public var machines: [RunMachine] {
        guard let parts, !parts.isEmpty else {
            return [
                RunMachine(
                    name: host.host, kind: host.kind, iterationsPerNanosecond: iterationsPerNanosecond, cells: nil,
                    shards: [])
            ]
        }
        return parts.map { part in
            RunMachine(
                name: part.machine.host, kind: part.machine.kind,
                iterationsPerNanosecond: part.calibration.iterationsPerNanosecond, cells: Set(part.cells),
                shards: [part.shard])
        }
    }

    /// The kinds of host, each once, in the order of the machines.
    public var hostKinds: [HostKind] {
        machines.reduce(into: []) { kinds, machine in
            if !kinds.contains(machine.kind) { kinds.append(machine.kind) }
        }
    }

    /// The machine that measured a cell; nil if none of the run's did.
    public func machine(of cellID: String) -> RunMachine? {
        machines.first { $0.cells?.contains(cellID) ?? true }
    }

    /// The machine, the build and the run for people to read, each with what it is.
    public var environment: [(label: String, value: String)] {
        let memory = Double(host.memoryBytes) / Double(1 << 30)
        let commit = host.git.map { $0.commit + ($0.isDirty ? ", with changes" : "") }
        let known: [(String, String?)] = [
            ("started", startedUTC), ("ended", progress?.endedUTC),
            ("machine", host.host), ("sweep", sweep?.sha256), ("shard", sweep?.shard?.description),
            ("processor", "\(host.cpu), \(host.cores) cores"),
            ("samples run on", host.processors?.words),
            ("samples' memory limit", limits.memoryBytes.map(SampleLimits.text(ofMemory:))),
            ("quota", host.cgroupCores.map { "\($0) processors" }), ("governor", host.governor),
            ("memory", "\((memory * 10).rounded() / 10) GiB"), ("kernel", host.kernel), ("allocator", host.allocator),
            ("environment", host.environment.flatMap { $0.isEmpty ? nil : SampleEnvironment.words($0) }),
            ("compiler", host.compiler), ("build", host.configuration), ("commit", commit),
            ("opbench", opbench.map { $0.version + ($0.commit.map { ", commit \($0)" } ?? "") }),
            ("program", executable?.path), ("program's SHA-256", executable?.sha256), ("base", builds?.base.path),
            ("head", builds?.head.path),
            ("clock's resolution", host.clockResolutionNanoseconds.map { "\($0) ns" }),
            ("work kernel", "\(iterationsPerNanosecond) iterations a nanosecond"),
            ("random seed", String(identity.seed)),
        ]
        return known.compactMap { label, value in value.map { (label, $0) } }
    }

    // MARK: The list of runs

    /// What the `run.json` in a folder tells of its run, read at once: neither its rows nor its workloads are looked at.
    ///
    /// - Parameter name: by which the run is found.
    /// - Throws: `InputError` if there is no description of a run, or it cannot be read.
    public static func listRow(
        of folder: String, name: String, isBaseline: Bool
    ) throws(InputError) -> RunListRow {
        let facts = try decode("\(folder)/\(fileName)")
        return facts.listRow(name: name, isBaseline: isBaseline, state: state(facts.progress?.state, folder))
    }

    func listRow(name: String, isBaseline: Bool, state: RunListRow.State) -> RunListRow {
        let samples = identity.order.map(PlannedName.init)
        let ofThroughput = samples.filter { $0.flavour == SampleFlavour.throughput.rawValue }
        let planned = (ofThroughput.isEmpty ? samples : ofThroughput).map(\.block).max().map { $0 + 1 } ?? 0
        let found = Set(samples.map(\.backend))
        // In the order of tables; what is not known there comes last.
        let known = BackendID.known.map(\.rawValue).filter(found.contains)
        var row = RunListRow(
            name: name, runID: runID, isBaseline: isBaseline, startedUTC: startedUTC,
            workloads: identity.workloads.map(\.name).joined(separator: " "),
            backends: (known + found.subtracting(known).sorted()).joined(separator: " "),
            cells: Set(samples.map(\.cellID)).count, blocks: progress?.blocksDone ?? planned,
            samples: progress?.samplesDone ?? 0, plannedSamples: samples.count, badSamples: progress?.samplesBad,
            state: state, host: host.kind,
            commit: host.git.map { $0.commit + ($0.isDirty ? " and changes" : "") } ?? "")
        row.endedUTC = progress?.endedUTC ?? ""
        return row
    }

    /// A run that says that it is running, and whose folder no process has locked, was killed.
    private static func state(_ written: String?, _ folder: String) -> RunListRow.State {
        switch written {
        case Progress.finished: return .finished
        case Progress.running:
            guard let lock = try? WrittenFolder(folder), let isFree = try? lock.lock() else { return .interrupted }
            return isFree ? .interrupted : .running
        default: return .interrupted
        }
    }
}
