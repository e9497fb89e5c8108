import Foundation
import OpBenchModel
import TestSupport
import Testing

/// A program with its own backend, `Tests/Examples/pthread-queue`, used like opbench.
@Suite(.serialized)
struct DeclaredBackendTests {
    private func mine(_ words: [String], in folder: ScratchFolder) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(words, in: folder, program: OpBenchProcess.program("pthread-queue"))
    }

    /// A folder with a workload for each of those shapes.
    private func folder(_ shapes: [String: String], backends: String = #""mine", "dispatch""#) throws -> ScratchFolder {
        let folder = try ScratchFolder()
        for (shape, parameters) in shapes {
            try folder.write(
                """
                {"name": "\(shape)", "summary": "s", "shape": "\(shape)", "parameters": \(parameters),
                 "backends": [\(backends)]}
                """, to: "\(shape).json")
        }
        return folder
    }

    private static let expressed = [
        "independent": #"{"items": 300, "submission": "bulk", "work_ns": 0}"#,
        "chain": #"{"depth": 30, "chains": 2, "work_ns": 0}"#,
        "graph": #"{"kind": "diamond", "width": 5, "layers": 3, "work_ns": 0}"#,
        "wakeup": #"{"operations": 20}"#,
        "open_loop": #"{"rate": 5000, "duration_ns": 10000000}"#,
        "blocking": #"{"operations": 4, "block_ns": 10000}"#,
        "suspend_resume": #"{"operations": 200, "toggles": 2, "run_ns": 50000, "hold_ns": 50000}"#,
        "memory_fence": #"{"operations": 200}"#,
        "barriers": #"{"operations": 50, "every": 7}"#,
        "cancel_storm": #"{"operations": 50}"#,
        "observers": #"{"operations": 50}"#,
        "block_groups": #"{"groups": 5}"#,
        "asynchronous": #"{"operations": 50}"#,
    ]

    @Test("rows of every shape that the queue supports, with every metric, and reasons for the others", .slow)
    func run() async throws {
        var shapes = Self.expressed
        shapes["priority_mix"] = #"{"operations": 50}"#
        shapes["thread_priority"] = #"{"operations": 5}"#
        shapes["manual_start"] = #"{"operations": 50}"#
        let folder = try folder(shapes, backends: #""mine""#)
        let result = try await mine(
            ["run", "--quick", "--no-progress", "--run-id", "r"] + shapes.keys.sorted().map { "\($0).json" }, in: folder
        )
        #expect(result.status == 0, "\(result.errors)")
        let summary = try CSVFile.read(SummaryRow.self, file: folder.root + "/results/r/summary.csv")
        let whole = summary.filter(\.operationClass.isEmpty)
        #expect(Set(whole.map(\.backend.rawValue)) == ["mine"])
        func shape(_ cellID: String) -> String { String(cellID.prefix { $0 != " " }) }
        #expect(Set(whole.filter { $0.status == .ok }.map { shape($0.cellID) }) == Set(Self.expressed.keys))
        let samples = try CSVFile.read(SampleRow.self, file: folder.root + "/results/r/samples.csv")
        let reasons = Dictionary(
            samples.filter { $0.status == .unsupported }.map { (shape($0.cellID), $0.notes) }, uniquingKeysWith: { $1 })
        #expect(reasons.keys.sorted() == ["manual_start", "priority_mix", "thread_priority"])
        #expect(reasons["priority_mix"]?.contains("PrioritizedQueue") == true)
        #expect(reasons["thread_priority"]?.contains("ThreadPriorityQueue") == true)
        // The program has jemalloc instead of malloc, both built with opbench and alone.
        let allocations = samples.filter { $0.metric == "allocations" && shape($0.cellID) == "independent" }
        #expect(allocations.allSatisfy { $0.value ?? 0 >= Double($0.operations) } && !allocations.isEmpty)
        let held = try #require(samples.first { $0.metric == "retained_bytes" && shape($0.cellID) == "memory_fence" })
        #expect(held.value ?? 0 > Double(held.operations * 16))
        let metrics = Set(samples.filter { shape($0.cellID) == "independent" }.map(\.metric))
        #expect(metrics.isSuperset(of: ["time", "cpu_time", "start_latency", "peak_resident", "high_water"]))
    }

    @Test("it is named in lists, files and the schema; elsewhere it is unknown")
    func names() async throws {
        let folder = try folder(["chain": "{}"])
        let listed = try await mine(["list", "--backend", "mine,serial", "chain.json"], in: folder)
        #expect(listed.output.contains("mine, serial\n"), "\(listed.errors)")
        let valid = try await mine(["validate", "chain.json"], in: folder)
        #expect(valid.status == 0 && valid.output.contains("mine, dispatch"), "\(valid.errors)")
        let schema = try await mine(["describe", "workload-schema"], in: folder)
        #expect(schema.output.contains(#""mine""#) && schema.output.contains("mine: "))
        let policy = try await mine(["describe", "policy-schema"], in: folder)
        #expect(policy.output.contains(#""mine""#))
        let misspelt = try await mine(["list", "--backend", "mime", "chain.json"], in: folder)
        #expect(misspelt.status == 64 && misspelt.errors.contains(#""mine""#))
        try await OpBenchProcess.expectRefusal(
            of: ["validate", "chain.json"], naming: "chain.json:2: $.backends[0]:", in: folder,
            Golden("declared-backends"), "a backend that another program declares")
        let help = try await mine(["run", "--help"], in: folder)
        #expect(help.output.split { !$0.isLetter }.contains("mine"))
    }

    @Test("README and guide show the tested program")
    func shown() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: OpBenchProcess.root.appendingPathComponent(path), encoding: .utf8)
        }
        let code = try text("Tests/Examples/pthread-queue/Sources/pthread-queue/main.swift")
        for article in ["README.md", "Sources/opbench/opbench.docc/MeasuringYourOwn.md"] {
            #expect(try text(article).contains("```swift\n\(code)```"), "\(article)")
        }
    }

    @Test("a body of its own runs on every backend, and is unknown elsewhere")
    func body() async throws {
        let folder = try folder(
            ["independent": #"{"items": 300, "body": ["checksum", {"mix": [{"weight": 1, "body": "checksum"}]}]}"#],
            backends: #""mine", "engine", "serial""#)
        let result = try await mine(
            ["run", "--quick", "--no-progress", "--run-id", "r", "independent.json"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let rows = try CSVFile.read(SampleRow.self, file: folder.root + "/results/r/samples.csv")
        #expect(rows.allSatisfy { $0.status == .ok || $0.metric.isEmpty })
        let timed = rows.filter { $0.metric == "time" && $0.phase == "total" && $0.iteration == nil }
        #expect(Set(timed.map(\.backend.rawValue)) == ["mine", "engine", "serial"])
        #expect(Set(timed.map(\.cellID)).count == 2)
        // A recorded run needs no program that has the body.
        let shown = try await OpBenchProcess.run(["show", "r"], in: folder)
        #expect(shown.status == 0 && shown.output.contains("checksum"), "\(shown.errors)")
        let listed = try await mine(["describe"], in: folder)
        #expect(listed.output.contains("checksum"))
        for body in ["cheksum", "memory/stride:1"] {
            let refused = try await mine(["list", "--set", "body=\(body)", "independent.json"], in: folder)
            #expect(refused.status == 64 && refused.errors.contains("--set: body"), "\(refused.errors)")
        }
        let elsewhere = try await OpBenchProcess.run(
            ["run", "--backend", "engine", "--run-id", "x", "independent.json"], in: folder)
        #expect(elsewhere.status == 64 && elsewhere.errors.contains("independent.json:1: $.parameters.body[0]"))
        #expect(!folder.contents().contains("results/x"))
    }

    @Test("a trace of its own threads")
    func profile() async throws {
        let folder = try folder(["chain": #"{"depth": 20}"#], backends: #""mine""#)
        let result = try await mine(
            ["profile", "--no-progress", "--seconds", "0.02", "--kind", "trace", "--output", "out", "chain.json"],
            in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("chain depth=20"))
        let json = try folder.read("out/chain_depth=20-mine/trace.json")
        #expect(json.contains("mine 1"))
    }

    @Test("its recorded runs are compared and judged, also by opbench, which lacks the backend", .slow)
    func compare() async throws {
        let folder = try folder(["independent": #"{"items": 300, "work_ns": 0}"#])
        for id in ["a", "b"] {
            let result = try await mine(
                ["run", "--quick", "--no-progress", "--metric", "throughput", "--run-id", id, "independent.json"],
                in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        try folder.write(
            #"{"version": 1, "rules": [{"backend": "mine", "metric": "time_ratio", "max_regression": 0.1}]}"#,
            to: "policy.json")
        try folder.write(
            #"{"version": 1, "rules": [{"backend": "mine", "metric": "time", "against": "mine", "at_most": 2}]}"#,
            to: "goals.json")
        for program in [OpBenchProcess.binary, OpBenchProcess.program("pthread-queue")] {
            func run(_ words: [String]) async throws -> OpBenchProcess.Finished {
                try await OpBenchProcess.run(words, in: folder, program: program)
            }
            // One block per side: the result is inconclusive, but judged.
            let compared = try await run(["compare", "a", "b"])
            #expect(compared.status == 0 && compared.output.contains("mine"), "\(compared.errors)")
            #expect(try await run(["gate", "--baseline", "a", "--candidate", "b"]).status == 7)
            let judged = try await run(["gate", "--baseline", "a", "--candidate", "b", "--policy", "policy.json"])
            #expect(judged.status == 7 && judged.output.contains("mine"), "\(judged.errors)")
            let goals = try await run(["gate", "--candidate", "a", "--policy", "goals.json"])
            #expect([0, 7].contains(goals.status), "\(goals.errors)")
        }
        // An unknown name is still a mistake.
        try folder.write(
            #"{"version": 1, "rules": [{"backend": "mime", "metric": "time_ratio", "max_regression": 0.1}]}"#,
            to: "policy.json")
        let misspelt = try await OpBenchProcess.run(
            ["gate", "--baseline", "a", "--candidate", "b", "--policy", "policy.json"], in: folder)
        #expect(misspelt.status == 64 && misspelt.errors.contains(#""mine""#), "\(misspelt.errors)")
    }

    @Test("two builds of it, interleaved")
    func sides() async throws {
        let folder = try folder(["independent": #"{"items": 300, "work_ns": 0}"#])
        let binary = OpBenchProcess.program("pthread-queue")
        let result = try await mine(
            [
                "ab", binary, binary, "--quick", "--no-progress", "--blocks", "1", "--metric", "throughput",
                "--run-id", "r", "independent.json",
            ], in: folder)
        #expect(result.status == 0 && result.output.contains("mine"), "\(result.errors)")
        let rows = try CSVFile.read(CompareRow.self, file: folder.root + "/results/r/compare.csv")
        #expect(rows.contains { $0.backend.rawValue == "mine" && $0.verdict == .inconclusive }, "is judged")
    }
}
