import Foundation
import OpBenchModel

/// A run's folder: rows are appended and synced after every sample, `run.json` is replaced as a whole.
///
/// The rows of a sample end with its `status` row; what follows the last such row was torn by a kill. Histogram rows are
/// written before it, so that a sample which counts as done has them. A run that was killed before `run.json` told what
/// it is has measured nothing, and its folder is taken as if it were not there.
final class RunFolder {
    let path: String
    private let parameterNames: [String]
    private var samples: Int32 = -1
    private var histograms: Int32 = -1
    /// The folder itself, locked as long as this process writes in it. The kernel unlocks it with the process's end.
    private var lock: Int32 = -1

    private init(path: String, parameterNames: [String]) {
        self.path = path
        self.parameterNames = parameterNames
    }

    deinit {
        if samples >= 0 { close(samples) }
        if histograms >= 0 { close(histograms) }
        // A child that was forked meanwhile and is not its own program yet has the lock too: closing would not end it.
        if lock >= 0 {
            flock(lock, LOCK_UN)
            close(lock)
        }
    }

    // MARK: Opening

    /// The folder of a new run.
    ///
    /// - Throws: `InputError` if it exists or cannot be made, `DiskError` if it cannot be written.
    static func create(_ plan: RunPlan) throws -> RunFolder {
        let options = plan.options
        let folder = RunFolder(path: "\(options.directory)/\(options.runID)", parameterNames: plan.parameterNames)
        guard access(folder.path, F_OK) != 0 || folder.isUndescribed else {
            throw InputError(
                file: folder.path, message: "a run of this id exists",
                remedy: "give another --run-id, or --resume to go on with it")
        }
        try makeFolders(folder.path)
        try folder.takeLock()
        folder.samples = try folder.open(SampleRow.fileName, O_CREAT | O_TRUNC)
        folder.histograms = try folder.open(HistogramRow.fileName, O_CREAT | O_TRUNC)
        try folder.append(
            CSVFile.header(of: SampleRow.self, parameters: plan.parameterNames), to: folder.samples, SampleRow.fileName)
        try folder.append(CSVFile.header(of: HistogramRow.self), to: folder.histograms, HistogramRow.fileName)
        return folder
    }

    /// Whether a run of this name was begun, and killed before its description was written.
    static func isUndescribed(_ plan: RunPlan) -> Bool {
        RunFolder(path: "\(plan.options.directory)/\(plan.options.runID)", parameterNames: []).isUndescribed
    }

    /// Whether the folder holds nothing but what `create` leaves before the first `saveManifest`.
    private var isUndescribed: Bool {
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: path) else { return false }
        return Set(entries).isSubset(of: [SampleRow.fileName, HistogramRow.fileName, "run.json.new"])
            && SystemFile.text(file(SampleRow.fileName)).count { $0 == "\n" } <= 1
    }

    /// - Throws: `InputError` if another process holds it.
    private func takeLock() throws {
        lock = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw DiskError(path: path, code: errno) }
        if flock(lock, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            throw InputError(
                file: path, message: "another process is writing this run",
                remedy: "wait for its end, or give another --run-id")
        }
    }

    /// What an ended run has left.
    struct Remains {
        var folder: RunFolder
        var manifest: RunManifest
        /// The rows of the samples that were saved whole.
        var rows: [SampleRow]
    }

    /// The path of the plan's run if that is finished, with all its rows there; nil if something is left to be done.
    /// Nothing is written.
    ///
    /// - Throws: `InputError` if there is a run of that id that was another, or that another process writes.
    static func finished(_ plan: RunPlan) throws -> String? {
        let folder = RunFolder(path: path(of: plan), parameterNames: plan.parameterNames)
        guard let progress = RunManifest.Progress.read(folder.file("run.json")),
            progress.state == RunManifest.Progress.finished
        else { return nil }
        _ = try folder.description(of: plan)
        let samples = try folder.wholeSamples()
        let areAllDone = SampleRecorder(plan: plan, samples.rows).done == progress.samplesDone
        let isWhole = try areAllDone && samples.isAll && folder.wholeHistograms(of: samples.rows).isAll
        return isWhole ? folder.path : nil
    }

    private static func path(of plan: RunPlan) -> String { "\(plan.options.directory)/\(plan.options.runID)" }

    /// The folder of a run that is gone on with; what was torn is cut off.
    ///
    /// - Throws: `InputError` if there is no such run or it was another.
    static func reopen(_ plan: RunPlan) throws -> Remains {
        let folder = RunFolder(path: path(of: plan), parameterNames: plan.parameterNames)
        let manifest = try folder.description(of: plan)
        let rows = try folder.keepWholeSamples()
        folder.samples = try folder.open(SampleRow.fileName, O_APPEND)
        folder.histograms = try folder.open(HistogramRow.fileName, O_APPEND)
        return Remains(folder: folder, manifest: manifest, rows: rows)
    }

    /// What `run.json` says, once the folder is locked.
    ///
    /// - Throws: `InputError` if there is none, if it is not of the plan, or if another process writes in the folder.
    private func description(of plan: RunPlan) throws -> RunManifest {
        guard access(file("run.json"), F_OK) == 0 else {
            throw InputError(
                file: path, message: "there is no run of this id", remedy: "leave --resume out to begin it")
        }
        try takeLock()
        let manifest = try RunManifest.read(file("run.json"))
        if let difference = manifest.difference(from: plan) {
            throw InputError(
                file: file("run.json"), message: "the run was another: \(difference)",
                remedy: "give the options and workloads it was begun with, or another --run-id")
        }
        if let (what, begun, now) = manifest.host.kind.difference(from: .here()) {
            throw InputError(
                file: file("run.json"),
                message: "the run was begun where the \(what) was \"\(begun)\", here it is \"\(now)\"",
                remedy: "go on with it there, or give another --run-id")
        }
        return manifest
    }

    private static func makeFolders(_ path: String) throws(InputError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made.hasSuffix("/") ? "" : "/") + part
            if mkdir(made, 0o777) != 0, errno != EEXIST {
                throw InputError(
                    file: made, message: "the folder cannot be made: \(String(cString: strerror(errno)))",
                    remedy: "name a place that can be written, with --output")
            }
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw InputError(
                file: path, message: "the folder cannot be written: \(String(cString: strerror(errno)))",
                remedy: "name a place that can be written, with --output")
        }
    }

    // MARK: Saving

    func save(_ rows: [SampleRow], _ histogramRows: [HistogramRow]) throws(DiskError) {
        if !histogramRows.isEmpty {
            try append(histogramRows.map { CSVFile.line(of: $0) }.joined(), to: histograms, HistogramRow.fileName)
        }
        try append(
            rows.map { CSVFile.line(of: $0, parameters: parameterNames) }.joined(), to: samples, SampleRow.fileName)
    }

    /// Replaces `run.json` as a whole.
    func saveManifest(_ text: String) throws(DiskError) { try replace("run.json", by: text) }

    private func file(_ name: String) -> String { "\(path)/\(name)" }

    private func open(_ name: String, _ flags: Int32) throws(DiskError) -> Int32 {
        let descriptor = Glibc.open(file(name), O_WRONLY | O_CLOEXEC | flags, 0o666)
        if descriptor < 0 { throw failure(name) }
        return descriptor
    }

    private func failure(_ name: String) -> DiskError { DiskError(path: file(name), code: errno) }

    private func append(_ text: String, to descriptor: Int32, _ name: String) throws(DiskError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw failure(name) }
            rest = rest.dropFirst(max(0, count))
        }
        if fsync(descriptor) != 0 { throw failure(name) }
    }

    private func replace(_ name: String, by text: String) throws(DiskError) {
        let temporary = name + ".new"
        let descriptor = try open(temporary, O_CREAT | O_TRUNC)
        defer { close(descriptor) }
        try append(text, to: descriptor, temporary)
        if rename(file(temporary), file(name)) != 0 { throw failure(name) }
    }

    // MARK: Going on

    /// Cuts both files off behind the last whole sample, and returns the rows that stay.
    private func keepWholeSamples() throws -> [SampleRow] {
        let rows = try wholeSamples().rows
        try replace(SampleRow.fileName, by: CSVFile.text(of: rows, parameters: parameterNames))
        try replace(HistogramRow.fileName, by: CSVFile.text(of: try wholeHistograms(of: rows).rows))
        return rows
    }

    /// The rows of the samples that were saved whole, and whether there is nothing else in the file.
    private func wholeSamples() throws -> (rows: [SampleRow], isAll: Bool) {
        let name = SampleRow.fileName
        let read = try CSVFile.readWholeLines(SampleRow.self, file: file(name))
        let end = read.rows.lastIndex { $0.metric == Metric.status.name }.map { $0 + 1 } ?? 0
        return (Array(read.rows[..<end]), end == read.rows.count && read.byteCount == size(name))
    }

    /// The rows of the histograms of those samples, and whether there is nothing else in the file.
    private func wholeHistograms(of samples: [SampleRow]) throws -> (rows: [HistogramRow], isAll: Bool) {
        let name = HistogramRow.fileName
        let ids = Set(samples.map(\.sampleID))
        let read = try CSVFile.readWholeLines(HistogramRow.self, file: file(name))
        let rows = read.rows.filter { ids.contains($0.sampleID) }
        return (rows, rows.count == read.rows.count && read.byteCount == size(name))
    }

    private func size(_ name: String) -> Int {
        var facts = stat()
        return stat(file(name), &facts) == 0 ? Int(facts.st_size) : -1
    }
}
