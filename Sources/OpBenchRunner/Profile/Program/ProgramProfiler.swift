import Glibc
import OpBenchBackends
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile

/// Runs a program once and records all kinds of profile at the same time: a server, or a reader of standard input,
/// cannot be run for each.
///
/// The program waits at a gate until the recorders have attached to its process. They record until it has ended, so they
/// contain its start and end.
public struct ProgramProfiler: Sendable {
    private let program: ProgramToProfile
    private let askedKinds: [ProfileKind]?
    private let kinds: [ProfileKind]
    private let seconds: Double?
    private let directory: String
    private let means: ProfileMeans

    /// The kinds without jemalloc in place of the program's malloc.
    private static let usualKinds: [ProfileKind] = [.trace, .cpu, .offcpu]

    /// The signals to a program whose time is over, one after the other, and then SIGKILL.
    static let requestsToEnd = [SIGINT, SIGTERM]
    /// The time between them, in seconds.
    private static let patience = 5.0

    /// Tries the methods of recording, within about a second.
    ///
    /// - Parameters:
    ///   - asked: the kinds to record; nil for those that leave the program as it is.
    ///   - seconds: the time after which the program is asked to end; nil for none.
    /// - Throws: `InputError` if kinds are asked for and none is possible.
    public init(
        _ program: ProgramToProfile, kinds asked: [ProfileKind]?, seconds: Double?, directory: String
    ) throws(InputError) {
        (self.program, askedKinds, self.seconds, self.directory) = (program, asked, seconds, directory)
        kinds = asked ?? Self.usualKinds
        means = ProfileMeans.probe(for: kinds).forProgram(program)
        if let asked, let first = asked.first, asked.allSatisfy({ means[$0].means == nil }) {
            try means[first].require(by: "--kind")
        }
    }

    /// Runs the program to its end. Call it on the main thread, before other threads exist.
    ///
    /// - Parameter onStart: called when the recorders have attached, before the program starts.
    /// - Throws: `InputError` if the folder or the program cannot be used, and `DiskError`; then the program has not
    ///   run.
    public func record(onStart: () -> Void) throws -> ProgramRecord {
        let folder = try ProfileFolder(directory)
        let stage = try folder.stage()
        let heap = kinds.contains(.heap) ? try HeapDumps(means[.heap]) : nil
        var environment: [String: String?] = heap?.environment ?? [:]
        if kinds.contains(.trace) { environment.merge(ProgramRecord.recorderEnvironment(stage)) { $1 } }
        let gated: GatedProgram
        do {
            gated = try GatedProgram(
                launcher: [ChildProcess.ownExecutable, HiddenArgument.gated], path: program.path,
                words: program.words, environment: environment)
        } catch {
            throw StartFailure(program: error.program, reason: error.reason)
        }
        let recorders = kinds.compactMap { recorder(of: $0, gated, stage) }
        let running = recorders.compactMap { try? $0.1.get() }
        func recorderTime() -> Int64? {
            let times = running.compactMap(\.cpuTime)
            return times.isEmpty || times.count < running.count ? nil : times.reduce(0, +)
        }
        onStart()
        let (begin, timeBefore) = (MonotonicClock.now(), recorderTime())
        do {
            try gated.open()
        } catch {
            throw InputError(
                file: program.path, message: "cannot be executed: \(error.reason)", remedy: "name another program")
        }
        let wasStopped = waitForEnd(gated)
        let (end, timeAfter) = (MonotonicClock.now(), recorderTime())
        let ending = gated.end()
        let profiled = ProfiledProgram(
            words: program.words, duration: end - begin, wasStopped: wasStopped, ending: ending,
            recorderTime: timeBefore.flatMap { before in timeAfter.map { max(0, $0 - before) } })
        var recordings: [ProfileKind: Result<PerfRecording, any Error>] = [:]
        for (kind, recorder) in recorders {
            recordings[kind] = recorder.flatMap { recorder in
                Result { PerfRecording(file: recorder.file, isCut: try recorder.endWithProcess()) }
            }
        }
        try ProgramRecord.keepRecording(of: gated.process, stage)
        return ProgramRecord(
            program: program, process: gated.process, time: MarkedTime([begin..<end]), profiled: profiled,
            kinds: kinds, asksForTrace: askedKinds != nil, means: means, recordings: recordings, heap: heap,
            folder: folder, stage: stage)
    }

    private func recorder(
        of kind: ProfileKind, _ gated: GatedProgram, _ stage: StagedFolder
    ) -> (ProfileKind, Result<PerfRecorder, any Error>)? {
        let events: PerfEvents
        switch (kind, means[kind].means) {
        case (.cpu, .perf): events = .cpu
        case (.offcpu, .perf): events = .wakeUps
        case (.offcpu, .perfSwitches): events = .switches
        default: return nil
        }
        return (kind, Result { try PerfRecorder(events, folder: stage.folder.path, of: gated.process) })
    }

    /// - Returns: whether it was asked to end.
    private func waitForEnd(_ gated: GatedProgram) -> Bool {
        if gated.wait(atMost: seconds) { return false }
        for signal in Self.requestsToEnd {
            gated.send(signal)
            if gated.wait(atMost: Self.patience) { return true }
        }
        gated.send(SIGKILL)
        return true
    }
}
