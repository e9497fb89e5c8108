import Glibc
import OpBenchModel

/// What a recorded run's `run.json` says that matters to whoever judges its rows.
public struct RunFacts: Sendable {
    /// Machines of one class are comparable.
    public let hostClass: String
    public let allocator: String
    /// `debug` or `release`.
    public let configuration: String
    public let workloads: [WorkloadSpec]
    /// The command line of the run, the program's name first.
    public let arguments: [String]
    /// Of the sources that the program was built from, as far as the folder it lies in tells.
    public let commit: String?
    public let isDirty: Bool
    /// Whether all samples were taken.
    public let isFinished: Bool
    /// How far the run has come; nil if the file does not say.
    public let progress: Progress?
    /// When it began: ISO 8601, UTC.
    public let startedUTC: String
    /// Whether it was measured with `--quick`.
    public let isQuick: Bool
    /// What the clock of the run's figures tells apart; nil if the run does not say.
    public let clockResolutionNanoseconds: Double?
    /// How many iterations of the work kernel the run took for a nanosecond.
    public let iterationsPerNanosecond: Double
    /// The program that took the samples; nil for a run of two builds.
    public let executable: BuildFacts?
    /// The two interleaved builds; nil for a run of one.
    public let builds: ComparedBuilds?
    /// How many blocks the cells of two interleaved builds have at the end of each stage; empty where they all have the
    /// same number.
    public let stages: [Int]
    /// The plan that the run was measured by, 64 hexadecimal digits; nil for a run of its own.
    public let planSHA256: String?
    /// Which part of that plan the run is; nil if it is all of it.
    public let shard: String?
    /// The machines that measured it: one, unless it was merged of parts.
    public let machines: [RunMachine]
    /// Whether it was merged of parts.
    public var isMerged: Bool { machines.contains { !$0.shards.isEmpty } }
    /// The machine, the build and the run for people to read, each with what it is.
    public let environment: [(label: String, value: String)]

    /// How far a run has come.
    public struct Progress: Sendable {
        /// `running`, `finished` or `cancelled`. A run that was killed says that it is running.
        public let state: String
        /// Of how many that were planned. A run of stages, or with a budget, may have needed fewer or more.
        public let samplesDone: Int
        public let samplesPlanned: Int
        public let endedUTC: String?
    }

    /// What the run's figures were measured on, if that is one kind of host; else all of them in one, which equals no host.
    public var hostKind: HostKind {
        HostKind(hostClass: hostClass, allocator: allocator, configuration: configuration)
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

    /// The unit of the latency histograms: nothing less can be told, whatever the clock.
    public static let histogramUnitNanoseconds = 1.0

    /// Reads the `run.json` in a run's folder; nil if there is none.
    ///
    /// - Throws: `InputError` if there is one that is no description of a run.
    public static func read(in folder: String) throws(InputError) -> RunFacts? {
        try read(beside: "\(folder)/run.json")
    }

    /// Reads the `run.json` beside a file of the run; nil if there is none.
    ///
    /// - Throws: `InputError` if there is one that is no description of a run.
    public static func read(beside file: String) throws(InputError) -> RunFacts? {
        let path = "\(WrittenFolder.holding(file))/run.json"
        // Any other reason that it cannot be had is told when it is read.
        if access(path, F_OK) != 0, errno == ENOENT { return nil }
        return try decode(JSONDocument.text(of: path, limit: RunManifest.sizeLimit), file: path)
    }

    /// As `read`, of a text that `JSONDocument` has checked; `path` is what errors name.
    static func decode(_ text: String, file path: String) throws(InputError) -> RunFacts {
        let (manifest, progress) = try RunManifest.decode(text, file: path)
        // What is wrong with one is told of both files; one that is right has its own file's name.
        // Another program may have had backends that this one has not.
        var workloads: [WorkloadSpec]
        do {
            workloads = try WorkloadSpec.decode(
                texts: manifest.identity.workloads.map { (text: $0.text, file: "\(path): \($0.file)") },
                backends: .recorded)
        } catch {
            throw error.first
        }
        for (index, workload) in manifest.identity.workloads.enumerated() { workloads[index].file = workload.file }
        return RunFacts(
            hostClass: manifest.host.hostClass, allocator: manifest.host.allocator,
            configuration: manifest.host.configuration, workloads: workloads, arguments: manifest.arguments,
            commit: manifest.host.git?.commit, isDirty: manifest.host.git?.isDirty ?? false,
            isFinished: progress?.state == RunManifest.Progress.finished,
            progress: progress.map {
                Progress(
                    state: $0.state, samplesDone: $0.samplesDone, samplesPlanned: manifest.identity.order.count,
                    endedUTC: $0.endedUTC)
            },
            startedUTC: manifest.startedUTC, isQuick: manifest.identity.isQuick,
            clockResolutionNanoseconds: manifest.host.clockResolutionNanoseconds,
            iterationsPerNanosecond: manifest.calibration.iterationsPerNanosecond,
            executable: manifest.executable, builds: manifest.builds,
            stages: manifest.stages ?? [], planSHA256: manifest.planSHA256, shard: manifest.shard,
            machines: RunMachine.all(of: manifest), environment: manifest.environment(progress))
    }
}

extension RunManifest {
    fileprivate func environment(_ progress: Progress?) -> [(label: String, value: String)] {
        let memory = Double(host.memoryBytes) / Double(1 << 30)
        let commit = host.git.map { $0.commit + ($0.isDirty ? ", with changes" : "") }
        let known: [(String, String?)] = [
            ("started", startedUTC), ("ended", progress?.endedUTC),
            ("machine", host.host), ("plan", planSHA256), ("shard", shard),
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
            ("work kernel", "\(calibration.iterationsPerNanosecond) iterations a nanosecond"),
            ("random seed", String(identity.seed)),
        ]
        return known.compactMap { label, value in value.map { (label, $0) } }
    }
}
