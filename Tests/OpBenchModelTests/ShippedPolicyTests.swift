import Foundation
import Testing

@testable import OpBenchModel

@Suite("The shipped policies")
struct ShippedPolicyTests {
    private static let folder = Fixtures.package.appending(path: "workloads/policies")
    static let policies = ["engine-builds.json", "engine-runs.json"]
    static let goals = ["engine-goals-jemalloc.json", "engine-goals-system.json"]

    private func policy(_ name: String) throws -> GatePolicy {
        try GatePolicy.load(file: Self.folder.appending(path: name).path)
    }

    /// The judged figures of each kind of sample: metric, phase and stat.
    private static let figures: [SampleKind: [(String, String, String)]] = [
        .throughput: [
            ("time_ratio", "total", "total"), ("cpu_time_ratio", "total", "total"), ("time", "total", "total"),
            ("cpu_time", "total", "total"),
        ],
        .latency: [("submit_latency", "", "p50"), ("submit_latency", "", "p99"), ("inversions", "", "total")],
        .memory: [
            ("allocations", "total", "total"), ("allocated_bytes", "total", "total"),
            ("retained_bytes", "mark:pending", "total"), ("unreleased_bytes", "mark:released", "total"),
        ],
    ]

    /// The judged figures of an open loop.
    private static let figuresOfArrivals = [
        ("intended_latency", "", "p50"), ("intended_latency", "", "p99"), ("intended_latency_ratio", "", "p50"),
        ("intended_latency_ratio", "", "p99"), ("sustained_rate", "", "rate"),
    ]

    private static let openLoops = Fixtures.more.filter { $0.lastPathComponent == "open-loop.json" }

    /// A row for each judged figure of each backend, in the workloads of the engine's speed and in an open loop.
    private func rows(of backends: Set<BackendID>? = nil) throws -> [CompareRow] {
        try WorkloadSpec.load(files: (Fixtures.engine + Self.openLoops).map(\.path)).flatMap { spec in
            spec.backends.filter { backends?.contains($0) ?? true }.flatMap { backend in
                let figures =
                    spec.shape == .openLoop
                    ? Self.figuresOfArrivals : spec.sampleKinds.flatMap { Self.figures[$0] ?? [] }
                return figures.map { metric, phase, stat in
                    CompareRow(
                        FigureName(cellID: spec.name, backend: backend, metric: metric, phase: phase, stat: stat))
                }
            }
        }
    }

    @Test("All policies are tested, and each names its schema")
    func all() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(names == (Self.policies + Self.goals + ["engine-growth.json", "engine-peers.json"]).sorted())
        for name in names {
            #expect(try Fixtures.text(Self.folder.appending(path: name)).contains(#""../schema/policy.schema.json""#))
        }
    }

    @Test("Every rule judges some figure of the engine's workloads", arguments: policies)
    func noRuleIsIdle(name: String) throws {
        let (policy, rows) = (try policy(name), try rows())
        let inForce = Set(rows.compactMap { row in policy.rules.firstIndex { $0.selector.matches(row.figure) } })
        #expect(policy.rules.indices.filter { !inForce.contains($0) } == [])
    }

    @Test("Only the engine is judged", arguments: policies)
    func engineAlone(name: String) throws {
        let policy = try policy(name)
        #expect(try rows().filter { $0.backend != .engine && policy.rule(for: $0) != nil } == [])
    }

    @Test("Every workload has a judged figure, between two builds; between two runs, unless it has only latencies")
    func everyWorkload() throws {
        let rows = Dictionary(grouping: try rows(of: [.engine]), by: \.cellID)
        #expect(rows.count == Fixtures.engine.count + 1 && Self.openLoops.count == 1)
        let (builds, runs) = (try policy("engine-builds.json"), try policy("engine-runs.json"))
        for (name, rows) in rows {
            #expect(rows.contains { builds.rule(for: $0) != nil }, "\(name)")
            let hasOnlyLatencies = rows.allSatisfy { $0.metric == "submit_latency" || $0.metric == "inversions" }
            #expect(rows.contains { runs.rule(for: $0) != nil } != hasOnlyLatencies, "\(name)")
        }
    }

    @Test("One more allocation is never allowed, nor a tenth of one", arguments: policies)
    func allocations(name: String) throws {
        let rows = try rows(of: [.engine]).filter { $0.metric == "allocations" }
        #expect(!rows.isEmpty)
        for row in rows {
            let rule = try #require(try policy(name).rule(for: row))
            #expect(rule.maxRegression == 0)
            #expect(rule.minAbsolute < 0.1)
        }
    }

    @Test(
        "The policy of CI judges the least disturbed figures of a program's queues; time has a wider margin"
    )
    func ci() throws {
        let policy = try GatePolicy.load(file: Fixtures.package.appending(path: "scripts/ci/policy.json").path)
        func judged(_ backend: String, _ metric: String) -> FigureRule? {
            policy.rule(
                for: CompareRow(
                    FigureName(
                        cellID: "w", backend: BackendID(rawValue: backend), metric: metric, phase: "total",
                        stat: "total")))
        }
        for backend in ["engine", "mine"] {
            #expect(try #require(judged(backend, "cpu_time")).maxRegression < 0.05)
            #expect(try #require(judged(backend, "allocations")).maxRegression < 0.02)
            #expect(try #require(judged(backend, "unreleased_bytes")).maxRegression < 0.02)
            // Left unjudged on a busy machine, because CPU time is judged as well.
            #expect(try #require(judged(backend, "time")).maxRegression >= 0.05)
            #expect(judged(backend, "throughput_ops") == nil)
        }
        #expect(judged("dispatch", "cpu_time") == nil)
    }

    /// The cells of workloads, each with its workload.
    private func cells(of files: [URL]) throws -> [String: (spec: WorkloadSpec, cell: Cell)] {
        try WorkloadSpec.load(files: files.map(\.path)).reduce(into: [:]) { cells, spec in
            for cell in spec.cells { cells[cell.id] = (spec, cell) }
        }
    }

    @Test("Every goal is about one cell of a shipped workload, on backends that run it", arguments: goals)
    func goalsAreOfCells(name: String) throws {
        let cells = try cells(of: Fixtures.engine)
        let goals = try policy(name).rules
        #expect(goals.count >= 60)
        for goal in goals {
            let own = BackendID(rawValue: goal.selector.backend)
            #expect(own == .engine || own.rawValue.hasPrefix("engine:"))
            let (spec, cell) = try #require(cells[goal.selector.cell], "\(goal.selector.cell)")
            var backends = [own]
            switch goal.against {
            case .fastest(let others): backends += others
            case .cell(let id): #expect(cells[id] != nil, "\(id)")
            case .baseline, nil: break
            }
            for backend in backends {
                #expect(spec.backends.contains(backend), "\(cell.id): \(backend.rawValue)")
                #expect(spec.skipRule(for: backend, in: cell) == nil, "\(cell.id): \(backend.rawValue)")
            }
            // Figures that only throughput samples report are not in the list.
            let kind = Self.figures.first { $0.value.contains { $0.0 == goal.selector.metric } }?.key
            #expect(spec.sampleKinds.contains(kind ?? .throughput), "\(cell.id)")
        }
    }

    @Test("Every workload of the engine's speed has a goal; memory has one only with jemalloc, which counts it")
    func goalsOfEveryWorkload() throws {
        func workloads(_ name: String) throws -> Set<String> {
            Set(try policy(name).rules.map { String($0.selector.cell.prefix { $0 != " " }) })
        }
        let names = Set(try WorkloadSpec.load(files: Fixtures.engine.map(\.path)).map(\.name))
        #expect(try workloads("engine-goals-jemalloc.json") == names)
        #expect(try workloads("engine-goals-system.json") == names.subtracting(["pending", "unobserved"]))
    }

    @Test("With jemalloc ratios of times to other backends may be greater by two fifths")
    func goalsByAllocator() throws {
        let system = try policy("engine-goals-system.json").rules
        var compared = 0
        for goal in try policy("engine-goals-jemalloc.json").rules where goal.selector.metric == "time" {
            guard case .fastest(let backends) = goal.against,
                !(goal.selector.cell == "tiny work_ns=0" && backends == [.dispatch])
            else { continue }
            let other = try #require(
                system.first { $0.selector == goal.selector && $0.against == goal.against },
                "\(goal.selector.cell)")
            let bounds = (try #require(goal.figure.atMost), try #require(other.figure.atMost))
            #expect(abs(bounds.0 / bounds.1 - 1.4) < 1e-4, "\(goal.selector.cell)")
            compared += 1
        }
        #expect(compared > 30)
    }

    @Test("The goals beside oneTBB compare a shipped cell each with a form of oneTBB that takes its shape")
    func peers() throws {
        let cells = try cells(of: Fixtures.engine)
        for goal in try policy("engine-peers.json").rules {
            let (spec, _) = try #require(cells[goal.selector.cell], "\(goal.selector.cell)")
            guard case .fastest(let others) = goal.against else {
                Issue.record("\(goal.selector.cell) is compared with no backend")
                continue
            }
            #expect(BackendID(rawValue: goal.selector.backend).family == "engine")
            #expect(others.allSatisfy { $0.family == "tbb" && BackendDefinition.of($0)!.takes(spec.shape) })
        }
    }

    @Test("The goals of growth compare each cell of a list with the first one")
    func growth() throws {
        let cells = try cells(of: Fixtures.growth)
        let goals = try policy("engine-growth.json").rules
        var held: Set<String> = []
        for goal in goals {
            let (spec, cell) = try #require(cells[goal.selector.cell], "\(goal.selector.cell)")
            guard case .cell(let id) = goal.against, let first = cells[id] else {
                Issue.record("\(cell.id) is compared with no cell")
                continue
            }
            #expect(first.spec.name == spec.name && spec.cells.first?.id == id)
            held.formUnion([cell.id, id])
        }
        #expect(held == Set(cells.keys))
    }
}
