import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel

/// The contents of a run's `run.json`. Everything except the progress is fixed when the run begins.
///
/// Only this type reads and writes that file.
public struct RunFacts: Codable, Sendable {
    struct Workload: Codable, Sendable, Equatable {
        var file: String
        var name: String
        var sha256: String
        var text: String
    }

    /// The facts that must not change for a run to be resumed.
    struct Identity: Codable, Sendable, Equatable {
        var seed: UInt64
        var isQuick: Bool
        /// Nil if the limits follow from the plan.
        var timeoutNanoseconds: Int64?
        var workloads: [Workload]
        /// The samples in their order: id, backend, cell_id, block.
        var order: [String]

        enum CodingKeys: String, CodingKey {
            case seed
            case isQuick = "quick"
            case timeoutNanoseconds = "timeout_ns"
            case workloads, order
        }
    }

    /// The progress of the run.
    public struct Progress: Codable, Sendable {
        /// A killed run is still `running`; one with all its samples is `finished`.
        public enum State: String, Codable, Sendable { case running, finished, cancelled }

        public var state: State
        /// A run with stages or a budget may need fewer samples than planned, or more.
        public var samplesDone: Int
        /// Failed samples, without those that their workload expects to fail.
        var samplesBad = 0
        /// The highest number of throughput blocks of a cell; of another kind if there are none.
        var blocksDone = 0
        /// CPU time so far of the process that starts the samples. The samples' own CPU time is in their rows.
        var runnerCPUNanoseconds: Int64 = 0
        public var endedUTC: String?
        /// The ids of the cells with throughput samples that have not reached the run's precision; nil in a run without
        /// one, and before its end.
        var impreciseCells: [String]?

        enum CodingKeys: String, CodingKey {
            case state
            case impreciseCells = "imprecise_cells"
            case samplesDone = "samples_done"
            case samplesBad = "samples_bad"
            case blocksDone = "blocks_done"
            case runnerCPUNanoseconds = "runner_cpu_ns"
            case endedUTC = "ended_utc"
        }
    }

    /// A merged part: its machine and the cells measured there.
    struct MergedPart: Codable, Sendable, Equatable {
        var shard: Shard
        var startedUTC: String
        var endedUTC: String?
        var calibration: WorkKernel
        var machine: Host
        /// The cells' ids.
        var cells: [String]

        enum CodingKeys: String, CodingKey {
            case shard, calibration, machine, cells
            case startedUTC = "started_utc"
            case endedUTC = "ended_utc"
        }
    }

    public static let fileName = "run.json"

    var schemaVersion = SchemaVersion.current
    var runID: String
    /// ISO 8601, UTC.
    public internal(set) var startedUTC: String
    /// The command line of the run, the program's name first.
    public internal(set) var arguments: [String]
    var identity: Identity
    var calibration: WorkKernel
    var host: Host
    /// The program that took the samples; nil in a run of two builds, and if not recorded.
    public internal(set) var executable: BuildFacts?
    /// The two interleaved builds; nil in a run of one build.
    public internal(set) var builds: ComparedBuilds?
    /// The names of the commits of the two builds; nil if built programs were given.
    public internal(set) var refs: ComparedRefs?
    /// The values of parameters that replaced those of the workloads, as `ParameterSettings` reads them; nil if none did.
    public internal(set) var settings: [String]?
    /// The number of throughput blocks that a cell has at the end of each stage, if blocks are staged.
    var stagesOfBlocks: [Int]?
    /// The precision that the run was for, see `TimeBudget`; nil if for none.
    public internal(set) var precision: Double?
    /// The name of the sweep that the run is a part of, or was merged from, see `RunPlan.part`; nil otherwise.
    public internal(set) var sweep: String?
    /// The part of the sweep; nil for any other run.
    public internal(set) var shard: ShardFacts?
    /// The merged parts of the run.
    var parts: [MergedPart]?
    /// The limits of the samples' processes.
    var limits = SampleLimits()
    /// The opbench that took the samples, or started the processes that did.
    var opbench: OpBenchFacts? = .own
    /// Nil if not recorded.
    public internal(set) var progress: Progress?
    /// The workloads, which are not encoded: planned or decoded by `read(beside:)`; otherwise empty.
    public internal(set) var workloads: [WorkloadSpec] = []

    private enum CodingKeys: String, CodingKey {
        case schemaVersion = "schema_version"
        case runID = "run_id"
        case startedUTC = "started_utc"
        case identity = "plan"
        case stagesOfBlocks = "stages"
        case arguments, calibration, host, executable, builds, refs, settings, precision, sweep, shard, parts, limits
        case opbench, progress
    }

    init(plan: RunPlan, calibration: WorkKernel, host: Host, programs: SamplePrograms) {
        let options = plan.options
        runID = options.runID
        startedUTC = Timestamp.now()
        arguments = options.arguments
        identity = Self.identity(of: plan)
        self.calibration = calibration
        self.host = host
        executable = programs.executable
        builds = programs.builds
        refs = options.refs
        settings = options.settings.isEmpty ? nil : options.settings
        limits = options.limits
        stagesOfBlocks = options.hasSides && options.stages.count > 1 ? options.stages : nil
        precision = options.budget?.precision
        (sweep, shard) = (plan.sweep, plan.shard)
    }

    static func identity(of plan: RunPlan) -> Identity {
        Identity(
            seed: plan.options.seed, isQuick: plan.options.isQuick,
            timeoutNanoseconds: plan.options.timeoutSeconds.map { Int64(($0 * 1e9).rounded()) },
            workloads: plan.specs.map { Workload(file: $0.file, name: $0.name, sha256: $0.sha256, text: $0.text) },
            order: (plan.samples + plan.reserve).map { sample in
                let side = sample.side.map { " side=\($0.rawValue)" } ?? ""
                return "\(sample.id) \(sample.backend.rawValue) block=\(sample.block)\(side) \(sample.cell.id)"
            })
    }

    /// A fact of this run that is another one here and now, so that further samples would be of something else.
    ///
    /// - Parameter executable: the program that would take the samples; nil for two builds, which `difference(from:by:)`
    ///   compares.
    func difference(from host: Host, _ executable: BuildFacts?) -> (what: String, begun: String, now: String)? {
        if let difference = self.host.kind.difference(from: host.kind) {
            return (difference.what, difference.own, difference.others)
        }
        let texts = [
            // A cell of a sweep is never split among machines.
            ("machine", shard == nil ? nil : self.host.name, shard == nil ? nil : host.name),
            ("program", self.executable?.identity, executable?.identity),
            ("environment", self.host.inheritedEnvironment, host.inheritedEnvironment),
        ]
        if let (what, begun, now) = texts.first(where: { $1 != $2 }) { return (what, begun ?? "", now ?? "") }
        let change = self.host.around(executable: self.executable).changes(to: host.around(executable: executable))
            .first
        return change.map { ($0.part.isEmpty ? $0.fact.title : "\($0.fact.title): \($0.part)", $0.before, $0.after) }
    }

    /// How a plan and its programs differ from this run's; nil if they do not.
    func difference(from plan: RunPlan, by programs: SamplePrograms) -> String? {
        let other = Self.identity(of: plan)
        if identity.workloads.map(\.sha256) != other.workloads.map(\.sha256) { return "the workloads have changed" }
        if identity.seed != other.seed { return "--seed was \(identity.seed)" }
        if identity.isQuick != other.isQuick { return identity.isQuick ? "--quick was given" : "--quick was not given" }
        if identity.timeoutNanoseconds != other.timeoutNanoseconds {
            return identity.timeoutNanoseconds.map { "--timeout was \(seconds($0))" } ?? "--timeout was not given"
        }
        if let difference = limits.difference(from: plan.options.limits) { return difference }
        if precision != plan.options.budget?.precision {
            return precision.map { "--precision was \($0 * 100)%" }
                ?? "--precision was not given"
        }
        if builds != programs.builds { return "the builds have changed" }
        let (layouts, others) = (executable?.layouts, programs.executable?.layouts)
        if layouts?.count != others?.count {
            return layouts.map { "--layouts was \($0.count)" } ?? "--layouts was not given"
        }
        if layouts != others { return "another commit was checked out, or another compiler built it" }
        if sweep != plan.sweep || shard != plan.shard { return "it belonged to another sweep or shard" }
        if identity.order == other.order { return nil }
        let (begun, now) = (identity.order.map(PlannedName.init), other.order.map(PlannedName.init))
        func differ(_ part: (PlannedName) -> some Hashable) -> Bool { Set(begun.map(part)) != Set(now.map(part)) }
        if differ(\.cellID) { return "it had different cells" }
        if differ(\.backend) { return "it had different backends" }
        return differ(\.flavour) ? "it had different metrics" : "it had different numbers of blocks or stages"
    }

    // MARK: Writing

    /// Writes the file. The fixed part holds whole workloads and the whole order, so it is encoded once.
    struct Writer: Sendable {
        private let fixed: String

        init(_ facts: RunFacts) throws {
            var facts = facts
            facts.progress = nil
            fixed = try Self.text(facts)
        }

        func text(_ progress: Progress) throws -> String {
            let progress = try Self.text(progress).replacing("\n", with: "\n  ")
            return "\(fixed.dropLast(2)),\n  \"progress\" : \(progress)\n}\n"
        }

        private static func text(_ value: some Encodable) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        }
    }

    /// The largest `run.json`, in bytes. It names every sample of the run.
    static let sizeLimit = 32 << 20

    /// Rejects a run whose description would be too large to read back.
    static func checkSize(of plan: RunPlan) throws(InputError) {
        let size = (try? JSONEncoder().encode(identity(of: plan)).count) ?? 0
        let cells = (plan.shard?.cells ?? []).reduce(0) { $0 + $1.utf8.count + 16 }
        // Reserve for the line ends of the final form and for fields that are not part of the plan.
        guard size + cells + 8 * plan.samples.count + 1 << 20 > sizeLimit else { return }
        throw InputError(
            file: fileName, message: "the description of this run would be larger than \(sizeLimit >> 20) MiB",
            remedy: "run fewer cells at once")
    }

    // MARK: Reading

    /// Reads the `run.json` in a run's folder, with its workloads; nil if there is none.
    ///
    /// - Throws: `InputError` if the file is not the description of a run.
    public static func read(in folder: String) throws(InputError) -> RunFacts? {
        try read(beside: "\(folder)/\(fileName)")
    }

    /// Reads the `run.json` beside a file of the run, with its workloads; nil if there is none.
    ///
    /// - Throws: `InputError` if the file is not the description of a run.
    public static func read(beside file: String) throws(InputError) -> RunFacts? {
        let folder = WrittenFolder.holding(file)
        // Reading it reports any other failure.
        if access("\(folder)/\(fileName)", F_OK) != 0, errno == ENOENT { return nil }
        var facts = try decode("\(folder)/\(fileName)")
        facts.workloads = try facts.decodedWorkloads(of: folder)
        return facts
    }

    /// Decodes the workloads. The program that recorded them may have had backends that this one lacks.
    ///
    /// - Parameter folder: the run's, for messages.
    func decodedWorkloads(of folder: String) throws(InputError) -> [WorkloadSpec] {
        let path = "\(folder)/\(Self.fileName)"
        do {
            // Errors name both files; a correct workload keeps its own file's name.
            var specs = try WorkloadSpec.decode(
                texts: identity.workloads.map { (text: $0.text, file: "\(path): \($0.file)") }, backends: .recorded)
            for (index, workload) in identity.workloads.enumerated() { specs[index].file = workload.file }
            return specs
        } catch {
            throw error.first
        }
    }

    /// - Throws: `InputError` if the file cannot be read or is not the description of a run.
    static func decode(_ path: String) throws(InputError) -> RunFacts {
        try decode(text: JSONDocument.text(of: path, limit: sizeLimit), file: path)
    }

    /// Decodes a text that `JSONDocument` has checked.
    ///
    /// - Parameter file: the one that errors name.
    static func decode(text: String, file: String) throws(InputError) -> RunFacts {
        let data = Data(text.utf8)
        func mistake(_ path: String, _ message: String) -> InputError {
            InputError(
                file: file, path: path, message: message,
                remedy: "restore the file, or measure again in another folder")
        }
        let facts: RunFacts
        do {
            facts = try JSONDecoder().decode(RunFacts.self, from: data)
        } catch {
            try Versioned.check(data, file: file)
            throw mistake(JSONDocument.path(of: error), "this is not the description of a run")
        }
        try SchemaVersion.check(facts.schemaVersion, file: file, path: "$.schema_version")
        let (speed, slowdown) = (facts.iterationsPerNanosecond, facts.calibration.meanSlowdown ?? 1)
        for (name, value, range) in [
            ("iterations_per_ns", speed, WorkKernel.plausible),
            ("mean_slowdown", slowdown, WorkKernel.plausibleSlowdowns),
        ] where !range.contains(value) {
            throw mistake("$.calibration.\(name)", "\(value) is outside the range of any processor")
        }
        for (name, count) in [
            ("samples_done", facts.progress?.samplesDone), ("samples_bad", facts.progress?.samplesBad),
            ("blocks_done", facts.progress?.blocksDone),
        ] where count ?? 0 < 0 {
            throw mistake("$.progress.\(name)", "a count is not negative")
        }
        return facts
    }
}

/// The one field that descriptions of all versions have.
private struct Versioned: Decodable {
    var schemaVersion: String

    enum CodingKeys: String, CodingKey {
        case schemaVersion = "schema_version"
    }

    /// - Throws: `InputError` for an unknown version; nothing if the data has no version.
    static func check(_ data: Data, file: String) throws(InputError) {
        guard let text = try? JSONDecoder().decode(Versioned.self, from: data).schemaVersion else { return }
        try SchemaVersion.check(text, file: file, path: "$.schema_version")
    }
}
