import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench plan`, `run --plan` and `merge` as a user types them, and what other commands make of a merged run.
@Suite("Plans, shards and merged runs")
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

    private func run(_ words: String, _ environment: [String: String] = [:]) async throws
        -> OpBenchProcess.Finished
    {
        try await OpBenchProcess.run(
            words.split(separator: " ").map(String.init), in: folder,
            environment: environment)
    }

    private func plan(_ options: String = "--quick", to file: String = "plan.json") async throws -> String {
        let result = try await run("plan \(options) w.json -o \(file)")
        #expect(result.status == 0, "\(result.errors)")
        return try PlanFile.load(file: "\(folder.root)/\(file)", for: nil).sha256
    }

    @Test("From a plan by two machines to one run that every command takes")
    func endToEnd() async throws {
        let digest = try await plan("--quick --blocks 2 --shards 2")
        #expect(try await run("plan --quick --blocks 2 w.json").output == (try folder.read("plan.json")))
        let parts = (1...2).map { "parts/\(digest.prefix(12))-\($0)of2" }

        let first = try await run("run --plan plan.json --shard 1/2 --output parts", ["OPBENCH_HOST": "n1"])
        #expect(first.status == 0, "\(first.errors)")
        #expect(["1/2", "n1", "\(digest.prefix(12))", parts[0]].allSatisfy(first.errors.contains), "\(first.errors)")
        let lost = try await run("merge \(parts[0]) -o results/sweep")
        #expect(lost.status == 64 && lost.output.isEmpty && !folder.contents().contains("results"))
        #expect(lost.errors.contains(" run --plan \(parts[0])/plan.json --shard 2/2 --output parts\n"))

        // The very command that the merge tells, as a task of a job array.
        let slurm: [String: String] = [
            "OPBENCH_HOST": "n2", "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "2",
            "SLURM_ARRAY_TASK_MIN": "0",
            "SLURM_ARRAY_TASK_MAX": "1",
        ]
        let second = try await run("run --plan \(parts[0])/plan.json --shard auto --output parts", slurm)
        #expect(second.status == 0 && second.errors.contains(parts[1]), "\(second.errors)")
        let state = try folder.states(parts[1])
        let again = try await run("run --plan plan.json --shard 2/2 --output parts --format csv")
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output == (try folder.read("\(parts[1])/summary.csv")))
        #expect(try folder.states(parts[1]) == state)

        let merged = try await run("merge \(parts[1]) \(parts[0])/ -o results/sweep/ --format csv")
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(["n1, n2", "results/sweep"].allSatisfy(merged.errors.contains), "\(merged.errors)")
        #expect(merged.output == (try folder.read("results/sweep/summary.csv")))
        let unsharded = try await run("run --quick --blocks 2 --run-id whole w.json")
        #expect(unsharded.status == 0)
        #expect(try keys("sweep").symmetricDifference(keys("whole")) == [])
        let names = ["histograms.csv", "plan.json", "run.json", "samples.csv", "summary.csv"]
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.root)/results/sweep").sorted() == names)

        let shown = try await run("show sweep --wide")
        #expect(shown.status == 0 && shown.output.contains(digest.prefix(12)), "\(shown.output)")
        #expect(["n1", "1/2", "n2", "2/2"].allSatisfy(shown.output.contains), "\(shown.output)")
        #expect(try await run("runs").output.contains("sweep"))
        for command in [
            "report sweep --baseline whole --open no -o page.html", "compare whole sweep", "history add sweep",
            "export --format bencher sweep", "baseline save sweep --name kept", "show \(parts[0])",
        ] {
            let result = try await run(command)
            #expect(result.status == 0, "\(command): \(result.errors)")
        }
        #expect(try folder.read("page.html").contains("n1 + n2"))
        #expect([0, 2, 5, 7].contains(try await run("gate --baseline whole --candidate sweep").status))

        let incomplete = try await run("merge --allow-missing \(parts[0]) -o results/so-far")
        #expect(incomplete.status == 0 && incomplete.errors.contains("2/2"), "\(incomplete.errors)")
        func progress(_ name: String) throws -> String? {
            RunDescription(try RecordedRun(name, in: "\(folder.root)/results")).state
        }
        let soFar = try #require(try progress("so-far"))
        #expect(soFar != (try progress("sweep")))
        #expect(try await run("show so-far --wide").output.contains(soFar))
        #expect(try await run("report --output so-far.html so-far").status == 0)
        #expect(try folder.read("so-far.html").contains(soFar))
        try await expectRefusal(of: "history add so-far", naming: "so-far:")
    }

    @Test(
        "A plan of two builds: both sides of a cell are measured on one machine, by the programs that were planned",
        .slow)
    func sides() async throws {
        for name in ["old", "new"] {
            ExecutableFile.copy(OpBenchProcess.binary, to: "\(folder.root)/\(name)")
        }
        let digest = try await plan("--quick --blocks 2 --filter items=50 --base ./old --head ./new", to: "ab.json")
        #expect(try PlanFile.load(file: "\(folder.root)/ab.json", for: nil).cells.map(\.sides) == [[.base, .head]])
        let measured = try await run("run --plan ab.json --shard 1/1 --output parts")
        #expect(measured.status == 0, "\(measured.errors)")
        let merged = try await run("merge parts/\(digest.prefix(12))-1of1 -o results/ab")
        #expect(merged.status == 0, "\(merged.errors)")
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder.root)/results/ab/samples.csv")
        #expect(Set(rows.map(\.side)) == ["base", "head"] && Set(rows.map(\.host)).count == 1)
        #expect([0, 2, 7].contains(try await run("gate --ab ab").status))
        try folder.write("#!/bin/sh\n", to: "new")
        let changed = try await run("run --plan ab.json --shard 1/1 --output others")
        #expect(changed.status == 64 && changed.errors.contains("/new:"), "\(changed.errors)")
    }

    /// What each row is, whoever took it when, and whatever it showed.
    private func keys(_ name: String) throws -> Set<String> {
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder.root)/results/\(name)/samples.csv")
        // Figures that a sample may lack are left out, and ids and places: a noisy sample is taken again.
        return Set(
            rows.filter { $0.metric == "status" || $0.metric == "time" && $0.phase == "total" }.map {
                "\($0.cellID) \($0.backend.rawValue) \($0.block) \($0.status.rawValue) \($0.metric) "
                    + "\($0.parameters.sorted { $0.key < $1.key })"
            })
    }

    @Test("An interrupted part goes on where it was; no part is there before it is whole")
    func interrupted() async throws {
        try folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 500, "work_ns": 1000000000},
             "backends": ["dispatch"], "sample_kinds": ["throughput"]}
            """, to: "w.json")
        let name = "\(try await plan("--blocks 1").prefix(12))-1of1"
        let hidden = "parts/.\(name).n1/run.json"
        let result = try await OpBenchProcess.run(
            ["run", "--plan", "plan.json", "--shard", "1/1", "--output", "parts"], in: folder,
            environment: ["OPBENCH_HOST": "n1"]
        ) { process in
            _ = await eventuallyTrue("the run begins") {
                FileManager.default.fileExists(atPath: "\(folder.root)/\(hidden)")
            }
            kill(process, SIGTERM)
        }
        #expect(result.status == 143, "\(result.errors)")
        #expect(folder.contents().contains(hidden) && !folder.contents().contains("parts/\(name)"))
        let merged = try await run("merge parts/.\(name).n1 -o results/r")
        #expect(merged.status == 64 && merged.errors.contains("parts/.\(name).n1:"), "\(merged.errors)")
    }

    @Test(
        "Bad input exits 64 with the names, and writes nothing",
        arguments: [
            ("plan", "<file>"), ("plan nothing.json -o x.json", "nothing.json:"),
            ("plan w.json --shards 0", "--shards"), ("plan w.json --base a", "--base --head"),
            ("plan w.json --base no --head no -o x.json", "no:"),
            ("plan w.json --filter nothing -o x.json", "--filter: \"nothing\""),
            ("run --plan plan.json", "--plan --shard"), ("run --shard 1/2 w.json", "--shard --plan"),
            ("run --plan plan.json --shard 3/2", "--shard: \"3/2\" I/N"),
            ("run --plan plan.json --shard 0/2", "--shard: \"0/2\""),
            ("run --plan plan.json --shard 1", "--shard: \"1\""),
            ("run --plan plan.json --shard auto", "--shard: SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX"),
            ("run --plan plan.json --shard 1/2 w.json", "--plan"),
            ("run --plan plan.json --shard 1/2 --blocks 3 --backend engine", "--plan --backend --blocks"),
            ("run --plan plan.json --shard 1/2 --run-id x", "--plan --run-id --resume"),
            ("run --plan nothing.json --shard 3/2", "nothing.json: \"3/2\""),
            ("run --plan w.json --shard 1/2", "w.json:1: $:"),
            ("run --plan version.json --shard 1/2", "version.json: $.format_version:"),
            ("run --plan workload.json --shard 1/2", "workload.json: \"v\""),
            ("run --plan changed.json --shard 1/2", "changed.json:"),
            ("run --plan other.json --shard 1/2", "other.json: 0.0.1"), ("merge nothing -o results/r", "nothing:"),
            ("merge nothing -o results/a:b", "--output: \"a:b\""), ("merge nothing", "--output"),
        ])
    func badInput(line: String, names: String) async throws {
        var plan = PlanFile(
            program: .init(version: "0.0.1", commit: nil), seed: 1, isQuick: true, timeoutNanoseconds: 1,
            specs: [try WorkloadSpec.load(file: "\(folder.root)/w.json")], cells: [])
        let spec = plan.specs[0]
        plan.cells = spec.cells().map {
            .init(
                id: $0.id, workload: "w", workloadSHA256: spec.sha256, parameters: $0.parameters,
                backends: spec.backends,
                blocks: [:], samples: 1, estimatedNanoseconds: 1)
        }
        try folder.write(plan.text, to: "other.json")
        plan.program = ProgramVersion.program
        plan.program.commit = nil
        try folder.write(plan.text, to: "plan.json")
        try folder.write(plan.text.replacing("format_version\": 1", with: "format_version\": 2"), to: "version.json")
        try folder.write(plan.text.replacing("\"workload\": \"w\"", with: "\"workload\": \"v\""), to: "workload.json")
        try folder.write(plan.text.replacing("\"samples\": 1", with: "\"samples\": 2"), to: "changed.json")
        try await expectRefusal(of: line, naming: names)
    }

    private func expectRefusal(of line: String, naming names: String) async throws {
        try await OpBenchProcess.expectRefusal(
            of: line.split(separator: " ").map(String.init), naming: names, in: folder, golden,
            replacing: ["(\(ProgramVersion.program.words))": "(THIS VERSION)"])
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
                    "host": "n\(index + 1)", "kernel": "Linux", "cpu": "some", "cores": 2, "memory_bytes": 1,
                    "host_class": hostClass, "allocator": "jemalloc", "compiler": "Swift", "configuration": "release",
                ] as [String: Any],
            ])
        }
        var run = WrittenRun(name: name, rows: rows, hostClass: classes.joined(separator: " + "))
        run.arguments = ["opbench", "merge", "a", "b", "-o", "results/\(name)"]
        run.order = rows.map { "\($0.sampleID) \($0.backend.rawValue) block=\($0.block) \($0.cellID)" }
        run.parts = parts
        try run.write(to: "\(folder.root)/results")
    }

    @Test("Comparisons and gates judge class by class, and refuse to go across", .slow)
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
