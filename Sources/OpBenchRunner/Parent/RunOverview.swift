import Foundation
import Glibc
import OpBenchModel

/// What a run's `run.json` tells of it, read at once: neither its rows nor its workloads are looked at.
public enum RunOverview {
    /// - Parameters:
    ///   - folder: the run's.
    ///   - name: by which it is found.
    /// - Throws: `InputError` if there is no description of a run, or it cannot be read.
    public static func read(
        _ folder: String, name: String, isBaseline: Bool
    ) throws(InputError) -> RunListRow {
        let file = "\(folder)/\(RunManifest.fileName)"
        let text = try JSONDocument.text(of: file, limit: RunManifest.sizeLimit)
        return try decode(text, file: file, name: name, isBaseline: isBaseline) { state($0, folder) }
    }

    /// As `read`, of a text that `JSONDocument` has checked.
    ///
    /// - Parameters:
    ///   - file: what errors name.
    ///   - state: what a written state means.
    static func decode(
        _ text: String, file: String, name: String, isBaseline: Bool, state: (String?) -> RunListRow.State
    ) throws(InputError) -> RunListRow {
        let parts: Description
        do {
            parts = try JSONDecoder().decode(Description.self, from: Data(text.utf8))
        } catch {
            throw InputError(
                file: file, path: JSONDocument.path(of: error), message: "this is not the description of a run",
                remedy: "remove the folder, or restore it")
        }
        let samples = parts.order.map(PlannedName.init)
        let ofThroughput = samples.filter { $0.flavour == SampleFlavour.throughput.rawValue }
        let planned = (ofThroughput.isEmpty ? samples : ofThroughput).map(\.block).max().map { $0 + 1 } ?? 0
        var row = RunListRow(
            name: name, runID: parts.runID, isBaseline: isBaseline, startedUTC: parts.startedUTC,
            workloads: parts.workloads.map(\.name).joined(separator: " "),
            backends: unique(samples.map(\.backend)).joined(separator: " "), cells: Set(samples.map(\.cellID)).count,
            blocks: parts.blocksDone ?? planned, samples: parts.samplesDone ?? 0, plannedSamples: samples.count,
            badSamples: parts.samplesBad, state: state(parts.state), host: parts.host,
            commit: parts.git.map { $0.commit + ($0.isDirty ? " and changes" : "") } ?? "")
        row.endedUTC = parts.endedUTC ?? ""
        return row
    }

    /// A run that says that it is running, and whose folder no process has locked, was killed.
    private static func state(_ written: String?, _ folder: String) -> RunListRow.State {
        switch written {
        case RunManifest.Progress.finished: return .finished
        case RunManifest.Progress.running:
            guard let lock = try? WrittenFolder(folder), let isFree = try? lock.lock() else { return .interrupted }
            return isFree ? .interrupted : .running
        default: return .interrupted
        }
    }

    /// In the order of tables; what is not known there comes last.
    private static func unique(_ backends: [String]) -> [String] {
        let found = Set(backends)
        let known = BackendID.known.map(\.rawValue).filter(found.contains)
        return known + found.subtracting(known).sorted()
    }

    /// The parts of `run.json` that are looked at.
    private struct Description: Decodable {
        struct Workload: Decodable { var name: String }

        var runID: String
        var startedUTC: String
        var workloads: [Workload]
        var order: [String]
        var hostClass: String
        var allocator: String
        var configuration: String
        var git: GitFacts?
        var state: String?
        var samplesDone: Int?
        var samplesBad: Int?
        var blocksDone: Int?
        var endedUTC: String?

        enum CodingKeys: String, CodingKey {
            case runID = "run_id"
            case startedUTC = "started_utc"
            case workloads, order
            case hostClass = "host_class"
            case allocator, configuration, git, state
            case samplesDone = "samples_done"
            case samplesBad = "samples_bad"
            case blocksDone = "blocks_done"
            case endedUTC = "ended_utc"
        }

        var host: HostKind { HostKind(hostClass: hostClass, allocator: allocator, configuration: configuration) }
    }
}
