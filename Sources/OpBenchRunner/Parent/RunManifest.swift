import Foundation
import OpBenchBackends
import OpBenchModel

/// What `run.json` says of a run: one flat object. All but the progress is fixed when the run begins.
struct RunManifest: Codable, Sendable {
    struct Workload: Codable, Sendable, Equatable {
        var file: String
        var name: String
        var sha256: String
        var text: String
    }

    /// What must be the same for a run to be gone on with.
    struct Identity: Codable, Sendable, Equatable {
        var seed: UInt64
        var isQuick: Bool
        var timeoutNanoseconds: Int64
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

    static let fileName = "run.json"

    var schemaVersion = SchemaVersion.current
    var runID: String
    var startedUTC: String
    var arguments: [String]
    var identity: Identity
    var calibration: WorkKernel
    var host: HostFacts
    /// The program that took the samples, where it is one.
    var executable: BuildFacts?
    /// The two builds of a run of `opbench ab`.
    var builds: ComparedBuilds?
    /// How many throughput blocks a cell has at the end of each stage, where they come in stages.
    var stages: [Int]?
    /// The plan that the run was measured by, and which part of it the run is; nil in a run of its own.
    var planSHA256: String?
    var shard: String?
    /// What was merged into the run.
    var parts: [MergedPart]?
    /// What the samples' processes were held to.
    var limits = SampleLimits.none
    /// The opbench that took the samples, or had them taken.
    var opbench: OpBenchFacts? = .own

    enum CodingKeys: String, CodingKey {
        case schemaVersion = "schema_version"
        case runID = "run_id"
        case startedUTC = "started_utc"
        case arguments, calibration, executable, builds, stages, opbench
        case planSHA256 = "plan_sha256"
        case shard, parts
    }

    /// How far the run has come.
    struct Progress: Codable, Sendable {
        /// `running`, `finished` or `cancelled`.
        var state: String

        static let running = "running"
        /// The state of a run that has all its samples.
        static let finished = "finished"
        static let cancelled = "cancelled"

        var samplesDone: Int
        /// Those that failed, and that their workload does not expect to.
        var samplesBad: Int?
        /// How many throughput blocks a cell has, at most, or of another kind where there are none. As above.
        var blocksDone: Int?
        /// CPU time of the process that starts the samples, so far; theirs is in their rows.
        var runnerCPUNanoseconds: Int64?
        var endedUTC: String?

        enum CodingKeys: String, CodingKey {
            case state
            case samplesDone = "samples_done"
            case samplesBad = "samples_bad"
            case blocksDone = "blocks_done"
            case runnerCPUNanoseconds = "runner_cpu_ns"
            case endedUTC = "ended_utc"
        }

    }

    init(plan: RunPlan, calibration: WorkKernel, host: HostFacts, executable: BuildFacts?) {
        runID = plan.options.runID
        startedUTC = Timestamp.now()
        arguments = plan.options.arguments
        identity = Self.identity(of: plan)
        self.calibration = calibration
        self.host = host
        self.executable = plan.options.builds == nil ? executable : nil
        builds = plan.options.builds
        limits = plan.options.limits
        stages = plan.options.builds != nil && plan.options.stages.count > 1 ? plan.options.stages : nil
        planSHA256 = plan.options.part?.planSHA256
        shard = plan.options.part?.shard.description
    }

    static func identity(of plan: RunPlan) -> Identity {
        Identity(
            seed: plan.options.seed, isQuick: plan.options.isQuick,
            timeoutNanoseconds: Identity.nanoseconds(plan.options.timeoutSeconds),
            workloads: plan.specs.map { Workload(file: $0.file, name: $0.name, sha256: $0.sha256, text: $0.text) },
            order: (plan.samples + plan.reserve).map { sample in
                let side = sample.side.map { " side=\($0.rawValue)" } ?? ""
                return "\(sample.id) \(sample.backend.rawValue) block=\(sample.block)\(side) \(sample.cell.id)"
            })
    }

    /// Why a plan is not that of this run; nil if it is.
    func difference(from plan: RunPlan) -> String? {
        let other = Self.identity(of: plan)
        if identity.workloads.map(\.sha256) != other.workloads.map(\.sha256) { return "the workloads have changed" }
        if identity.seed != other.seed { return "--seed was \(identity.seed)" }
        if identity.isQuick != other.isQuick { return identity.isQuick ? "--quick was given" : "--quick was not given" }
        if identity.timeoutNanoseconds != other.timeoutNanoseconds {
            return "--timeout was \(seconds(identity.timeoutNanoseconds))"
        }
        if let difference = limits.difference(from: plan.options.limits) { return difference }
        if builds != plan.options.builds { return "the builds have changed" }
        if planSHA256 != plan.options.part?.planSHA256 || shard != plan.options.part?.shard.description {
            return "it was of another plan, or another shard"
        }
        if identity.order != other.order { return "the selection of cells, backends, metrics or blocks was different" }
        return nil
    }

    // MARK: Text

    /// The file, with its fixed part encoded once: it holds whole workloads and the whole order.
    struct Writer: Sendable {
        private let fixed: String

        init(_ manifest: RunManifest) throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            fixed = String(decoding: try encoder.encode(manifest), as: UTF8.self)
        }

        func text(_ progress: Progress) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let progress = String(decoding: try encoder.encode(progress), as: UTF8.self)
            return String(fixed.dropLast(2)) + "," + progress.dropFirst() + "\n"
        }
    }

    /// The largest `run.json`, in bytes. It names every sample of the run.
    static let sizeLimit = 32 << 20

    /// - Throws: `InputError` if the file cannot be read or is none.
    static func read(_ path: String) throws(InputError) -> RunManifest { try readWithProgress(path).manifest }

    /// - Returns: the progress as well, if the file tells.
    static func readWithProgress(_ path: String) throws(InputError) -> (manifest: RunManifest, progress: Progress?) {
        try decode(JSONDocument.text(of: path, limit: sizeLimit), file: path)
    }

    /// As `readWithProgress`, of a text that `JSONDocument` has checked.
    ///
    /// - Parameter path: what errors name.
    static func decode(
        _ text: String, file path: String
    ) throws(InputError) -> (manifest: RunManifest, progress: Progress?) {
        let data = Data(text.utf8)
        let manifest: RunManifest
        do {
            manifest = try JSONDecoder().decode(RunManifest.self, from: data)
        } catch {
            try Versioned.check(data, file: path)
            throw InputError(
                file: path, path: JSONDocument.path(of: error), message: "this is not the description of a run",
                remedy: "restore the file, or measure anew in another folder")
        }
        try SchemaVersion.check(manifest.schemaVersion, file: path, path: "$.schema_version")
        guard WorkKernel.plausible.contains(manifest.calibration.iterationsPerNanosecond) else {
            throw InputError(
                file: path, path: "$.calibration.iterations_per_ns",
                message: "\(manifest.calibration.iterationsPerNanosecond) is more or less than any processor reaches",
                remedy: "restore the file, or measure anew in another folder")
        }
        return (manifest, try? JSONDecoder().decode(Progress.self, from: data))
    }

    /// Refuses a run whose description could not be read again: it names every sample.
    static func checkSize(of plan: RunPlan) throws(InputError) {
        let size = (try? JSONEncoder().encode(identity(of: plan)).count) ?? 0
        // For the line ends of its final form, and for what is not of the plan.
        guard size + 8 * plan.samples.count + 1 << 20 > sizeLimit else { return }
        throw InputError(
            file: "run.json", message: "the description of this run would be larger than \(sizeLimit >> 20) MiB",
            remedy: "run fewer cells at once")
    }
}

/// The one thing that a description of any version has.
private struct Versioned: Decodable {
    var schemaVersion: String

    enum CodingKeys: String, CodingKey {
        case schemaVersion = "schema_version"
    }

    /// - Throws: `InputError` for a version that is not known; nothing of what names none.
    static func check(_ data: Data, file: String) throws(InputError) {
        guard let text = try? JSONDecoder().decode(Versioned.self, from: data).schemaVersion else { return }
        try SchemaVersion.check(text, file: file, path: "$.schema_version")
    }
}

extension RunManifest.Identity {
    fileprivate static func nanoseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }
}

extension RunManifest {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        schemaVersion = try container.decode(String.self, forKey: .schemaVersion)
        runID = try container.decode(String.self, forKey: .runID)
        startedUTC = try container.decode(String.self, forKey: .startedUTC)
        arguments = try container.decode([String].self, forKey: .arguments)
        calibration = try container.decode(WorkKernel.self, forKey: .calibration)
        executable = try container.decodeIfPresent(BuildFacts.self, forKey: .executable)
        builds = try container.decodeIfPresent(ComparedBuilds.self, forKey: .builds)
        stages = try container.decodeIfPresent([Int].self, forKey: .stages)
        planSHA256 = try container.decodeIfPresent(String.self, forKey: .planSHA256)
        shard = try container.decodeIfPresent(String.self, forKey: .shard)
        parts = try container.decodeIfPresent([MergedPart].self, forKey: .parts)
        opbench = try container.decodeIfPresent(OpBenchFacts.self, forKey: .opbench)
        identity = try Identity(from: decoder)
        host = try HostFacts(from: decoder)
        limits = try SampleLimits(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schemaVersion, forKey: .schemaVersion)
        try container.encode(runID, forKey: .runID)
        try container.encode(startedUTC, forKey: .startedUTC)
        try container.encode(arguments, forKey: .arguments)
        try container.encode(calibration, forKey: .calibration)
        try container.encodeIfPresent(executable, forKey: .executable)
        try container.encodeIfPresent(builds, forKey: .builds)
        try container.encodeIfPresent(stages, forKey: .stages)
        try container.encodeIfPresent(planSHA256, forKey: .planSHA256)
        try container.encodeIfPresent(shard, forKey: .shard)
        try container.encodeIfPresent(parts, forKey: .parts)
        try container.encodeIfPresent(opbench, forKey: .opbench)
        try identity.encode(to: encoder)
        try host.encode(to: encoder)
        try limits.encode(to: encoder)
    }
}
