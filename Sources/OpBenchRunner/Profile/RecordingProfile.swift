import OpBenchModel
import OpBenchProfile

/// The explanation of a program's recording, by the computations and files of a profile's trace.
public struct RecordingProfile: Sendable {
    private let file: String
    private let recording: Recording

    /// - Parameters:
    ///   - file: the recording's path.
    ///   - onProgress: called with the bytes that are read, and all there are.
    /// - Throws: `InputError` unless it is a recording that is not too long.
    public init(
        reading file: String, _ window: RecordingWindow, onProgress: @escaping (_ done: Int, _ size: Int) -> Void
    ) throws(InputError) {
        self.file = file
        recording = try Recording.read(file, window: window, progress: onProgress)
        let count = recording.trace.operations.count
        if count > Self.mostOperations {
            throw InputError(
                file: file, message: "\(count) operations would take more than 8 GB of memory",
                remedy: "choose at most \(Self.mostOperations) with --from and --to")
        }
        if count == 0, window != .all {
            let end = window.to == nil ? "; the recording ends at \(Quantities.time(recording.trace.stop))" : ""
            throw InputError(
                file: file, message: "no operation was submitted in that time",
                remedy: "choose another with --from and --to" + end)
        }
    }

    /// The operations that are explained with 8 GB of memory: each takes half a kilobyte.
    private static let mostOperations = 1 << 24

    /// The name of the recorded program.
    public var program: String { recording.program }

    /// Computes and writes everything, into a folder named after the program in `directory`.
    ///
    /// - Throws: `InputError` if the folder cannot be used, or the recording contradicts itself; `DiskError`,
    ///   `CancellationError`.
    public func write(into directory: String) throws -> (section: ProfileSection, tails: Tails, folder: String) {
        let report: TraceReport
        do throws(RecordError) {
            report = try TraceReport(recording.trace)
        } catch {
            throw InputError(
                file: file, message: "the recording contradicts itself: \(error)",
                remedy: "record again, or leave a part out with --from and --to")
        }
        try Task.checkCancellation()
        let folder = try ProfileFolder(directory)
        let stage = try folder.stage()
        let section = try ProfileViews(stage, on: .engine).section(of: recording, report)
        try Task.checkCancellation()
        return (section, report.tails, try folder.publish(stage, as: ProfileNames.stem(of: [program])))
    }
}

extension ProfileViews {
    /// The trace section of a profile, from a program's recording.
    func section(of recording: Recording, _ report: TraceReport) throws -> ProfileSection {
        let (lines, files) = try write(report)
        let busy = ProfileTaker.busyMachine(nil, processorWaitShare: report.trace.processorWaitShare)
        return ProfileSection(
            .trace, means: "the program's recording",
            lines: recording.flaws + [busy, recording.cancellations].compactMap(\.self) + lines, files: files)
    }
}

extension Recording {
    /// Flaws: a line for each thing that it lacks.
    var flaws: [String] {
        var flaws: [String] = []
        if lostEvents > 0 {
            flaws.append(
                "lost events: \(lostEvents), because the disk was too slow: operations are "
                    + "missing, or seem not to have run")
        }
        if unreadBytes > 0 {
            flaws.append(
                "the last \(Quantities.bytes(Double(unreadBytes))) of the file are left out: they begin with a block that "
                    + "is damaged, or not whole, as on a full disk")
        } else if isCut {
            flaws.append("the recording has no end: the program was killed, or still runs, or the file is cut")
        }
        if missingParts > 0 {
            let parts = missingParts == 1 ? "an earlier part" : "\(missingParts) earlier parts"
            flaws.append("\(parts) of the recording are not there: its limit was reached")
        }
        if partialOperations > 0 {
            flaws.append(
                "operations left out: \(partialOperations), because the recording lacks their "
                    + "submission")
        }
        return flaws
    }

    fileprivate var cancellations: String? {
        let count = details.count(where: \.isCancelled)
        return count > 0 ? "cancelled before their end: \(count) of \(counted(details.count, "operation"))" : nil
    }
}
