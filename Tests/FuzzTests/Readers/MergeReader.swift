import Foundation
import Synchronization

@testable import OpBenchModel
@testable import OpBenchRunner

extension FuzzReader {
    /// The parts that `opbench merge` merges. Of an input, the first byte says which file of one of two parts is
    /// replaced by the rest.
    static let merge = FuzzReader(
        name: "merge", form: .rows, lengthLimit: 8192,
        words: {
            csv.words() + description.words()
                + ["shard", "part", "1/2", "2/2", "1/10000", "n1", "sweep", "cells", "all_cells", "parts"]
        },
        seeds: {
            try Parts.shared.withLock { parts in
                try Parts.names.enumerated().map { index, name in try [UInt8(index), 0] + parts.good(name) }
            }
        },
        read: { bytes in
            guard bytes.count >= 2 else { return }
            try Parts.shared.withLock { parts in
                try parts.hold(Parts.names[Int(bytes[0]) % Parts.names.count], Array(bytes.dropFirst(2)))
            }
        },
        isExpected: { $0 is DiskError }, refusesWholeFiles: true)
}

/// Two parts of one sweep in folders of this process.
private struct Parts {
    static let names = [SampleRow.fileName, HistogramRow.fileName, RunFacts.fileName]
    static let shared = Mutex(try! Parts())

    private let folder: String
    private let paths: [String]
    private var files: [String: [UInt8]] = [:]

    private init() throws {
        folder = Scratch.folder + "/parts"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": [1, 2]},
             "backends": ["engine", "serial"]}
            """
        let specs = [try WorkloadSpec.decode(text: text, file: "w.json")]
        paths = ["1", "2"].map { [folder] in "\(folder)/\($0)" }
        let parts = try (1...2).map { [folder] index in
            var options = RunOptions(blocks: 1, directory: folder, arguments: ["opbench", "run"])
            options.host = "n\(index)"
            return try RunPlan(specs: specs, options: options).part(Shard(index: index, count: 2))
        }
        for (part, path) in zip(parts, paths) { try Self.write(part, to: path) }
        for name in Self.names { files[name] = try good(name) }
    }

    private static func write(_ run: RunPlan, to path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let description = RunFacts(
            plan: run, calibration: .init(iterationsPerNanosecond: 0.5), host: .read(as: run.options.host),
            programs: .own(nil))
        let progress = RunFacts.Progress(state: .finished, samplesDone: run.samples.count)
        let rows = run.samples.map { sample in
            SampleRow(
                runID: run.options.runID, sampleID: sample.id, timestampUTC: "2026-01-02T03:04:05.678Z",
                host: run.options.host,
                workload: sample.cell.workload, cellID: sample.cell.id, backend: sample.backend, block: sample.block,
                position: sample.position, status: .ok, metric: Metric.status.name, stat: "", value: nil, operations: 1,
                parameters: sample.cell.parameters.mapValues(\.description))
        }
        let histograms = run.samples.prefix(1).map { sample in
            HistogramRow(
                workload: "w", cellID: sample.cell.id, backend: sample.backend, sampleID: sample.id, stage: "start",
                upperBoundsNanoseconds: [10], counts: [1])
        }
        for (name, text) in [
            (SampleRow.fileName, CSVFile.text(of: rows)), (HistogramRow.fileName, CSVFile.text(of: Array(histograms))),
            (RunFacts.fileName, try RunFacts.Writer(description).text(progress)),
        ] { try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)")) }
    }

    func good(_ name: String) throws -> [UInt8] {
        if let bytes = files[name] { return bytes }
        return [UInt8](try Data(contentsOf: URL(filePath: "\(paths[0])/\(name)")))
    }

    /// Merges the parts with the bytes in the place of a file.
    func hold(_ name: String, _ bytes: [UInt8]) throws {
        let merged = folder + "/merged"
        try Data(bytes).write(to: URL(filePath: "\(paths[0])/\(name)"))
        defer {
            try? Data(files[name]!).write(to: URL(filePath: "\(paths[0])/\(name)"))
            try? FileManager.default.removeItem(atPath: merged)
        }
        let merge = try PartsMerge(paths, allowsMissing: false) { $0.joined(separator: " ") }
        try promise(merge.missing.isEmpty, "a shard is missing, and was not reported")
        _ = try merge.write(to: merged, runID: "merged", arguments: []) { _ in }
        let rows = try again("the merged run") { try CSVFile.read(SampleRow.self, file: merged + "/samples.csv") }
        try promise(rows.allSatisfy { $0.runID == "merged" }, "a row of the merged run is of another")
        _ = try again("the merged run's description") { try RunFacts.decode(merged + "/run.json") }
        _ = try again("the merged run's histograms") {
            try CSVFile.read(HistogramRow.self, file: merged + "/histograms.csv")
        }
    }
}
