import Foundation
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile

/// The records of a program that has ended.
public struct ProgramRecord: Sendable {
    let program: ProgramToProfile
    let process: pid_t
    /// From its beginning to its end.
    let time: MarkedTime
    /// Without sections.
    let profiled: ProfiledProgram
    let kinds: [ProfileKind]
    /// Whether the lack of a recording is reported.
    let asksForTrace: Bool
    let means: ProfileMeans
    let recordings: [ProfileKind: Result<PerfRecording, any Error>]
    let heap: HeapDumps?
    let folder: ProfileFolder
    let stage: StagedFolder

    /// Functions of the engine are the queue's own; the program's are other modules.
    private static let backend = BackendID.engine

    private var views: ProfileViews { ProfileViews(stage, on: Self.backend) }

    /// Reads the records and writes the profile's files.
    ///
    /// - Throws: `DiskError` if files cannot be written, `CancellationError`.
    public func profile() async throws -> ProfiledProgram {
        var profiled = profiled
        for kind in kinds where kind != .trace || asksForTrace || hasOwnRecording {
            profiled.sections.append(try await section(kind))
        }
        if profiled.sections.contains(where: { !$0.files.isEmpty }) {
            profiled.folder = try folder.publish(stage, as: ProfileNames.stem(of: [program.name]))
        }
        return profiled
    }

    private func section(_ kind: ProfileKind) async throws -> ProfileSection {
        try await means[kind].section(kind) { way in
            switch kind {
            case .trace: try trace()
            case .cpu: try await cpu(way)
            case .offcpu: try await offCPU(way)
            case .heap: try await heapSection()
            }
        }
    }

    // MARK: The engine's operations

    /// The file that the engine's recorder writes, in the profile's folder.
    static let recordingName = "recording.oprec"

    /// The recorder's variable: the path of the file to write. Child processes have files of their own.
    static func recorderEnvironment(_ stage: StagedFolder) -> [String: String] {
        ["OPERATION_ENGINE_RECORD": stage.folder.file("%p.\(recordingName)")]
    }

    /// Gives the recording of a process that has ended its name, and removes those of its child processes.
    static func keepRecording(of process: pid_t, _ stage: StagedFolder) throws(DiskError) {
        for name in try stage.folder.names() where name.contains(".\(recordingName)") {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            if parts[0] == "\(process)" {
                try stage.folder.publish(name, as: parts[1])
            } else {
                stage.folder.discard(name)
            }
        }
    }

    private var hasOwnRecording: Bool { access(stage.folder.file(Self.recordingName), F_OK) == 0 }

    /// Reads the program's own recording.
    private func ownRecording() throws -> Recording { try Recording.read(stage.folder.file(Self.recordingName)) }

    private func trace() throws -> ProfileSection {
        guard hasOwnRecording else {
            return ProfileSection(
                .trace,
                lack: .impossible(
                    reason: "the program made no recording; let it call TraceRecorder.fromEnvironment() of "
                        + "OperationEngineRecorder"))
        }
        let read = try ownRecording()
        var section = try views.section(of: read, TraceReport(read.trace))
        section.files += try stage.folder.names().filter { $0.hasPrefix(Self.recordingName) }
        return section
    }

    // MARK: Stacks

    private var reader: PerfReader { PerfReader(process: process, marks: time, threads: [:]) }

    private func cpu(_ means: ProfileMeans.Means) async throws -> ProfileSection {
        guard let recording = try recordings[.cpu]?.get() else { throw PerfFailure.missing }
        defer { stage.folder.discard(PerfEvents.cpu.fileName) }
        let read = try await reader.cpu(recording.file)
        let files = read.profile.total > 0 ? [try views.write(read.profile, as: "cpu")] : []
        var section = ProfileSection(
            .cpu, means: means.rawValue,
            lines: StackReport(read.profile, on: Self.backend, operations: 0).lines() + read.notes + recording.notes,
            files: files)
        section.events = read.profile.samples.reduce(0) { $0 + Int($1.count) }
        return section
    }

    private func offCPU(_ means: ProfileMeans.Means) async throws -> ProfileSection {
        guard let recording = try recordings[.offcpu]?.get() else { throw PerfFailure.missing }
        defer { stage.folder.discard(PerfEvents.wakeUps.fileName) }
        let profile = try await reader.offCPU(recording.file)
        // The trace's section says why there is none, or none that can be read.
        let bodies = try? RecordedBodies(ownRecording())
        let (lines, files) = try views.write(profile, operations: 0, bodies: bodies)
        var section = ProfileSection(.offcpu, means: means.rawValue, lines: lines + recording.notes, files: files)
        section.events = profile.threads.reduce(0) { $0 + $1.voluntary + $1.involuntary }
        return section
    }

    private func heapSection() async throws -> ProfileSection {
        guard let heap else { throw ProfileFailure(description: "not recorded") }
        let (parts, notes) = try await heap.parts(of: process)
        let (lines, files) = try views.write(parts)
        return ProfileSection(
            .heap,
            means: "jemalloc in place of the program's malloc, one sample per \(Quantities.bytes(HeapDumps.period))",
            lines: lines + notes, files: files)
    }
}

/// The dumps of jemalloc's profiler, which is preloaded into a program and writes one when the program exits.
struct HeapDumps: Sendable {
    private static let lgSample = 16
    /// The average number of bytes between samples.
    static let period = Double(1 << lgSample)

    private let folder: PassingFolder
    private let library: String

    /// - Returns: nil if this machine cannot.
    /// - Throws: `DiskError` if there is no folder for dumps.
    init?(_ answer: ProfileMeans.Answer) throws {
        guard answer.means != nil, let library = HeapProfiler.library else { return nil }
        self.library = library
        folder = try PassingFolder()
    }

    private static let prefix = "heap"

    /// Changes to the program's environment.
    var environment: [String: String?] {
        let settings = [
            "prof:true", "prof_accum:true", "lg_prof_sample:\(Self.lgSample)", "prof_final:true",
            "prof_prefix:\(folder.path)/\(Self.prefix)",
        ]
        func own(_ name: String) -> [String] { ProcessInfo.processInfo.environment[name].map { [$0] } ?? [] }
        return [
            // Later options override earlier ones.
            SampleEnvironment.allocatorOptions: (own(SampleEnvironment.allocatorOptions) + settings)
                .joined(separator: ","),
            "LD_PRELOAD": ([library] + own("LD_PRELOAD")).joined(separator: ":"),
        ]
    }

    /// - Throws: `ProfileFailure` if the program wrote no dump.
    func parts(of process: pid_t) async throws -> (parts: [HeapPart], notes: [String]) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        guard let name = names.first(where: { $0.hasPrefix("\(Self.prefix).\(process).") }) else {
            throw ProfileFailure(
                description: "the program wrote no heap profile; it must be linked dynamically, and end by exit(3): "
                    + "let it handle SIGINT or SIGTERM")
        }
        let dump = try HeapProfile(try FileBytes.read("\(folder.path)/\(name)"))
        let symbols = try await Symbolizer().names(of: dump.lookUps, in: dump.map)
        return (HeapPart.all(dump, dump, at: "the end", symbols.symbols), symbols.notes)
    }
}

/// A file of perf.
struct PerfRecording: Sendable {
    let file: String
    /// Whether it ends before the program does, because it reached its limit.
    let isCut: Bool

    var notes: [String] {
        guard isCut else { return [] }
        return [
            "perf's file reached \(PerfEvents.largestFile): the profile lacks the rest of the time; profile a shorter time"
        ]
    }
}
