import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel

extension PartsMerge {
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
        var facts = stat()
        if lstat(path, &facts) == 0 { throw Self.taken(path) }
        try WrittenFolder.make(directory, remedy: "name a writable place with --output")
        let temporary = "\(directory)/\(WrittenFolder.temporaryName())"
        guard mkdir(temporary, 0o777) == 0 else { throw DiskError(path: path, code: errno) }
        do {
            let folder = try WrittenFolder(temporary)
            try append(SampleRow.self, to: folder, parameters: parameterNames) { $0.runID = runID }
            try append(HistogramRow.self, to: folder, parameters: [])
            let writer = try RunFacts.Writer(mergedFacts(runID: runID, arguments: arguments))
            try folder.create(RunFacts.fileName, writer.text(progress))
            var run = try MeasuredRun.read(temporary)
            try beforeEnd(run)
            try folder.sync()
            guard rename(temporary, path) == 0 else {
                throw [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno)
                    ? Self.taken(path) : DiskError(path: path, code: errno)
            }
            try WrittenFolder(directory).sync()
            run.folder = path
            return run
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    private static func taken(_ path: String) -> InputError {
        InputError(file: path, message: "this name is taken", remedy: "name another run with --output")
    }

    // MARK: Rows

    /// The parameters of the whole sweep, as in an unsharded run. A cell's id begins with its workload's name.
    private var parameterNames: [String] {
        let measured = Set(parts.flatMap(\.cells).map { $0.prefix { $0 != " " } })
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

    // MARK: The description

    private func mergedFacts(runID: String, arguments: [String]) -> RunFacts {
        var facts = parts[0].facts
        (facts.runID, facts.arguments) = (runID, arguments)
        facts.startedUTC = parts.map(\.facts.startedUTC).min() ?? facts.startedUTC
        facts.identity.order = Self.mergedOrder(of: parts)
        facts.sweep = SweepFacts(sha256: sweepSHA256)
        facts.parts = parts.map(\.merged)
        let machines = parts.map(\.facts.host)
        func joined(_ field: (HostFacts) -> String) -> String {
            var values: [String] = []
            for value in machines.map(field) where !values.contains(value) { values.append(value) }
            return values.joined(separator: " + ")
        }
        facts.host.host = joined { $0.host ?? "" }
        facts.host.hostClass = joined(\.hostClass)
        facts.host.allocator = joined(\.allocator)
        facts.host.configuration = joined(\.configuration)
        facts.host.surroundings = Surroundings.joined(machines.map { $0.surroundings ?? Surroundings() })
        facts.host.cpu = joined(\.cpu)
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
