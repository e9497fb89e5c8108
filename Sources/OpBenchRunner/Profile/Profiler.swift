import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel
import OpBenchProfile

/// The user's options for a profile, without the workloads.
public struct ProfileOptions: Sendable {
    /// The kinds to record; nil for all that this machine can.
    public var kinds: [ProfileKind]?
    /// Total duration of a sample's rounds.
    public var seconds: Double
    /// Time limit of a sample; nil for one that follows from what the sample is planned to take.
    public var timeoutSeconds: Double?
    public var directory: String

    public init(kinds: [ProfileKind]? = nil, seconds: Double = 1, timeoutSeconds: Double? = nil, directory: String) {
        self.kinds = kinds
        self.seconds = seconds
        self.timeoutSeconds = timeoutSeconds
        self.directory = directory
    }
}

extension ProfileOptions {
    /// The time limit of a requested sample, in seconds.
    fileprivate func timeLimit(of request: SampleRequest) -> Double {
        if let timeoutSeconds { return timeoutSeconds }
        let planned =
            if request.profile != nil {
                SampleEstimate.seconds(ofProfile: request.cell, on: request.backend, targetSeconds: seconds)
            } else {
                SampleEstimate.seconds(
                    of: request.cell, on: request.backend, request.flavour, targetNanoseconds: request.targetNanoseconds
                )
            }
        return TimeLimitOfSample.seconds(planned: planned, least: TimeLimitOfSample.leastOfProfile)
    }
}

/// Progress events, in order.
public enum ProfileEvent: Sendable {
    case calibrating
    case sampleStarted(target: ProfileTarget, kind: ProfileKind?, index: Int, total: Int)
    /// A cell is done, and its files are written.
    case finished(ProfiledCell)
    case unsupported(ProfileTarget, reason: String)
    /// There is no profile, because the sample failed.
    case failed(ProfileTarget, reason: String)
}

/// Takes profiles, one process at a time.
public struct Profiler: Sendable {
    private let options: ProfileOptions
    private let targets: [ProfileTarget]
    private let child = ChildProcess()

    public init(_ targets: [ProfileTarget], _ options: ProfileOptions) {
        self.targets = targets
        self.options = options
    }

    /// Takes all profiles. If the task is cancelled, the cell in progress is dropped, and the cells before it are kept.
    ///
    /// - Parameter onEvent: called on the caller's task, one event at a time.
    /// - Throws: `InputError` before anything runs, `DiskError` if files cannot be written, `CancellationError`.
    public func run(onEvent: (ProfileEvent) throws -> Void) async throws {
        let folder = try ProfileFolder(options.directory)
        let kinds = options.kinds ?? ProfileKind.allCases
        let means = ProfileMeans.probe(for: kinds)
        try onEvent(.calibrating)
        let kernel = WorkKernel.calibrate()
        for (index, target) in targets.enumerated() {
            let stage = try folder.stage()
            let taker = ProfileTaker(
                target: target, kernel: kernel, options: options, means: means, child: child, stage: stage)
            func tell(_ kind: ProfileKind?, _ place: Int) throws {
                try onEvent(
                    .sampleStarted(
                        target: target, kind: kind, index: index * (kinds.count + 1) + place,
                        total: targets.count * (kinds.count + 1)))
            }
            do {
                try tell(nil, 0)
                let plain = try await taker.take(.none)
                if plain.report.status == .unsupported {
                    try onEvent(.unsupported(target, reason: plain.report.notes))
                    continue
                }
                var profiled = ProfiledCell(target: target, plain: PlainFigures(plain))
                for (place, kind) in kinds.enumerated() {
                    try tell(kind, place + 1)
                    profiled.sections.append(try await taker.section(kind, plain: profiled.plain))
                }
                if profiled.sections.contains(where: { !$0.files.isEmpty }) {
                    profiled.folder = try folder.publish(stage, of: target)
                }
                try onEvent(.finished(profiled))
            } catch let failure as ProfileFailure {
                try onEvent(.failed(target, reason: failure.description))
            }
        }
    }
}

/// Takes the samples of one cell on one backend.
struct ProfileTaker {
    let target: ProfileTarget
    let kernel: WorkKernel
    let options: ProfileOptions
    let means: ProfileMeans
    let child: ChildProcess
    let stage: StagedFolder
    /// The injected defect and this build's side; nil for this program itself.
    var side: (injected: InjectedDefect, side: Side)?

    /// Runs a sample of the cell with this side's build, in a separate process.
    ///
    func run(
        _ flavour: SampleFlavour, _ order: ProfileOrder? = nil, environment: [String: String] = [:]
    ) async throws -> (result: ChildResult, report: SampleReport) {
        var request = SampleRequest(
            cell: target.cell, backend: target.backend, flavour: flavour,
            targetNanoseconds: SampleRequest.shortLimit, kernel: kernel, parent: getpid())
        request.profile = order
        side.map { $0.injected.spoil(&request, side: $0.side) }
        let timeLimit = options.timeLimit(of: request)
        let result = try await child.run(
            request: Array(try JSONEncoder().encode(request)),
            environment: ChildProcess.environment.merging(environment) { $1 }, timeoutSeconds: timeLimit)
        return (result, SampleReport(result, timeoutSeconds: timeLimit))
    }

    /// Takes a profiled sample.
    ///
    /// - Throws: `ProfileFailure` if its process did not answer, or its outcome was wrong; `CancellationError`.
    func take(
        _ recorder: ProfileOrder.Recorder, environment: [String: String] = [:]
    ) async throws -> ProfileAnswer {
        let order = ProfileOrder(
            recorder: recorder, folder: stage.folder.path, targetNanoseconds: Int64(options.seconds * 1e9))
        let ended = try await run(.throughput, order, environment: environment)
        return try answer(of: ended.result, ended.report)
    }

    private func answer(of result: ChildResult, _ report: SampleReport) throws -> ProfileAnswer {
        guard case .exited(0) = result.ending,
            let answer = try? JSONDecoder().decode(ProfileAnswer.self, from: AnswerRecord.json(in: result.output))
        else {
            // The message of a recorder that cannot record.
            let words = result.diagnostics.split(separator: "\n").last.map(String.init) ?? ""
            if case .exited(ProfileTrial.fullDiskStatus) = result.ending {
                throw DiskError(path: stage.folder.path, code: ENOSPC)
            }
            if case .exited(ProfileTrial.refusalStatus) = result.ending, !words.isEmpty {
                throw ProfileFailure(description: words)
            }
            // An older build answers as for another kind of sample, or does not understand the request.
            if report.status == .ok || result.ending == .exited(SampleChild.misunderstoodStatus) {
                throw ProfileFailure(description: "this build cannot take such a profile: \(child.executable)")
            }
            throw ProfileFailure(description: "the sample \(report.status.rawValue): \(report.notes)")
        }
        guard answer.report.status == .ok || answer.report.status == .unsupported else {
            throw ProfileFailure(description: "the sample is \(answer.report.status.rawValue): \(answer.report.notes)")
        }
        return answer
    }

    /// Takes one kind of profile.
    func section(_ kind: ProfileKind, plain: PlainFigures) async throws -> ProfileSection {
        try await means[kind].section(kind) { way in
            switch kind {
            case .trace: try await trace()
            case .cpu: try await cpu(way, plain)
            case .offcpu: try await offCPU(way, plain)
            case .heap: try await heap(plain)
            }
        }
    }
}

extension ProfileMeans.Answer {
    /// The section of a kind of profile; that of one that is impossible or fails has the reason.
    ///
    /// - Throws: `DiskError` and `CancellationError`, which end everything.
    func section(
        _ kind: ProfileKind, _ take: (ProfileMeans.Means) async throws -> ProfileSection
    ) async throws -> ProfileSection {
        guard let means else { return ProfileSection(kind, lack: .impossible(reason: advice)) }
        do {
            var section = try await take(means)
            if !lack.isEmpty, section.lack == nil { section.lines.append(advice) }
            return section
        } catch {
            if error is DiskError || error is CancellationError { throw error }
            return ProfileSection(kind, lack: .failed(reason: "\(error)"))
        }
    }
}
