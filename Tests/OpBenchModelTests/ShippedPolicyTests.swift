import Foundation
import Testing

@testable import OpBenchModel

@Suite("The shipped policies")
struct ShippedPolicyTests {
    private static let folder = Fixtures.package.appending(path: "workloads/policies")
    static let policies = ["engine-builds.json", "engine-runs.json"]

    private func policy(_ name: String) throws -> GatePolicy {
        try GatePolicy.load(file: Self.folder.appending(path: name).path)
    }

    /// The figures by which samples of a kind are judged: metric, phase and stat.
    private static let figures: [SampleKind: [(String, String, String)]] = [
        .throughput: [("time_ratio", "total", "total"), ("time", "total", "total"), ("cpu_time", "total", "total")],
        .latency: [("submit_latency", "", "p50"), ("submit_latency", "", "p99"), ("inversions", "", "total")],
        .memory: [
            ("allocations", "total", "total"), ("allocated_bytes", "total", "total"),
            ("retained_bytes", "mark:pending", "total"),
        ],
    ]

    /// A row for each such figure of each backend in the workloads of the engine's speed.
    private func rows(of backends: Set<BackendID>? = nil) throws -> [CompareRow] {
        try WorkloadSpec.load(files: Fixtures.engine.map(\.path)).flatMap { spec in
            spec.backends.filter { backends?.contains($0) ?? true }.flatMap { backend in
                spec.metrics.flatMap { Self.figures[$0] ?? [] }.map { metric, phase, stat in
                    CompareRow(
                        cellID: spec.name, backend: backend, phase: phase, operationClass: "", metric: metric,
                        stat: stat)
                }
            }
        }
    }

    @Test("There are no others, and each names its schema")
    func all() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(names == Self.policies)
        for name in names {
            #expect(try Fixtures.text(Self.folder.appending(path: name)).contains(#""../schema/policy.schema.json""#))
        }
    }

    @Test("Every rule is the first for some figure of the engine's workloads", arguments: policies)
    func noRuleIsIdle(name: String) throws {
        let (policy, rows) = (try policy(name), try rows())
        let inForce = Set(rows.compactMap { row in policy.rules.firstIndex { $0.selector.matches(row) } })
        #expect(policy.rules.indices.filter { !inForce.contains($0) } == [])
    }

    @Test("The engine alone is judged", arguments: policies)
    func engineAlone(name: String) throws {
        let policy = try policy(name)
        #expect(try rows().filter { $0.backend != .engine && policy.rule(for: $0) != nil } == [])
    }

    @Test("Of every workload something is judged, between two builds; between two runs, unless it has latencies alone")
    func everyWorkload() throws {
        let rows = Dictionary(grouping: try rows(of: [.engine]), by: \.cellID)
        #expect(rows.count == Fixtures.engine.count)
        let (builds, runs) = (try policy("engine-builds.json"), try policy("engine-runs.json"))
        for (name, rows) in rows {
            #expect(rows.contains { builds.rule(for: $0) != nil }, "\(name)")
            let hasOnlyLatencies = rows.allSatisfy { $0.metric == "submit_latency" || $0.metric == "inversions" }
            #expect(rows.contains { runs.rule(for: $0) != nil } != hasOnlyLatencies, "\(name)")
        }
    }

    @Test("One allocation more is never allowed, nor a tenth of one", arguments: policies)
    func allocations(name: String) throws {
        let rows = try rows(of: [.engine]).filter { $0.metric == "allocations" }
        #expect(!rows.isEmpty)
        for row in rows {
            let rule = try #require(try policy(name).rule(for: row))
            #expect(rule.maxRegression == 0 && rule.minAbsolute < 0.1)
        }
    }
}
