import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel

extension PartsMerge {
    /// Writes the merged run: the rows of all parts under one run id, and what an unsharded run would say of itself. Its folder
    /// appears by one rename when all is written.
    ///
    /// - Parameters:
    ///   - path: the run's folder, which must not be there.
    ///   - runID: the run's name.
    ///   - arguments: the command line.
    ///   - beforeEnd: writes what else belongs to a finished run into the folder that it is told.
    /// - Throws: `InputError` if the folder is there or cannot be made, `DiskError` if it cannot be written; nothing is left.
    public func write(
        to path: String, runID: String, arguments: [String], beforeEnd: (_ folder: String) throws -> Void
    ) throws {
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
            try folder.create(PlanFile.fileName, plan.text)
            let writer = try RunManifest.Writer(manifest(runID: runID, arguments: arguments))
            try folder.create(RunManifest.fileName, writer.text(progress))
            try beforeEnd(temporary)
            try folder.sync()
            guard rename(temporary, path) == 0 else {
                throw [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno)
                    ? Self.taken(path) : DiskError(path: path, code: errno)
            }
            try WrittenFolder(directory).sync()
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    private static func taken(_ path: String) -> InputError {
        InputError(file: path, message: "there is something of this name", remedy: "name another run with --output")
    }

    // MARK: Rows

    /// Those of the whole plan, as an unsharded run has them.
    private var parameterNames: [String] { Set(plan.cells.flatMap(\.parameters.keys)).sorted() }

    /// Copies the rows of all parts, shard by shard, without holding more than some of them.
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

    private func manifest(runID: String, arguments: [String]) -> RunManifest {
        var manifest = parts[0].manifest
        (manifest.runID, manifest.arguments) = (runID, arguments)
        manifest.startedUTC = parts.map(\.manifest.startedUTC).min() ?? manifest.startedUTC
        manifest.identity.order = parts.flatMap(\.manifest.identity.order)
            .map { (index: PlannedName($0).index, text: $0) }.sorted { $0.index < $1.index }.map(\.text)
        manifest.shard = nil
        manifest.parts = parts.map(\.merged)
        let machines = parts.map(\.manifest.host)
        func joined(_ field: (HostFacts) -> String) -> String {
            var values: [String] = []
            for value in machines.map(field) where !values.contains(value) { values.append(value) }
            return values.joined(separator: " + ")
        }
        manifest.host.host = joined { $0.host ?? "" }
        manifest.host.hostClass = joined(\.hostClass)
        manifest.host.allocator = joined(\.allocator)
        manifest.host.configuration = joined(\.configuration)
        manifest.host.kernel = joined(\.kernel)
        manifest.host.cpu = joined(\.cpu)
        return manifest
    }

    private var progress: RunManifest.Progress {
        let progresses = parts.map(\.progress)
        func sum<Number: FixedWidthInteger>(_ field: (RunManifest.Progress) -> Number?) -> Number? {
            var sum = Number.zero
            for progress in progresses {
                guard let number = field(progress) else { return nil }
                sum.addClamped(number)
            }
            return sum
        }
        return RunManifest.Progress(
            state: missing.isEmpty ? RunManifest.Progress.finished : RunManifest.Progress.cancelled,
            samplesDone: sum { $0.samplesDone } ?? 0, samplesBad: sum { $0.samplesBad },
            blocksDone: progresses.compactMap(\.blocksDone).max(),
            runnerCPUNanoseconds: sum { $0.runnerCPUNanoseconds },
            endedUTC: progresses.compactMap(\.endedUTC).max())
    }
}
