import Foundation
import OpBenchAnalysis
import OpBenchHistory
import OpBenchModel
import TestSupport

/// A new empty folder, removed with the object, and runs for a history in it.
final class Fixture: Sendable {
    let folder: String
    var path: String { folder + "/history.csv" }

    init() throws {
        folder = try TemporaryFolder.make()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    static let here = HostKind(hostClass: "a machine", allocator: "jemalloc 5.3", configuration: "release")
    static let elsewhere = HostKind(hostClass: "another machine", allocator: "jemalloc 5.3", configuration: "release")

    static func name(
        _ metric: Metric = .time, cell: String = "w items=10", backend: BackendID = .engine, phase: String = "total",
        side: String = ""
    ) -> FigureName {
        FigureName(cellID: cell, backend: backend, side: side, metric: metric.name, phase: phase, stat: "total")
    }

    static func figures(_ value: Double, _ names: [FigureName] = [name()]) -> [RunFigure] {
        names.map { RunFigure(name: $0, value: value, low: value * 0.9, high: value * 1.2, samples: 7) }
    }

    static func run(
        _ id: String, day: Int = 1, host: HostKind = here, surroundings: [String: Surroundings] = [:]
    ) -> HistoryRun {
        HistoryRun(
            id: id, startedUTC: "2026-01-\(day < 10 ? "0" : "")\(day)T00:00:00.000Z", commit: "c\(id)", isDirty: false,
            host: host, surroundings: surroundings)
    }

    /// Adds a run whose figures all have that value.
    @discardableResult
    func add(
        _ id: String, day: Int = 1, host: HostKind = here, surroundings: [String: Surroundings] = [:],
        _ value: Double, _ names: [FigureName] = [name()], isReplacing: Bool = false
    ) throws -> History.Addition {
        let run = Self.run(id, day: day, host: host, surroundings: surroundings)
        return try History.add(
            [.init(run: run, figures: Self.figures(value, names))], to: path, isReplacing: isReplacing)[0]
    }

    func series() throws -> [TrendSeries] { try History(path).series() }

    func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
}
