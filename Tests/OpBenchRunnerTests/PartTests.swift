import Foundation
import Glibc
import OpBenchModel
import Synchronization
import TestSupport
import Testing

@testable import OpBenchRunner

/// Parts of a sweep, on machines that die, and their merged runs.
@Suite("Parts of a sweep") struct PartTests {
    private let folder: String
    private let whole: RunPlan

    init() throws {
        folder = try Fixture.folder()
        let specs = [
            try Fixture.spec(
                "independent", #"{"items": [10, 20, 30], "work_ns": [0, 1000]}"#, backends: ["engine", "serial"],
                more: #", "skip": [{"backend": "serial", "when": {"items": 20}, "reason": "to see it"}]"#),
            try Fixture.spec("chain", #"{"depth": [10, 20]}"#, name: "v", backends: ["engine", "dispatch"]),
        ]
        whole = try RunPlan(
            specs: specs,
            options: RunOptions(
                blocks: 2, directory: folder, runID: "whole", arguments: ["opbench", "run", "--shard", "9/9", "w.json"])
        )
    }

    // MARK: Measuring

    private struct Death: Error {}

    /// A sample's figure depends only on its cell, so it is the same wherever it is taken.
    private static func answer(_ request: SampleRequest) throws -> ChildResult {
        var report = SampleReport()
        let figure = SplitMix64.seed(from: "\(request.cell.id) \(request.backend.rawValue) \(request.flavour)") % 1000
        report.add(.time, "total", Double(figure) + 1, phase: "total", operations: 10)
        report.referenceLoopNanoseconds = [1]
        report.histograms = [.init(stage: "start", operationClass: "", upperBounds: [10, 20], counts: [1, 2])]
        return ChildResult(ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
    }

    /// Returns a runner in a quiet world.
    private func runner(
        _ run: RunPlan, by programs: SamplePrograms? = nil,
        _ take: @escaping @Sendable (SampleRequest) async throws -> ChildResult
    ) -> PlanRunner {
        PlanRunner(
            plan: run, by: programs, readCovariates: { Covariates() },
            take: { request, _ in try await take(request) })
    }

    /// - Parameter limit: the process dies instead of taking another sample.
    private func measure(
        _ run: RunPlan, by programs: SamplePrograms? = nil, limit: Int = .max
    ) async throws -> (outcome: MeasuredRun, warnings: [String]) {
        let taken = Mutex(0)
        let runner = runner(run, by: programs) { request in
            let count = taken.withLock { count in
                count += 1
                return count
            }
            if count > limit { throw Death() }
            return try Self.answer(request)
        }
        var warnings: [String] = []
        let outcome = try await runner.run { event in
            if case .warning(let text) = event { warnings.append(text) }
        }
        return (outcome, warnings)
    }

    private func part(
        _ shard: String, on host: String = "n1", _ change: (inout RunOptions) -> Void = { _ in }
    ) throws -> RunPlan {
        var options = whole.options
        options.host = host
        options.calibration = Fixture.kernel
        change(&options)
        return try RunPlan(specs: whole.specs, options: options).part(try #require(Shard(shard)))
    }

    private func name(_ shard: String) -> String { whole.part(Shard(shard)!).options.runID }

    private var digest: String { String(name("1/1").prefix(12)) }

    private func path(_ shard: String) -> String { "\(folder)/\(name(shard))" }

    // MARK: Merging

    private func merged(_ paths: [String], allowsMissing: Bool = false) throws(InputErrors) -> PartsMerge {
        try PartsMerge(paths, allowsMissing: allowsMissing) { (["opbench"] + $0).joined(separator: " ") }
    }

    private func refusals(_ paths: [String]) -> [String] {
        do {
            _ = try merged(paths)
            return []
        } catch {
            return error.errors.map(\.description)
        }
    }

    private func rows(_ path: String) throws -> [SampleRow] {
        try CSVFile.read(SampleRow.self, file: "\(path)/samples.csv")
    }

    /// The values that do not depend on when, where and in which order a row was measured.
    private func lasting(_ rows: [SampleRow]) -> [SampleRow] {
        rows.map { row in
            var row = row
            (row.timestampUTC, row.host, row.runID) = ("", "", "")
            // The load of the machine that runs the test.
            if Metric.named(row.metric)?.direction == .neutral, row.metric != "status" { row.value = nil }
            return row
        }.sorted { ("\($0.sampleID) \($0.metric) \($0.stat)") < ("\($1.sampleID) \($1.metric) \($1.stat)") }
    }

    // MARK: Tests

    @Test("Merged parts of two machines equal the run of one machine", arguments: [1, 3, 9])
    func mergedAsWhole(count: Int) async throws {
        _ = try await measure(whole)
        var paths: [String] = []
        for index in (1...count).reversed() {
            let shard = "\(index)/\(count)"
            let host = "n\(index % 2 + 1)"
            let outcome = try await measure(try part(shard, on: host)).outcome
            #expect(outcome.folder == path(shard) && outcome.facts?.isFinished == true)
            paths.append(outcome.folder)
        }
        let merge = try merged(paths)
        #expect(merge.missing.isEmpty && merge.count == count)
        let written = try merge.write(to: "\(folder)/merged", runID: "merged", arguments: ["opbench"]) { _ in }
        let (one, other) = (try rows("\(folder)/whole"), try rows("\(folder)/merged"))
        #expect(lasting(one) == lasting(other))
        #expect(written.samples == other && written.folder == "\(folder)/merged")
        #expect(other.allSatisfy { $0.runID == "merged" })
        let machines = Dictionary(grouping: other) { $0.cellID }.mapValues { Set($0.map(\.host)) }
        #expect(machines.count == whole.cells.count && machines.values.allSatisfy { $0.count == 1 })
        let histograms = try ["whole", "merged"].map {
            Set(try CSVFile.read(HistogramRow.self, file: "\(folder)/\($0)/histograms.csv"))
        }
        #expect(histograms[0] == histograms[1] && !histograms[0].isEmpty)
        let heads = try ["whole", "merged"].map {
            try String(contentsOfFile: "\(folder)/\($0)/samples.csv", encoding: .utf8).prefix { $0 != "\n" }
        }
        #expect(heads[0] == heads[1])

        let run = try RunFacts.decode("\(folder)/merged/run.json")
        let progress = run.progress
        let unsharded = try RunFacts.decode("\(folder)/whole/run.json")
        #expect(run.identity == unsharded.identity)
        #expect(run.sweep == merge.sweep && run.shard == nil && run.parts?.count == count)
        #expect(unsharded.sweep == nil && merge.sweep.hasPrefix(digest))
        #expect(progress?.state == .finished && progress?.samplesDone == unsharded.progress?.samplesDone)
        #expect(progress?.blocksDone == unsharded.progress?.blocksDone && progress?.samplesBad == 0)
        let facts = try #require(try RunFacts.read(in: "\(folder)/merged"))
        #expect(facts.hostKind == OpBenchRunner.Host.read().kind && facts.hostKinds == [OpBenchRunner.Host.read().kind])
        #expect(Set(facts.machines.compactMap(\.name)) == Set(other.map(\.host)))
        #expect(whole.cells.allSatisfy { facts.machine(of: $0.id)?.name == machines[$0.id]?.first })
    }

    @Test("A finished shard is left unchanged, byte for byte")
    func idempotent() async throws {
        _ = try await measure(try part("1/2"))
        func state() throws -> [String: String] {
            try Dictionary(
                uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: path("1/2")).map { name in
                    var facts = stat()
                    stat("\(path("1/2"))/\(name)", &facts)
                    return (name, "\(facts.st_ino) \(facts.st_mtim.tv_sec) \(facts.st_mtim.tv_nsec) \(facts.st_size)")
                })
        }
        let before = try state()
        #expect(before.keys.sorted() == ["histograms.csv", "run.json", "samples.csv"])
        for host in ["n1", "n2"] {
            let outcome = try await measure(try part("1/2", on: host), limit: 0).outcome
            #expect(outcome.facts?.isFinished == true && outcome.samplesTaken == 0 && outcome.folder == path("1/2"))
        }
        #expect(try state() == before)
    }

    @Test(
        "A machine that dies at a sample leaves an unfinished part; it resumes where it was, another one starts over",
        .slow)
    func deaths() async throws {
        let count = try part("1/2").samples.count
        #expect(count > 10)
        for limit in stride(from: 0, to: count, by: 3) {
            await #expect(throws: Death.self) { try await measure(try part("1/2"), limit: limit) }
            #expect(refusals([path("1/2")]).first?.hasPrefix("\(path("1/2")):") == true)
            let elsewhere = limit % 2 == 1
            let again = try await measure(try part("1/2", on: elsewhere ? "n2" : "n1"))
            #expect(again.outcome.samplesTaken == (elsewhere ? count : count - limit))
            #expect(again.warnings.count == (elsewhere ? 1 : 0))
            let rows = try rows(path("1/2"))
            let samples = rows.filter { $0.metric == "status" && !$0.sampleID.hasPrefix("omitted-") }.map(\.sampleID)
            #expect(samples.sorted() == (try part("1/2").samples.map(\.id).sorted()), "each once")
            #expect(Set(rows.map(\.host)) == [elsewhere ? "n2" : "n1"])
            try FileManager.default.removeItem(atPath: path("1/2"))
        }
    }

    @Test("However a killed process tore files, the part is complete in the end")
    func torn() async throws {
        for file in ["samples.csv", "histograms.csv", "run.json"] {
            for cut in [0, 1, 200, 1500] {
                await #expect(throws: Death.self) { try await measure(try part("1/2"), limit: 8) }
                truncate("\(path("1/2"))/\(file)", cut)
                _ = try await measure(try part("1/2"))
                _ = try await measure(try part("2/2", on: "n2"))
                #expect(refusals([path("1/2"), path("2/2")]).isEmpty, "\(file) cut at \(cut)")
                try FileManager.default.removeItem(atPath: path("1/2"))
            }
        }
    }

    @Test("If two processes measure one shard at once, on one machine or two, the second is rejected")
    func lock() async throws {
        let refused = Mutex<[String]>([])
        let runner = runner(try part("1/2")) { request in
            for host in ["n1", "n2"] {
                do {
                    _ = try await measure(try part("1/2", on: host))
                } catch {
                    refused.withLock { $0.append("\(error)") }
                }
            }
            return try Self.answer(request)
        }
        _ = try await runner.run { _ in }
        let errors = refused.withLock(\.self)
        #expect(errors.count == 2 * (try part("1/2").samples.count))
        #expect(errors.allSatisfy { $0.contains("--output") })
        #expect(Set(try rows(path("1/2")).map(\.host)) == ["n1"])
    }

    @Test("Bad parts are rejected by name, all at once, and nothing is written")
    func badParts() async throws {
        for shard in ["1/3", "2/3", "3/3", "1/2"] { _ = try await measure(try part(shard)) }
        let one = path("1/3")
        let two = path("2/3")
        let three = path("3/3")
        let begun = "\(folder)/elsewhere/\(name("2/3"))"
        await #expect(throws: Death.self) {
            try await measure(try part("2/3") { $0.directory += "/elsewhere" }, limit: 2)
        }
        let found = [
            ("no 1/3", refusals([two, three])), ("3/3 alone", refusals([three])),
            ("1/3 twice", refusals([one, two, three, one])), ("1/2 too", refusals([one, two, three, path("1/2")])),
            ("two folders", refusals([one, two, three, folder, "\(folder)/nothing"])),
            ("2/3 begun", refusals([one, begun, three])),
        ]
        #expect(found.map { $0.1.count } == [1, 2, 1, 1, 2, 1])
        let lines = found.flatMap { name, refusals in ["\(name):"] + refusals.map { "  \($0)" } }
        let words = [folder: "FOLDER", digest: "SWEEP"]
        let golden = Golden("merge-refusals")
        golden.expect(lines.joined(separator: "\n"), "parts that do not go together", replacing: words)

        let other = try part("1/3") { $0.seed = 2 }
        let foreign = try await measure(other).outcome.folder
        let foreigners = refusals([two, three, foreign])
        #expect(foreigners.count == 1)
        golden.expect(
            foreigners[0], "a part of another sweep",
            replacing: words.merging([String(other.options.runID.prefix(12)): "OTHER"]) { $1 })
        try FileManager.default.removeItem(atPath: one)
        _ = try await measure(try part("1/3"), by: .one(SidesTests.builds.base))
        let mixed = refusals([one, two, three])
        #expect(mixed.count == 2 && mixed.allSatisfy { $0.contains("$.executable.sha256") }, "\(mixed)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(".") }.isEmpty)
    }

    @Test("A part whose rows were not copied completely is named")
    func incomplete() async throws {
        for shard in ["1/2", "2/2"] { _ = try await measure(try part(shard)) }
        let two = path("2/2")
        let rows = try rows(two)
        let lost = rows[rows.count / 2].sampleID
        func expectNamed(_ words: String, left text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(two)/samples.csv"))
            let found = refusals([path("1/2"), two])
            #expect(found.count == 1, "\(found)")
            #expect(found.allSatisfy { $0.hasPrefix("\(two)/samples.csv") && $0.contains(words) }, "\(found)")
        }
        let text = CSVFile.text(of: rows, parameters: whole.parameterNames)
        try expectNamed(
            lost, left: CSVFile.text(of: rows.filter { $0.sampleID != lost }, parameters: whole.parameterNames))
        try expectNamed("samples.csv", left: String(text.dropLast(20)))
        try FileManager.default.removeItem(atPath: "\(two)/samples.csv")
        #expect(refusals([path("1/2"), two]).count == 1)
        // The machine that measured it heals it.
        try Data(text.dropLast(20).utf8).write(to: URL(filePath: "\(two)/samples.csv"))
        _ = try await measure(try part("2/2"))
        #expect(refusals([path("1/2"), two]).isEmpty)
    }

    @Test("An incomplete merge is possible on request; the run is then marked as interrupted")
    func allowed() async throws {
        _ = try await measure(try part("2/3"))
        await #expect(throws: Death.self) { try await measure(try part("3/3"), limit: 1) }
        let merge = try merged([path("2/3"), path("3/3")], allowsMissing: true)
        #expect(merge.missing.map(\.description) == ["1/3", "3/3"] && merge.count == 1)
        #expect(throws: InputErrors.self) { try merged([path("3/3")], allowsMissing: true) }
        _ = try merge.write(to: "\(folder)/some", runID: "some", arguments: []) { _ in }
        let facts = try #require(try RunFacts.read(in: "\(folder)/some"))
        #expect(!facts.isFinished && facts.progress?.state == .cancelled)
    }

    @Test("A failed merge leaves nothing, and no run is overwritten")
    func failedMerge() async throws {
        _ = try await measure(try part("1/1"))
        let merge = try merged([path("1/1") + "/"])
        let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(throws: Death.self) {
            _ = try merge.write(to: "\(folder)/run", runID: "run", arguments: []) { _ in throw Death() }
        }
        #expect(throws: InputError.self) {
            _ = try merge.write(to: path("1/1"), runID: "run", arguments: []) { _ in }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
    }

    @Test("The sweep's name depends on everything that decides what is measured, but not on machines or times")
    func sweeps() throws {
        let own = name("1/2")
        #expect(try part("1/2").sweep == part("2/2").sweep)
        for same in [
            try part("1/2", on: "n2"),
            try part("1/2") { ($0.runID, $0.directory, $0.arguments) = ("x", "elsewhere", []) },
        ] { #expect(same.options.runID == own) }
        let others = [
            name("1/3"), try part("1/2") { $0.seed = 2 }.options.runID, try part("1/2") { $0.blocks = 3 }.options.runID,
            try part("1/2") { $0.timeoutSeconds = 31 }.options.runID,
            try part("1/2") { $0.kinds = [.check] }.options.runID, try part("1/2") { $0.isQuick = true }.options.runID,
        ]
        #expect(Set(others + [own]).count == others.count + 1)
        // Every cell is in one shard, and all shards together are the whole.
        for count in [1, 2, 3, 20] {
            let parts = (1...count).map { whole.part(Shard(index: $0, count: count)) }
            #expect(parts.flatMap(\.samples).sorted { $0.index < $1.index } == whole.samples)
            #expect(parts.flatMap { $0.shard!.cells }.sorted() == whole.cells.map(\.id).sorted())
        }
    }

    @Test("A shard without cells need not be measured")
    func emptyShards() async throws {
        let count = whole.cells.count
        var paths: [String] = []
        for index in 1...count { paths.append(try await measure(try part("\(index)/20")).outcome.folder) }
        #expect(try merged(paths).missing.isEmpty)
        let lost = "opbench run --shard 9/9 w.json --shard \(count)/20"
        #expect(refusals(Array(paths.dropLast())).contains { $0.contains(lost) })
    }
}
