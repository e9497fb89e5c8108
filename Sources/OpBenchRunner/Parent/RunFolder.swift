import Glibc
import OpBenchModel

/// A run's folder: rows are appended and synced after every sample, `run.json` is replaced as a whole.
///
/// The rows of a sample end with its `status` row; what follows the last such row was torn by a kill. Histogram rows are
/// written before it, so that a sample which counts as done has them. A run that was killed before `run.json` told what
/// it is has measured nothing, and its folder is taken as if it were not there.
///
/// The folder is locked as long as a process writes in it, and looked at under the lock alone: what was seen before may
/// have changed. The kernel unlocks it with the process's end.
final class RunFolder {
    let path: String
    private let folder: WrittenFolder
    private let parameterNames: [String]
    private var samples: Int32 = -1
    private var histograms: Int32 = -1

    /// Every file that a run's folder may hold. opbench reads and writes none of them through a link.
    private static let files = [
        SampleRow.fileName, HistogramRow.fileName, descriptionName, descriptionName + ".new", SummaryRow.fileName,
        CompareRow.fileName, PartSeal.fileName,
    ]
    private static let descriptionName = RunFacts.fileName

    /// Opens the folder and takes its lock.
    ///
    /// - Throws: `InputError` if another process holds it, or if something foreign stands in it.
    private init(_ plan: RunPlan) throws {
        path = Self.path(of: plan)
        parameterNames = plan.parameterNames
        folder = try WrittenFolder(path)
        guard try folder.lock(), folder.isInPlace else {
            throw InputError(
                file: path, message: "another process is writing this run",
                remedy: "wait until it ends, or give \(plan.options.otherFolder)")
        }
        try folder.refuseForeign(Self.files)
    }

    deinit { closeFiles() }

    private func closeFiles() {
        for descriptor in [samples, histograms] where descriptor >= 0 { close(descriptor) }
        (samples, histograms) = (-1, -1)
    }

    private static func path(of plan: RunPlan) -> String { plan.options.folder }

    // MARK: Opening

    /// The folder of a new run.
    ///
    /// - Throws: `InputError` if it exists or cannot be made, `DiskError` if it cannot be written.
    static func create(_ plan: RunPlan) throws -> RunFolder {
        try WrittenFolder.make(path(of: plan), remedy: "name a writable folder with --output")
        let run = try RunFolder(plan)
        let names = try run.folder.names()
        guard names.isEmpty || isUndescribed(run.folder) else {
            throw InputError(
                file: run.path, message: "a run of this id exists",
                remedy: "give another --run-id, or --resume to continue it")
        }
        try run.begin(names)
        return run
    }

    /// Makes the files of a run that has no rows yet.
    private func begin(_ names: [String]) throws(DiskError) {
        folder.removeTemporaries(among: names)
        do throws(DiskError) {
            samples = try folder.open(SampleRow.fileName, O_CREAT | O_TRUNC | O_APPEND)
            histograms = try folder.open(HistogramRow.fileName, O_CREAT | O_TRUNC | O_APPEND)
            try append([
                (CSVFile.header(of: SampleRow.self, parameters: parameterNames), samples, SampleRow.fileName),
                (CSVFile.header(of: HistogramRow.self), histograms, HistogramRow.fileName),
            ])
        } catch {
            // Files without a header are nobody's.
            for name in [SampleRow.fileName, HistogramRow.fileName] { folder.discard(name) }
            rmdir(path)
            throw error
        }
    }

    /// Whether a run of this name was begun, and killed before its description was written. To be asked once more under
    /// the lock, as `create` does.
    static func isUndescribed(_ plan: RunPlan) -> Bool {
        (try? WrittenFolder(path(of: plan))).map(isUndescribed) ?? false
    }

    /// Whether the folder holds nothing but what `create` leaves before the first `saveFacts`.
    private static func isUndescribed(_ folder: WrittenFolder) -> Bool {
        guard let names = try? folder.names() else { return false }
        let begun = [SampleRow.fileName, HistogramRow.fileName, descriptionName + ".new"]
        guard names.allSatisfy({ begun.contains($0) || WrittenFolder.isTemporary($0) }) else { return false }
        guard names.contains(SampleRow.fileName) else { return true }
        let text = try? TextFile.read(folder.file(SampleRow.fileName), limit: 1 << 20)
        return text.map { $0.utf8.count { $0 == UInt8(ascii: "\n") } <= 1 } ?? false
    }

    /// What an ended run has left.
    struct Remains {
        var folder: RunFolder
        var facts: RunFacts
        /// Knows of the samples that were saved whole.
        var recorder: SampleRecorder
    }

    /// The path of the plan's run if that is finished, with all its rows there; nil if something is left to be done.
    /// Nothing is written.
    ///
    /// - Throws: `InputError` if there is a run of that id that was another, or that another process writes.
    static func finished(_ plan: RunPlan) throws -> String? {
        guard let progress = (try? RunFacts.decode("\(path(of: plan))/\(descriptionName)"))?.progress,
            progress.state == RunFacts.Progress.finished
        else { return nil }
        let run = try RunFolder(plan)
        _ = try run.description(of: plan)
        let samples = try run.wholeSamples(of: plan)
        let areAllDone = samples.recorder.done == progress.samplesDone
        let isWhole = try areAllDone && samples.isAll && run.wholeHistograms(of: samples.recorder).isAll
        return isWhole ? run.path : nil
    }

    /// The folder of a run that is gone on with; what was torn is cut off.
    ///
    /// - Throws: `InputError` if there is no such run or it was another.
    static func reopen(_ plan: RunPlan) throws -> Remains {
        guard access("\(path(of: plan))/\(descriptionName)", F_OK) == 0 || errno != ENOENT else {
            throw InputError(
                file: path(of: plan), message: "there is no run of this id", remedy: "leave --resume out to start it")
        }
        return try RunFolder(plan).remains(of: plan)
    }

    private func remains(of plan: RunPlan) throws -> Remains {
        let facts = try description(of: plan)
        folder.removeTemporaries(among: try folder.names())
        samples = try folder.open(SampleRow.fileName, O_APPEND)
        histograms = try folder.open(HistogramRow.fileName, O_APPEND)
        return Remains(folder: self, facts: facts, recorder: try keepWholeSamples(of: plan))
    }

    /// What there is to begin a part of a sweep with.
    enum Beginning {
        case anew(RunFolder)
        case goingOn(Remains)
    }

    /// The folder in which this machine measures a part of a sweep: gone on with where an earlier process has left off, and else
    /// begun anew. What cannot be gone on with measured nothing that counts.
    ///
    /// - Parameter tell: told why, if something is thrown away.
    /// - Throws: `InputError` if another process is at it, or if something foreign stands in it.
    static func openPart(_ plan: RunPlan, _ tell: (_ reason: String) -> Void) throws -> Beginning {
        try WrittenFolder.make(path(of: plan), remedy: "name a writable folder with --output")
        let run = try RunFolder(plan)
        if !isUndescribed(run.folder) {
            do {
                return .goingOn(try run.remains(of: plan))
            } catch let error as InputError {
                tell("\(error.message)")
            }
        }
        let names = try run.folder.names()
        run.closeFiles()
        for name in names where files.contains(name) { run.folder.discard(name) }
        try run.begin(names)
        return .anew(run)
    }

    /// What `run.json` says.
    ///
    /// - Throws: `InputError` if it is not of the plan.
    private func description(of plan: RunPlan) throws(InputError) -> RunFacts {
        let file = file(Self.descriptionName)
        let facts = try RunFacts.decode(file)
        if let difference = facts.difference(from: plan) {
            throw InputError(
                file: file, message: "the run was different: \(difference)",
                remedy: "give the options and workloads that it started with, or \(plan.options.otherFolder)")
        }
        if let (what, begun, now) = facts.host.kind.difference(from: .here(on: plan.options.limits.processors)) {
            throw InputError(
                file: file, message: "the run was started where the \(what) was \"\(begun)\", here it is \"\(now)\"",
                remedy: "continue it there, or give \(plan.options.otherFolder)")
        }
        return facts
    }

    // MARK: Saving

    /// Appends the rows of a sample. On failure none is there, so that the files can be read.
    func save(_ rows: [SampleRow], _ histogramRows: [HistogramRow]) throws(DiskError) {
        var texts: [Part] = [
            (rows.map { CSVFile.line(of: $0, parameters: parameterNames) }.joined(), samples, SampleRow.fileName)
        ]
        if !histogramRows.isEmpty {
            texts.insert(
                (histogramRows.map { CSVFile.line(of: $0) }.joined(), histograms, HistogramRow.fileName), at: 0)
        }
        try append(texts)
    }

    /// Every row that was saved, in their order.
    func savedRows() throws(InputError) -> [SampleRow] {
        try CSVFile.read(SampleRow.self, file: file(SampleRow.fileName))
    }

    /// Replaces `run.json` as a whole.
    func saveFacts(_ text: String) throws(DiskError) { try folder.replace(Self.descriptionName, by: text) }

    private func file(_ name: String) -> String { folder.file(name) }

    private func failure(_ name: String) -> DiskError { DiskError(path: file(name), code: errno) }

    /// What is appended to a file.
    private typealias Part = (text: String, descriptor: Int32, name: String)

    /// Appends texts to files, one after the other; on failure all files are as they were.
    private func append(_ texts: [Part]) throws(DiskError) {
        let ends = texts.map { lseek($0.descriptor, 0, SEEK_END) }
        do throws(DiskError) {
            for (text, descriptor, name) in texts {
                do {
                    try FileBytes.write(text, to: descriptor)
                } catch {
                    throw DiskError(path: file(name), code: error.code)
                }
                if fsync(descriptor) != 0 { throw failure(name) }
            }
        } catch {
            // A shorter file takes no room, so this fails only where nothing can be done.
            for (end, (_, descriptor, _)) in zip(ends, texts) { ftruncate(descriptor, end) }
            throw error
        }
    }

    // MARK: Going on

    /// Cuts both files off behind the last whole sample.
    private func keepWholeSamples(of plan: RunPlan) throws -> SampleRecorder {
        let whole = try wholeSamples(of: plan)
        try cut(samples, at: whole.end, SampleRow.fileName)
        try cut(histograms, at: wholeHistograms(of: whole.recorder).end, HistogramRow.fileName)
        return whole.recorder
    }

    private func cut(_ descriptor: Int32, at length: Int, _ name: String) throws(DiskError) {
        guard ftruncate(descriptor, length) == 0, fsync(descriptor) == 0 else { throw failure(name) }
    }

    /// The samples that were saved whole, how many bytes they take, and whether there is nothing else in the file. No more
    /// than one row is in memory at once: there may be millions.
    private func wholeSamples(
        of plan: RunPlan
    ) throws -> (recorder: SampleRecorder, end: Int, isAll: Bool) {
        let name = SampleRow.fileName
        var end = 0
        let recorder = try SampleRecorder(plan: plan) { take in
            var whole: Int?
            let ends = try CSVFile.each(SampleRow.self, of: file(name), isTornAllowed: true) { row, end in
                guard row.metric == Metric.status.name else { return }
                take(row)
                whole = end
            }
            end = whole ?? ends.header
        }
        return (recorder, end, end == size(name))
    }

    /// How many bytes the histograms of those samples take, and whether there is nothing else in the file. Those of a torn
    /// sample come last.
    private func wholeHistograms(of samples: SampleRecorder) throws(InputError) -> (end: Int, isAll: Bool) {
        let name = HistogramRow.fileName
        var whole: (end: Int?, isAll: Bool) = (nil, true)
        let ends = try CSVFile.each(HistogramRow.self, of: file(name), isTornAllowed: true) { row, end in
            if samples.has(row.sampleID) { whole.end = end } else { whole.isAll = false }
        }
        let end = whole.end ?? ends.header
        return (end, whole.isAll && end == size(name))
    }

    private func size(_ name: String) -> Int {
        var facts = stat()
        return stat(file(name), &facts) == 0 ? Int(facts.st_size) : -1
    }
}
