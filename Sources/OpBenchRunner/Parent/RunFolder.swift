import Glibc
import OpBenchModel

/// A run's folder. Rows are appended and synced after every sample; `run.json` is replaced as a whole.
///
/// The rows of a sample end with its `status` row; a kill may leave a torn rest after the last such row. Histogram rows
/// are written before it, so a sample that counts as done has them. A run that was killed before it wrote `run.json`
/// has measured nothing, and its folder is treated as missing.
///
/// A process that writes in the folder holds its lock, and reads it only under the lock: anything seen earlier may have
/// changed. The kernel releases the lock when the process ends.
final class RunFolder {
    let path: String
    private let folder: WrittenFolder
    private let parameterNames: [String]
    private var samples: Int32 = -1
    private var histograms: Int32 = -1

    /// Every file that a run's folder may contain. opbench follows no links to them.
    private static let files = [
        SampleRow.fileName, HistogramRow.fileName, descriptionName, descriptionName + ".new", SummaryRow.fileName,
        CompareRow.fileName,
    ]
    private static let descriptionName = RunFacts.fileName

    /// Opens the folder and takes its lock.
    ///
    /// - Throws: `InputError` if another process holds it, or if the folder contains foreign files.
    private init(_ plan: RunPlan) throws {
        path = plan.options.folder
        parameterNames = plan.parameterNames
        folder = try WrittenFolder(path)
        guard try folder.lock(), folder.isInPlace else {
            throw InputError(
                file: path, message: "another process is writing this run",
                remedy: "wait until it ends, or give \(Self.otherFolder(for: plan))")
        }
        try folder.refuseForeign(Self.files)
    }

    deinit { closeFiles() }

    private func closeFiles() {
        for descriptor in [samples, histograms] where descriptor >= 0 { close(descriptor) }
        (samples, histograms) = (-1, -1)
    }

    /// For remedies: the option that gives the run another folder. A part takes no `--run-id`.
    private static func otherFolder(for plan: RunPlan) -> String {
        plan.shard == nil ? "another --run-id" : "another --output"
    }

    // MARK: Opening

    /// The start of a run.
    enum Beginning {
        case new(RunFolder)
        /// An earlier process began the run; the recorder has the samples that were saved whole.
        case continued(RunFolder, RunFacts, SampleRecorder)
    }

    /// Opens the folder of a new run, or of one to continue, and cuts off torn rows.
    ///
    /// A part of a sweep always continues what this machine has measured of it, or starts over if that is impossible.
    ///
    /// - Parameter warn: called with the reason if a part starts over.
    /// - Throws: `InputError` if there is a run and `--resume` was not given, or the reverse; if the run had another
    ///   plan, program or host; if another process is writing it; if the folder cannot be made or has foreign files.
    ///   `DiskError` if it cannot be written.
    static func open(
        _ plan: RunPlan, by programs: SamplePrograms, _ warn: (_ reason: String) -> Void
    ) throws -> Beginning {
        let path = plan.options.folder
        if plan.options.resume, access("\(path)/\(descriptionName)", F_OK) != 0, errno == ENOENT,
            !((try? WrittenFolder(path)).map(isUndescribed) ?? false)
        {
            throw InputError(
                file: path, message: "there is no run of this id", remedy: "leave --resume out to start it")
        }
        try WrittenFolder.make(path, remedy: "name a writable folder with --output")
        let run = try RunFolder(plan)
        if !isUndescribed(run.folder) {
            guard plan.options.resume || plan.shard != nil else {
                throw InputError(
                    file: path, message: "a run of this id exists",
                    remedy: "give another --run-id, or --resume to continue it")
            }
            do {
                return try run.continued(plan, by: programs)
            } catch let error as InputError where plan.shard != nil {
                warn(error.message)
                run.closeFiles()
                for name in files { run.folder.discard(name) }
            }
        }
        try run.begin()
        return .new(run)
    }

    /// Creates the files of a run that has no rows yet.
    private func begin() throws(DiskError) {
        folder.removeTemporaries(among: try folder.names())
        do throws(DiskError) {
            samples = try folder.open(SampleRow.fileName, O_CREAT | O_TRUNC | O_APPEND)
            histograms = try folder.open(HistogramRow.fileName, O_CREAT | O_TRUNC | O_APPEND)
            try append([
                (CSVFile.header(of: SampleRow.self, parameters: parameterNames), samples, SampleRow.fileName),
                (CSVFile.header(of: HistogramRow.self), histograms, HistogramRow.fileName),
            ])
        } catch {
            // Nothing can use files without a header.
            for name in [SampleRow.fileName, HistogramRow.fileName] { folder.discard(name) }
            rmdir(path)
            throw error
        }
    }

    private func continued(_ plan: RunPlan, by programs: SamplePrograms) throws -> Beginning {
        let facts = try description(of: plan, by: programs)
        folder.removeTemporaries(among: try folder.names())
        samples = try folder.open(SampleRow.fileName, O_APPEND)
        histograms = try folder.open(HistogramRow.fileName, O_APPEND)
        return .continued(self, facts, try keepWholeSamples(of: plan))
    }

    /// Whether the folder contains only files that `begin` makes before the first `saveFacts`: the run was killed
    /// before it wrote its description, or is new. Without the lock, this is only likely.
    private static func isUndescribed(_ folder: WrittenFolder) -> Bool {
        guard let names = try? folder.names() else { return false }
        let begun = [SampleRow.fileName, HistogramRow.fileName, descriptionName + ".new"]
        guard names.allSatisfy({ begun.contains($0) || WrittenFolder.isTemporary($0) }) else { return false }
        guard names.contains(SampleRow.fileName) else { return true }
        let text = try? TextFile.read(folder.file(SampleRow.fileName), limit: 1 << 20)
        return text.map { $0.utf8.count { $0 == UInt8(ascii: "\n") } <= 1 } ?? false
    }

    /// The path of the plan's run if it is finished and all its rows exist; nil if there is work left. Writes
    /// nothing. A finished part counts wherever it was measured.
    ///
    /// - Parameter programs: those that would take samples now.
    /// - Throws: `InputError` if a run of that id has another plan, program or host, or if another process is writing
    ///   it.
    static func finished(_ plan: RunPlan, by programs: SamplePrograms) throws -> String? {
        let path = plan.options.folder
        let description = "\(path)/\(descriptionName)"
        guard plan.options.resume || plan.shard != nil, access(description, F_OK) == 0 else { return nil }
        // One that this user may not read may be finished; one that a power failure tore is not.
        if access(description, R_OK) != 0 { _ = try RunFacts.decode(description) }
        guard let facts = try? RunFacts.decode(description), let progress = facts.progress, progress.state == .finished
        else { return nil }
        let run = try RunFolder(plan)
        if plan.shard == nil {
            _ = try run.description(of: plan, by: programs)
        } else if facts.sweep != plan.sweep || facts.shard != plan.shard {
            throw InputError(
                file: path, message: "this is another part, or another run", remedy: "name another folder with --output"
            )
        }
        let samples = try run.wholeSamples(of: plan)
        let areAllDone = samples.recorder.done == progress.samplesDone
        let isWhole = try areAllDone && samples.isAll && run.wholeHistograms(of: samples.recorder).isAll
        return isWhole ? path : nil
    }

    /// Reads `run.json`.
    ///
    /// - Throws: `InputError` if it does not match the plan, or this host and program.
    private func description(of plan: RunPlan, by programs: SamplePrograms) throws(InputError) -> RunFacts {
        let file = file(Self.descriptionName)
        let facts = try RunFacts.decode(file)
        // First, since another program may make another plan. On the processors of the run: the plan has its own.
        let host = Host.read(as: plan.options.host, on: facts.limits.processors)
        if let (what, begun, now) = facts.difference(from: host, programs.executable) {
            throw InputError(
                file: file, message: "the run was started where the \(what) was \"\(begun)\", here it is \"\(now)\"",
                remedy: "continue it with that, or give \(Self.otherFolder(for: plan))")
        }
        if let difference = facts.difference(from: plan, by: programs) {
            throw InputError(
                file: file, message: "the run was different: \(difference)",
                remedy:
                    "give what it started with (\(ShellWords.continuing(facts.arguments, as: plan.options.runID))), or "
                    + Self.otherFolder(for: plan))
        }
        return facts
    }

    // MARK: Saving

    /// Appends the rows of a sample. On failure none of them is added, so that the files stay readable.
    func save(_ rows: [SampleRow], _ histogramRows: [HistogramRow]) throws(DiskError) {
        var texts: [Appended] = [
            (rows.map { CSVFile.line(of: $0, parameters: parameterNames) }.joined(), samples, SampleRow.fileName)
        ]
        if !histogramRows.isEmpty {
            texts.insert(
                (histogramRows.map { CSVFile.line(of: $0) }.joined(), histograms, HistogramRow.fileName), at: 0)
        }
        try append(texts)
    }

    /// All saved rows, in order.
    func savedRows() throws(InputError) -> [SampleRow] {
        try CSVFile.read(SampleRow.self, file: file(SampleRow.fileName))
    }

    /// Replaces `run.json` as a whole.
    func saveFacts(_ text: String) throws(DiskError) { try folder.replace(Self.descriptionName, by: text) }

    private func file(_ name: String) -> String { folder.file(name) }

    private func failure(_ name: String) -> DiskError { DiskError(path: file(name), code: errno) }

    /// A text to append to a file.
    private typealias Appended = (text: String, descriptor: Int32, name: String)

    /// Appends texts to files in sequence; on failure all files are unchanged.
    private func append(_ texts: [Appended]) throws(DiskError) {
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
            // Shrinking a file needs no room on disk; if it still fails, nothing helps.
            for (end, (_, descriptor, _)) in zip(ends, texts) { ftruncate(descriptor, end) }
            throw error
        }
    }

    // MARK: Resuming

    /// Cuts off both files after the last whole sample.
    private func keepWholeSamples(of plan: RunPlan) throws -> SampleRecorder {
        let whole = try wholeSamples(of: plan)
        try cut(samples, at: whole.end, SampleRow.fileName)
        try cut(histograms, at: wholeHistograms(of: whole.recorder).end, HistogramRow.fileName)
        return whole.recorder
    }

    private func cut(_ descriptor: Int32, at length: Int, _ name: String) throws(DiskError) {
        guard ftruncate(descriptor, length) == 0, fsync(descriptor) == 0 else { throw failure(name) }
    }

    /// The samples that were saved whole, the number of bytes that they take, and whether the file holds nothing else.
    /// Holds one row in memory at a time, since there may be millions.
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

    /// The number of bytes that those samples' histograms take, and whether the file holds nothing else. Histograms of
    /// a torn sample come last.
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
