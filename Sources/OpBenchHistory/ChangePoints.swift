import Foundation
import OpBenchLaunch
import OpBenchModel

/// Finds the change points of figures with Apache Otava: the method of Matteson and James ("E-divisive"), refined for
/// benchmarks by Fleming and others, with Otava's defaults.
public struct ChangePoints: Sendable {
    /// The path of Otava's program.
    let program: String

    /// The version that the suite was checked with.
    public static let otavaVersion = "0.8.0"

    /// Looks for the program: the value of `OPBENCH_OTAVA`, or `otava` on `PATH`.
    ///
    /// - Returns: nil if it is not installed.
    public init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let named = environment["OPBENCH_OTAVA"].map { [$0] } ?? []
        let onPath = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/otava" }
        guard let program = (named + onPath).first(where: { access($0, X_OK) == 0 }) else { return nil }
        self.program = program
    }

    /// How to install the program.
    public static var remedy: String {
        let caller = ProcessInfo.processInfo.environment["OPBENCH_CALLED_AS"] ?? ""
        let command =
            caller.hasSuffix("scripts/opbench")
            ? caller.dropLast("opbench".count) + "install-otava" : "pip install apache-otava==\(otavaVersion)"
        return "`\(command)` installs it"
    }

    /// The same series, with the changes that Otava finds. A series of fewer than three points has no changes.
    ///
    /// - Throws: `HistoryError` if the program fails; `DiskError` if the figures cannot be written for it.
    public func found(in series: [TrendSeries]) async throws -> [TrendSeries] {
        let tests = OtavaTest.all(of: series)
        if tests.isEmpty { return series }
        let passing = try PassingFolder()
        defer { withExtendedLifetime(passing) {} }
        let folder = try WrittenFolder(passing.path)
        for test in tests { try folder.replace(test.file, by: test.data(series)) }
        try folder.replace("otava.yaml", by: OtavaTest.configuration(tests))
        let result: Program.Printed
        do {
            result = try await run(tests.map(\.name), in: folder.path)
        } catch {
            try Task.checkCancellation()
            throw failure("cannot be run: \(error)")
        }
        if result.ending == .timedOut { throw failure("did not end in \(FigureText.write(Self.mostSeconds)) s") }
        guard result.isSuccess else { throw failure("failed: \(result.errors.suffix(500))") }
        let changes = try Self.changes(in: result.text) ?? { throw failure("did not print a list of changes") }()
        var marked = series
        for test in tests {
            guard let ofTest = changes[test.name] else { throw failure("did not report on all figures") }
            for change in ofTest { try mark(change, of: test, in: &marked) }
        }
        return marked
    }

    private func mark(_ change: OtavaChange, of test: OtavaTest, in series: inout [TrendSeries]) throws {
        guard let index = test.series(of: change.metric), series[index].points.indices.contains(change.index),
            let before = Double(change.meanBefore), let after = Double(change.meanAfter)
        else { throw failure("reported an unknown figure") }
        // A change from 0 has no factor.
        let factor = after / before
        series[index].points[change.index].change = factor.isFinite ? factor : nil
    }

    private func failure(_ what: String) -> HistoryError {
        HistoryError(
            path: program, message: "Apache Otava \(what)",
            remedy: "this opbench was checked with version \(Self.otavaVersion)")
    }

    // MARK: The program

    /// The longest analysis, in seconds.
    private static let mostSeconds = 600.0

    /// All figures, however old: by default Otava takes only the last month, and none of the future.
    private func run(_ tests: [String], in folder: String) async throws -> Program.Printed {
        let words = [
            "analyze", "--config-file", "otava.yaml", "--output", "json", "--since", "1970-01-02", "--until",
            "9000-01-01",
        ]
        // A preloaded library may print.
        return try await Program(program, words + tests, environment: ["LD_PRELOAD": nil], in: folder)
            .printed(limit: 64 << 20, errorLimit: 1 << 20, seconds: Self.mostSeconds)
    }

    private struct Group: Decodable { let changes: [OtavaChange] }

    /// The changes by test; Otava prints one object per test and line.
    private static func changes(in output: String) -> [String: [OtavaChange]]? {
        var changes: [String: [OtavaChange]] = [:]
        for line in output.split(separator: "\n") {
            guard let tests = try? JSONDecoder().decode([String: [Group]].self, from: Data(line.utf8)) else {
                return nil
            }
            changes.merge(tests.mapValues { $0.flatMap(\.changes) }) { $1 }
        }
        return changes
    }
}

/// One change as Otava prints it: numbers are strings with six decimals.
struct OtavaChange: Decodable {
    let metric: String
    let index: Int
    let meanBefore, meanAfter: String

    enum CodingKeys: String, CodingKey {
        case metric, index
        case meanBefore = "mean_before"
        case meanAfter = "mean_after"
    }
}

/// Series of the same runs, which Otava reads from one file.
struct OtavaTest {
    let name: String
    /// The indices of the series.
    let members: [Int]

    var file: String { name + ".csv" }

    /// Fewer points cannot show a change.
    private static let fewestPoints = 3

    static func all(of series: [TrendSeries]) -> [OtavaTest] {
        let long = series.indices.filter { series[$0].points.count >= fewestPoints }
        let groups = Dictionary(grouping: long) { series[$0].points.map(\.run.id) }.values
        return groups.sorted { $0[0] < $1[0] }.enumerated().map { OtavaTest(name: "t\($0)", members: $1) }
    }

    func series(of metric: String) -> Int? {
        guard metric.first == "m", let place = Int(metric.dropFirst()), members.indices.contains(place) else {
            return nil
        }
        return members[place]
    }

    private var metrics: [String] { members.indices.map { "m\($0)" } }

    /// One line per run. Figures are multiples of their maximum, times a million, because Otava prints six decimals.
    func data(_ series: [TrendSeries]) -> String {
        var text = (["time"] + metrics).joined(separator: ",") + "\n"
        let greatest = members.map { series[$0].points.map(\.figure.value.magnitude).max() ?? 0 }
        for (index, point) in series[members[0]].points.enumerated() {
            let figures = zip(members, greatest).map { member, greatest in
                FigureText.write(greatest > 0 ? series[member].points[index].figure.value / greatest * 1e6 : 0)
            }
            text += ([point.run.startedUTC] + figures).joined(separator: ",") + "\n"
        }
        return text
    }

    static func configuration(_ tests: [OtavaTest]) -> String {
        "tests:\n"
            + tests.map { test in
                """
                  \(test.name):
                    type: csv
                    file: \(test.file)
                    time_column: time
                    metrics: [\(test.metrics.joined(separator: ", "))]

                """
            }.joined()
    }
}
