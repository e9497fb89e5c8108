import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench plan`, `run --plan` and `merge` as a user types them, and what other commands make of a merged run.
@Suite("Plans, shards and merged runs")
struct ShardTests {
    private let folder: ScratchFolder

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
        #expect(first.errors.contains("shard 1/2 of the plan \(digest.prefix(12)): ") && first.errors.contains("on n1"))
        #expect(first.errors.hasSuffix("opbench: the rows are in \(parts[0])\n"))
        let lost = try await run("merge \(parts[0]) -o results/sweep")
        #expect(lost.status == 64 && lost.output.isEmpty && !folder.contents().contains("results"))
        let command = try #require(
            lost.errors.components(separatedBy: "to measure it: ").last?.split(separator: "\n").first)
        #expect(command.hasSuffix(" run --plan \(parts[0])/plan.json --shard 2/2 --output parts"))

        // The very command that the merge tells, as a task of a job array.
        let slurm: [String: String] = [
            "OPBENCH_HOST": "n2", "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "2",
            "SLURM_ARRAY_TASK_MIN": "0",
            "SLURM_ARRAY_TASK_MAX": "1",
        ]
        let second = try await run("run --plan \(parts[0])/plan.json --shard auto --output parts", slurm)
        #expect(
            second.status == 0 && second.errors.hasSuffix("opbench: the rows are in \(parts[1])\n"), "\(second.errors)")
        let state = try folder.states(parts[1])
        let again = try await run("run --plan plan.json --shard 2/2 --output parts --format csv")
        #expect(again.status == 0 && again.errors.contains("the run is finished"))
        #expect(again.output == (try folder.read("\(parts[1])/summary.csv")))
        #expect(try folder.states(parts[1]) == state)

        let merged = try await run("merge \(parts[1]) \(parts[0])/ -o results/sweep/ --format csv")
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(
            merged.errors.contains("of the machines n1, n2")
                && merged.errors.hasSuffix("the rows are in results/sweep\n"))
        #expect(merged.output == (try folder.read("results/sweep/summary.csv")))
        let unsharded = try await run("run --quick --blocks 2 --run-id whole w.json")
        #expect(unsharded.status == 0)
        #expect(try keys("sweep").symmetricDifference(keys("whole")) == [])
        let names = ["histograms.csv", "plan.json", "run.json", "samples.csv", "summary.csv"]
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.root)/results/sweep").sorted() == names)

        let shown = try await run("show sweep --wide")
        #expect(shown.status == 0 && shown.output.contains("n1 (shard 1"), "\(shown.output)")
        #expect(shown.output.contains("plan      \(digest.prefix(12))") || shown.output.contains(digest.prefix(12)))
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
        #expect(incomplete.status == 0 && incomplete.errors.contains("shard 2/2 is missing"), "\(incomplete.errors)")
        #expect(try await run("show so-far").output.contains("merged without some shards"))
        #expect(try await run("report --output so-far.html so-far").status == 0)
        #expect(try folder.read("so-far.html").contains("merged without some shards"))
        let refused = try await run("history add so-far")
        #expect(refused.status == 64 && refused.errors.contains("merge all again"), "\(refused.errors)")
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
        #expect(changed.status == 64 && changed.errors.contains("/new: "), "\(changed.errors)")
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
             "backends": ["dispatch"], "metrics": ["throughput"]}
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
        #expect(
            result.status == 143 && result.errors.contains("to continue: the same command on this machine"),
            "\(result.errors)")
        #expect(folder.contents().contains(hidden) && !folder.contents().contains("parts/\(name)"))
        let merged = try await run("merge parts/.\(name).n1 -o results/r")
        #expect(merged.status == 64 && merged.errors.contains("this is no finished part of a plan"))
    }

    @Test(
        "Bad input exits 64 with the names, and writes nothing",
        arguments: [
            ("plan", "Missing expected argument '<file> ...'"),
            ("plan nothing.json -o x.json", "nothing.json: no such file"),
            ("plan w.json --shards 0", "--shards is 0"), ("plan w.json --base a", "--base and --head go together"),
            ("plan w.json --base no --head no -o x.json", "no: there is no such program"),
            ("plan w.json --filter nothing -o x.json", "matches no cell"),
            ("run", "Missing expected argument '<file> ...'"), ("run --plan plan.json", "--plan needs --shard"),
            ("run --shard 1/2 w.json", "--shard goes with --plan"),
            ("run --plan plan.json --shard 3/2", "--shard: \"3/2\" is out of range; write I/N"),
            ("run --plan plan.json --shard 0/2", "--shard: \"0/2\" is out of range"),
            ("run --plan plan.json --shard 1", "--shard: \"1\" is no shard"),
            ("run --plan plan.json --shard auto", "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"),
            ("run --plan plan.json --shard 1/2 w.json", "leave the files out"),
            ("run --plan plan.json --shard 1/2 --blocks 3 --backend engine", "leave --backend, --blocks out"),
            ("run --plan plan.json --shard 1/2 --run-id x", "leave --run-id and --resume out"),
            ("run --plan nothing.json --shard 3/2", "nothing.json: no such file"),
            ("run --plan nothing.json --shard 3/2", "\"3/2\" is out of range"),
            ("run --plan w.json --shard 1/2", "w.json:1: $: this is no plan of opbench"),
            ("run --plan version.json --shard 1/2", "a plan of another version than this opbench knows"),
            ("run --plan workload.json --shard 1/2", "unknown workload \"v\""),
            ("run --plan changed.json --shard 1/2", "the plan was changed after it was made"),
            ("run --plan other.json --shard 1/2", "the plan is of another opbench (0.0.1) than this one"),
            ("merge nothing -o results/r", "nothing: this is no finished part of a plan"),
            ("merge nothing -o results/a:b", "--output: \"a:b\" cannot name a run"),
            ("merge nothing", "Missing expected argument '--output <run>'"),
        ])
    func badInput(words: String, message: String) async throws {
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
        let before = folder.contents()
        let result = try await run(words)
        #expect(result.status == 64, "\(result.errors)")
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.output == "" && folder.contents() == before)
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
        let swapped = try await run("compare base swapped")
        #expect(swapped.status == 64 && swapped.output.isEmpty)
        #expect(
            swapped.errors.contains(
                "swapped: the host class of the cell \"w items=1\" is \"B\", in base it is \"A\" (and so for 1 more cells)"
            ),
            "\(swapped.errors)")
        let half = try await run("gate --baseline base --candidate half")
        #expect(half.status == 64 && half.errors.contains("the cell \"w items=2\" is \"C\""), "\(half.errors)")
        let page = try await run("report base --baseline swapped --open no -o page.html")
        #expect(page.status == 64 && !folder.contents().contains("page.html"))

        try folder.write(
            """
            {"version": 2, "min_blocks": 15,
             "rules": [{"metric": "time", "phase": "total", "backend": "engine", "cell": "w items=1", "at_most": 2,
                        "against": {"cell": "w items=2"}}]}
            """, to: "goals.json")
        let goals = try await run("gate --candidate base --policy goals.json")
        #expect(goals.status == 64 && goals.errors.contains("is held against \"w items=2\""), "\(goals.errors)")
        try writeMerged("one", ["A", "A"])
        #expect(try await run("gate --candidate one --policy goals.json").status == 0)
    }

    @Test("A history keeps the classes of a merged run apart; show names its machines")
    func historyOfClasses() async throws {
        try writeMerged("sweep", ["A", "B"])
        let added = try await run("history add sweep")
        #expect(added.status == 0, "\(added.errors)")
        #expect(added.errors.contains("added sweep.1: ") && added.errors.contains("added sweep.2: "))
        let list = try await run("history list")
        #expect(list.output.contains("sweep.1") && list.output.contains("sweep.2"), "\(list.output)")
        let again = try await run("history add sweep")
        #expect(again.status == 0 && again.errors.contains("sweep.2 is there already"))
        let shown = try await run("show sweep --wide")
        #expect(shown.output.contains("n1 (shard 1/2, A), n2 (shard 2/2, B)"), "\(shown.output)")
    }
}
