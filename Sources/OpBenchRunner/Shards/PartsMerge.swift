import Glibc
import OpBenchBackends
import OpBenchModel

/// The parts of one sweep, checked to be compatible.
public struct PartsMerge: Sendable {
    /// The digest of the sweep.
    public let sweep: String
    /// The workloads recorded in the parts.
    private let specs: [WorkloadSpec]
    /// The finished parts, sorted by shard.
    private let parts: [Part]
    /// Shards without a finished part here.
    public let missing: [Shard]

    /// The number of parts.
    public var count: Int { parts.count }

    /// The distinct names of the machines.
    public var machines: [String] { Set(parts.compactMap(\.facts.host.name)).sorted() }

    /// Reads the parts and checks that each is finished and complete, that they belong to one sweep, and that no part
    /// appears twice.
    ///
    /// - Parameters:
    ///   - folders: the folders of the parts.
    ///   - allowsMissing: whether shards may be missing or unfinished.
    ///   - command: makes a shell command line of the words that measure a shard.
    /// - Throws: `InputErrors` with all mistakes; a missing shard's error has the command that measures it.
    public init(
        _ folders: [String], allowsMissing: Bool, command: (_ words: [String]) -> String
    ) throws(InputErrors) {
        let mistakes = Mistakes()
        let read = folders.compactMap { folder in
            mistakes.keepFirst { () throws(InputError) in try Part(folder) }
        }
        guard let first = read.first else { throw mistakes.gathered ?? InputErrors(Self.nothing) }
        sweep = first.sweep
        let areOfOneSweep = Self.checkSweep(of: read, mistakes)
        parts = read.filter(\.isFinished).sorted { $0.shard.part < $1.shard.part }
        for part in parts { mistakes.keepFirst { () throws(InputError) in try part.checkRows() } }
        let present = Set(parts.map(\.shard.part))
        // Shards without cells may be absent.
        let areAllThere = parts.reduce(0) { $0 + $1.shard.cells.count } == first.shard.allCells
        missing = areAllThere ? [] : first.shard.part.all.filter { !present.contains($0) }
        if !allowsMissing, areOfOneSweep {
            for shard in missing {
                let begun = read.first { $0.shard.part == shard }
                let words = first.facts.arguments.dropFirst() + ["--shard", shard.description]
                mistakes.note(
                    InputError(
                        file: begun?.folder ?? "shard \(shard)",
                        message: begun == nil ? "its part is missing" : "the part of shard \(shard) is not finished",
                        remedy: "measure it (the last --shard counts): \(command(Array(words)))"))
            }
        }
        try mistakes.check()
        if parts.isEmpty { throw InputErrors(Self.nothing) }
        do { specs = try first.facts.decodedWorkloads(of: first.folder) } catch { throw InputErrors(error) }
    }

    private static let nothing = InputError(
        file: "merge", message: "there are no finished parts", remedy: "name the folders of parts")

    /// Whether all parts have the first one's sweep, number of shards and program, and none appears twice.
    private static func checkSweep(of parts: [Part], _ others: Mistakes) -> Bool {
        let (mistakes, first) = (Mistakes(), parts[0])
        var folders: [Shard: String] = [:]
        for part in parts {
            let (folder, shard) = (part.folder, part.shard.part)
            if shard.count != first.shard.part.count {
                mistakes.note(
                    InputError(
                        file: folder, message: "the part is shard \(shard), but \(first.folder) is \(first.shard.part)",
                        remedy: "merge parts with the same number of shards"))
            } else if part.sweep != first.sweep {
                mistakes.note(
                    InputError(
                        file: folder,
                        message: "the part belongs to the sweep \(part.sweep.prefix(12)), but \(first.folder) to "
                            + "\(first.sweep.prefix(12))",
                        remedy: "merge parts with equal workloads and options, measured by the same opbench"))
            } else if let other = folders.updateValue(folder, forKey: shard) {
                mistakes.note(
                    InputError(
                        file: folder, message: "the part is shard \(shard), like \(other)",
                        remedy: "name each shard once"))
            } else if part.facts.uncommittedProgram != first.facts.uncommittedProgram {
                mistakes.note(
                    InputError(
                        file: "\(folder)/\(RunFacts.fileName)", path: "$.executable.sha256",
                        message: "another program than in \(first.folder) took the samples",
                        remedy: "run shard \(shard) again with the same file, or all with one commit's program"))
            }
        }
        if let gathered = mistakes.gathered { others.note(gathered) }
        return mistakes.gathered == nil
    }

    // MARK: Writing

    /// Writes the merged run: the rows of all parts under one run id, and the description of an unsharded run. Its
    /// folder appears by a single rename when everything is written.
    ///
    /// - Parameters:
    ///   - path: the run's folder, which must not exist.
    ///   - runID: the run's name.
    ///   - arguments: the command line.
    ///   - beforeEnd: writes additional files of the run into its folder, which has a passing name until it is finished.
    /// - Returns: the run.
    /// - Throws: `InputError` if the folder exists or cannot be made, `DiskError` if it cannot be written; removes
    ///   everything then.
    public func write(
        to path: String, runID: String, arguments: [String], beforeEnd: (MeasuredRun) throws -> Void
    ) throws -> MeasuredRun {
        let directory = WrittenFolder.holding(path)
        let taken = InputError(file: path, message: "this name is taken", remedy: "name another run with --output")
        var facts = stat()
        if lstat(path, &facts) == 0 { throw taken }
        try WrittenFolder.make(directory, remedy: "name a writable place with --output")
        let parent = try WrittenFolder(directory)
        let stage = try StagedFolder(in: parent)
        try append(SampleRow.self, to: stage.folder, parameters: parameterNames) { $0.runID = runID }
        try append(HistogramRow.self, to: stage.folder, parameters: [])
        let writer = try RunFacts.Writer(mergedFacts(runID: runID, arguments: arguments))
        try stage.folder.create(RunFacts.fileName, writer.text(progress))
        var run = try MeasuredRun.read(stage.folder.path)
        try beforeEnd(run)
        try stage.folder.sync()
        do throws(DiskError) {
            try stage.publish(as: path.split(separator: "/").last.map(String.init) ?? path)
        } catch {
            if error.code == EEXIST { throw taken }
            throw error
        }
        try parent.sync()
        run.folder = path
        return run
    }

    /// The parameters of the whole sweep, as in an unsharded run. A cell's id begins with its workload's name.
    private var parameterNames: [String] {
        let measured = Set(parts.flatMap(\.shard.cells).map { $0.prefix { $0 != " " } })
        let shapes = Set(specs.filter { measured.contains($0.name[...]) }.map(\.shape))
        return Set(shapes.flatMap { ShapeDefinition.of($0).parameters.map(\.name) }).sorted()
    }

    /// Copies the rows of all parts, shard by shard, and buffers only some of them.
    private func append<Row: CSVRow>(
        _: Row.Type, to folder: WrittenFolder, parameters: [String], change: (inout Row) -> Void = { _ in }
    ) throws {
        let descriptor = try folder.open(Row.fileName, O_CREAT | O_EXCL)
        defer { close(descriptor) }
        var (text, failure) = (CSVFile.header(of: Row.self, parameters: parameters), SystemError?.none)
        func flush() {
            do throws(SystemError) { try FileBytes.write(text, to: descriptor) } catch { failure = failure ?? error }
            text = ""
        }
        for part in parts where failure == nil {
            try CSVFile.each(Row.self, of: "\(part.folder)/\(Row.fileName)") { row, _ in
                var row = row
                change(&row)
                text += CSVFile.line(of: row, parameters: parameters)
                if text.utf8.count > 1 << 18 { flush() }
            }
        }
        flush()
        if failure == nil, fsync(descriptor) != 0 { failure = SystemError(code: errno) }
        if let failure { throw DiskError(path: folder.file(Row.fileName), code: failure.code) }
    }

    private func mergedFacts(runID: String, arguments: [String]) -> RunFacts {
        var facts = parts[0].facts
        (facts.runID, facts.arguments) = (runID, arguments)
        facts.startedUTC = parts.map(\.facts.startedUTC).min() ?? facts.startedUTC
        // By the samples' positions in the whole plan.
        facts.identity.order = parts.flatMap(\.facts.identity.order).map { (index: PlannedName($0).index, text: $0) }
            .sorted { $0.index < $1.index }.map(\.text)
        facts.shard = nil
        facts.parts = parts.map { part in
            RunFacts.MergedPart(
                shard: part.shard.part, startedUTC: part.facts.startedUTC, endedUTC: part.progress.endedUTC,
                calibration: part.facts.calibration, machine: part.facts.host, cells: part.shard.cells)
        }
        facts.host = .joined(parts.map(\.facts.host))
        return facts
    }

    private var progress: RunFacts.Progress {
        let progresses = parts.map(\.progress)
        func sum<Number: FixedWidthInteger>(_ field: (RunFacts.Progress) -> Number) -> Number {
            progresses.reduce(into: 0) { $0.addClamped(field($1)) }
        }
        return RunFacts.Progress(
            state: missing.isEmpty ? .finished : .cancelled,
            samplesDone: sum(\.samplesDone), samplesBad: sum(\.samplesBad),
            blocksDone: progresses.map(\.blocksDone).max() ?? 0, runnerCPUNanoseconds: sum(\.runnerCPUNanoseconds),
            endedUTC: progresses.compactMap(\.endedUTC).max())
    }
}

extension PartsMerge {
    /// A part with its description.
    fileprivate struct Part: Sendable {
        let folder: String
        let facts: RunFacts
        let sweep: String
        let shard: ShardFacts
        let progress: RunFacts.Progress

        var isFinished: Bool { progress.state == .finished }

        /// - Throws: `InputError` if the folder holds anything else.
        init(_ folder: String) throws(InputError) {
            let file = "\(folder)/\(RunFacts.fileName)"
            let read = access(file, F_OK) == 0 ? try RunFacts.decode(file) : nil
            guard let facts = read, let sweep = facts.sweep, let shard = facts.shard, let progress = facts.progress
            else {
                throw InputError(
                    file: folder, message: "this is not a part of a sweep",
                    remedy: "name a folder that `opbench run --shard` has measured")
            }
            (self.folder, self.facts, self.sweep, self.shard, self.progress) = (folder, facts, sweep, shard, progress)
        }

        /// Checks that the rows of all samples are there, once, and no histograms of others: a copy of the part may be
        /// incomplete, or mixed with another.
        func checkRows() throws(InputError) {
            func mistake(_ name: String, _ message: String) -> InputError {
                InputError(
                    file: "\(folder)/\(name)", path: "column sample_id", message: message,
                    remedy: "restore the file, or remove the part and run its shard \(shard.part) again")
            }
            let planned = Set(facts.identity.order.map { PlannedName($0).id })
            var (found, repeated): (Set<String>, String?) = ([], nil)
            try CSVFile.each(SampleRow.self, of: "\(folder)/\(SampleRow.fileName)") { row, _ in
                guard row.metric == Metric.status.name, !found.insert(row.sampleID).inserted else { return }
                repeated = row.sampleID
            }
            if let repeated { throw mistake(SampleRow.fileName, "the sample \(repeated) is there twice") }
            if let lost = planned.subtracting(found.map(PlannedSample.repeatedID)).min() {
                throw mistake(SampleRow.fileName, "the sample \(lost) is missing")
            }
            var foreign: String?
            try CSVFile.each(HistogramRow.self, of: "\(folder)/\(HistogramRow.fileName)") { row, _ in
                if !found.contains(row.sampleID) { foreign = row.sampleID }
            }
            if let foreign { throw mistake(HistogramRow.fileName, "the sample \(foreign) is not one of this part") }
        }
    }
}
