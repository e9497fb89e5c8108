import Foundation
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel

/// `run --shard`, `ab --shard` and `merge` as a user types them, and other commands on a merged run.
@Suite("Shards and merged runs")
struct ShardTests {
    private let folder: ScratchFolder
    private let golden = Golden("shards")

    init() throws {
        folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": [50, 60, 70], "work_ns": 0},
             "backends": ["engine", "dispatch"], "sample_kinds": ["throughput"]}
            """, to: "w.json")
    }

    private func run(_ words: String) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.runHere(words.split(separator: " ").map(String.init), in: folder)
    }

    /// Takes samples.
    private func measure(_ words: String, _ environment: [String: String] = [:]) async throws
        -> OpBenchProcess.Finished
    {
        try await OpBenchProcess.run(
            words.split(separator: " ").map(String.init), in: folder, environment: environment)
    }

    /// The names of the finished parts in a folder, sorted.
    private func parts(_ directory: String = "parts") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(folder.root)/\(directory)")
            .filter { !$0.hasPrefix(".") }.sorted().map { "\(directory)/\($0)" }
    }

    @Test("From two machines to one run that every command accepts")
    func endToEnd() async throws {
        let first = try await measure(
            "run --quick --blocks 2 --shard 1/2 --output parts w.json", ["OPBENCH_HOST": "n1"])
        #expect(first.status == 0, "\(first.errors)")
        let one = try #require(try parts().first)
        let digest = String(one.dropFirst("parts/".count).prefix(12))
        #expect(one == "parts/\(digest)-1of2")
        #expect(["1/2", "n1", digest, one].allSatisfy(first.errors.contains), "\(first.errors)")
        let lost = try await run("merge \(one) -o results/sweep")
        #expect(lost.status == 64 && lost.output.isEmpty && !folder.contents().contains("results"))
        let command = " run --quick --blocks 2 --shard 1/2 --output parts w.json --shard 2/2\n"
        #expect(lost.errors.contains(command), "\(lost.errors)")

        let second = try await measure(
            "run --quick --blocks 2 --shard 2/2 --output parts w.json", ["OPBENCH_HOST": "n2"])
        let parts = try parts()
        #expect(second.status == 0 && second.errors.contains(parts[1]), "\(second.errors)")
        let state = try folder.states(parts[1])
        let again = try await measure(
            "run --quick --blocks 2 --shard 2/2 --output parts --format csv w.json")
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output == (try folder.read("\(parts[1])/summary.csv")))
        #expect(try folder.states(parts[1]) == state)

        let merged = try await run("merge \(parts[1]) \(parts[0])/ -o results/sweep/ --format csv")
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(["n1, n2", "results/sweep"].allSatisfy(merged.errors.contains), "\(merged.errors)")
        #expect(merged.output == (try folder.read("results/sweep/summary.csv")))
        let unsharded = try await measure("run --quick --blocks 2 --run-id whole w.json")
        #expect(unsharded.status == 0)
        #expect(try keys("sweep").symmetricDifference(keys("whole")) == [])
        let names = ["histograms.csv", "run.json", "samples.csv", "summary.csv"]
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.root)/results/sweep").sorted() == names)

        let shown = try await run("show sweep --wide")
        #expect(shown.status == 0 && shown.output.contains(digest), "\(shown.output)")
        #expect(["n1", "1/2", "n2", "2/2"].allSatisfy(shown.output.contains), "\(shown.output)")
        #expect(try await run("runs").output.contains("sweep"))
        for command in [
            "report sweep --baseline whole --open no -o page.html", "compare whole sweep", "history add sweep",
            "baseline sweep --name kept", "show \(parts[0])",
        ] {
            let result = try await run(command)
            #expect(result.status == 0, "\(command): \(result.errors)")
        }
        #expect(try folder.read("page.html").contains("n1 + n2"))
        #expect([0, 2, 5, 7].contains(try await run("gate --baseline whole --candidate sweep").status))

        let incomplete = try await run("merge --allow-missing \(parts[0]) -o results/so-far")
        #expect(incomplete.status == 0 && incomplete.errors.contains("2/2"), "\(incomplete.errors)")
        func progress(_ name: String) throws -> String? {
            RunDescription(try MeasuredRun(name, in: "\(folder.root)/results")).state
        }
        let soFar = try #require(try progress("so-far"))
        #expect(soFar != (try progress("sweep")))
        #expect(try await run("show so-far --wide").output.contains(soFar))
        #expect(try await run("report --output so-far.html so-far").status == 0)
        #expect(try folder.read("so-far.html").contains(soFar))
        try await expectRefusal(of: "history add so-far", naming: "so-far:")
    }

    @Test(
        "Two builds: both sides of a cell are measured on one machine",
        .slow)
    func sides() async throws {
        for name in ["old", "new"] {
            ExecutableFile.copy(OpBenchProcess.binary, to: "\(folder.root)/\(name)")
        }
        let options = "--quick --blocks 2 --filter items=50 --shard 1/1"
        let measured = try await measure("ab ./old ./new w.json \(options) --output parts")
        #expect(measured.status == 0, "\(measured.errors)")
        let merged = try await run("merge \(try parts()[0]) -o results/ab")
        #expect(merged.status == 0, "\(merged.errors)")
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder.root)/results/ab/samples.csv")
        #expect(Set(rows.map(\.side)) == ["base", "head"] && Set(rows.map(\.host)).count == 1)
        #expect([0, 2, 7].contains(try await run("gate --ab ab").status))
        // Other programs make another sweep.
        let changed = try await measure(
            "ab ./old ./new w.json \(options) --inject-slowdown 0.5 --set work_ns=9 --output parts")
        #expect(changed.status == 0, "\(changed.errors)")
        #expect(try parts().count == 2)
    }

    /// The identity of each row, independent of the machine, the time and the values.
    private func keys(_ name: String) throws -> Set<String> {
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder.root)/results/\(name)/samples.csv")
        // Without optional figures, ids and positions: a noisy sample is taken again.
        return Set(
            rows.filter { $0.metric == "status" || $0.metric == "time" && $0.phase == "total" }.map {
                "\($0.cellID) \($0.backend.rawValue) \($0.block) \($0.status.rawValue) \($0.metric) "
                    + "\($0.parameters.sorted { $0.key < $1.key })"
            })
    }

    @Test("An interrupted part is not merged")
    func interrupted() async throws {
        try folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 500, "work_ns": 1000000000},
             "backends": ["dispatch"], "sample_kinds": ["throughput"]}
            """, to: "w.json")
        let result = try await OpBenchProcess.run(
            ["run", "--blocks", "1", "--shard", "1/1", "--output", "parts", "w.json"], in: folder,
            environment: ["OPBENCH_HOST": "n1"]
        ) { process in
            _ = await eventuallyTrue("the run begins") { begunPart() != nil }
            kill(process, SIGTERM)
        }
        #expect(result.status == 143, "\(result.errors)")
        let begun = try #require(begunPart())
        let merged = try await run("merge \(begun) -o results/r")
        #expect(merged.status == 64 && merged.errors.contains("\(begun):"), "\(merged.errors)")
        #expect(try await run("merge --allow-missing \(begun) -o results/r").status == 64)
    }

    /// The folder of the only part, once its description exists.
    private func begunPart() -> String? {
        folder.contents().first { $0.hasPrefix("parts/") && $0.hasSuffix("-1of1/run.json") }
            .map { String($0.dropLast("/run.json".count)) }
    }

    @Test(
        "Bad input exits 64 with the names, and writes nothing",
        arguments: [
            ("run --shard 1/2", "<file>"), ("run w.json --shard 3/2", "--shard: \"3/2\" I/N"),
            ("run w.json --shard 0/2", "--shard: \"0/2\""), ("run w.json --shard 1", "--shard: \"1\""),
            ("run w.json --shard 1/2 --run-id x", "--shard --run-id --resume"),
            ("run w.json --shard 1/2 --time-budget 1m", "--shard --time-budget"),
            ("ab a b w.json --shard 1/2 --run-id x", "--shard --run-id"),
            ("ab --base-ref main w.json --shard 1/2", "--shard --base-ref"),
            ("merge nothing -o results/r", "nothing:"),
            ("merge nothing -o results/a:b", "--output: \"a:b\""), ("merge nothing", "--output"),
        ])
    func badInput(line: String, names: String) async throws {
        try await expectRefusal(of: line, naming: names)
    }

    private func expectRefusal(of line: String, naming names: String) async throws {
        try await OpBenchProcess.expectRefusal(
            of: line.split(separator: " ").map(String.init), naming: names, in: folder, golden)
    }

    // MARK: Several classes of hosts

    /// A merged run of two machines: the cell `w items=1` of the first class, `w items=2` of the second.
    private func writeMerged(_ name: String, _ classes: [String], slowdown: Double = 1) throws {
        var rows: [SampleRow] = []
        var parts: [[String: Any]] = []
        for (index, hostClass) in classes.enumerated() {
            let cell = "w items=\(index + 1)"
            for block in 0..<20 {
                for (position, backend) in [BackendID.engine, .dispatch].enumerated() {
                    let noise = 1 + Double(block * 13 % 7) / 1000
                    rows.append(
                        SampleRow(
                            runID: name, sampleID: "\(rows.count)-throughput", timestampUTC: "2026-11-20T10:00:00Z",
                            host: "n\(index + 1)", workload: "w", cellID: cell, backend: backend, block: block,
                            position: position, phase: "total", status: .ok, metric: "time", stat: "total",
                            value: 1e9 * (backend == .engine ? 0.5 * slowdown * noise : 1), operations: 1000,
                            parameters: ["items": "\(index + 1)"]))
                }
            }
            parts.append([
                "shard": "\(index + 1)/2", "started_utc": "2026-11-20T10:00:00Z",
                "calibration": ["iterations_per_ns": 1],
                "cells": [cell],
                "machine": [
                    "name": "n\(index + 1)", "cpu": "some", "cores": 2, "memory_bytes": 1, "host_class": hostClass,
                    "allocator": "jemalloc", "configuration": "release", "surroundings": ["kernel": "Linux"],
                ] as [String: Any],
            ])
        }
        var run = WrittenRun(name: name, rows: rows, hostClass: classes.joined(separator: " + "))
        run.arguments = ["opbench", "merge", "a", "b", "-o", "results/\(name)"]
        run.order = rows.map { "\($0.sampleID) \($0.backend.rawValue) block=\($0.block) \($0.cellID)" }
        run.parts = parts
        try run.write(to: "\(folder.root)/results")
    }

    @Test("Comparisons and gates judge class by class, and reject comparisons between classes", .slow)
    func classes() async throws {
        try writeMerged("base", ["A", "B"])
        try writeMerged("same", ["A", "B"])
        try writeMerged("slow", ["A", "B"], slowdown: 1.3)
        try writeMerged("swapped", ["B", "A"])
        try writeMerged("half", ["A", "C"])
        #expect(try await run("gate --baseline base --candidate same").status == 0)
        #expect(try await run("gate --baseline base --candidate slow").status == 2)
        #expect(try await run("compare base same").status == 0)
        try await expectRefusal(of: "compare base swapped", naming: "swapped: items=1 base \"B\" \"A\"")
        try await expectRefusal(of: "gate --baseline base --candidate half", naming: "half: items=2 base \"C\"")
        try await expectRefusal(of: "report base --baseline swapped --open no -o page.html", naming: "base: swapped")

        try folder.write(
            """
            {"version": 1, "min_blocks": 15,
             "rules": [{"metric": "time", "phase": "total", "backend": "engine", "cell": "w items=1", "at_most": 2,
                        "against": {"cell": "w items=2"}}]}
            """, to: "goals.json")
        try await expectRefusal(of: "gate --candidate base --policy goals.json", naming: "items=1 items=2")
        try writeMerged("one", ["A", "A"])
        #expect(try await run("gate --candidate one --policy goals.json").status == 0)
    }

    @Test("A history keeps the classes of a merged run apart; show names its machines")
    func historyOfClasses() async throws {
        try writeMerged("sweep", ["A", "B"])
        let added = try await run("history add sweep")
        #expect(added.status == 0 && ["sweep.1", "sweep.2"].allSatisfy(added.errors.contains), "\(added.errors)")
        let list = try await run("history list")
        #expect(list.output.contains("sweep.1") && list.output.contains("sweep.2"), "\(list.output)")
        let again = try await run("history add sweep")
        #expect(again.status == 0 && again.errors.contains("sweep.2"), "\(again.errors)")
        #expect(try await run("history list").output == list.output)
        let shown = try await run("show sweep --wide")
        #expect(["n1", "1/2, A", "n2", "2/2, B"].allSatisfy(shown.output.contains), "\(shown.output)")
    }
}
