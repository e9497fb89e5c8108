import Foundation
import OpBenchModel
import Testing

/// What `list`, `validate` and `schema` print.
struct ListingTests {
    private static let workload = """
        {"name": "w", "summary": "Two depths", "shape": "chain", "parameters": {"depth": [10, 20], "work_ns": 0},
         "backends": ["engine", "dispatch"],
         "skip": [{"backend": "dispatch", "when": {"depth": {"above": 15}}, "reason": "too deep"},
                  {"backend": "engine", "when": {"depth": 30}, "reason": "never"}]}
        """

    @Test func list() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.workload, to: "w.json")
        let result = try await OpBenchProcess.run(["list", "--blocks", "1", "w.json"], in: folder)
        #expect(
            result.output.hasPrefix(
                """
                w  chain, w.json
                Two depths
                  w depth=10 work_ns=0
                    engine, dispatch
                  w depth=20 work_ns=0
                    engine
                    dispatch skipped: too deep

                """))
        #expect(result.errors == "opbench: warning: w.json: $.skip[1] matches nothing: no cell meets its `when`\n")
        #expect(result.status == 0)
        #expect(folder.contents() == ["w.json"])
    }

    @Test func listNarrowed() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.workload, to: "w.json")
        let result = try await OpBenchProcess.run(
            [
                "list", "w.json", "--set", "depth=1,2,3", "--set", "order=reverse", "--filter", "depth=[23]",
                "--backend",
                "dispatch:notify,engine",
            ], in: folder)
        #expect(
            result.output.hasPrefix(
                """
                w  chain, w.json
                Two depths
                  w depth=2 order=reverse work_ns=0
                    dispatch:notify, engine
                  w depth=3 order=reverse work_ns=0
                    dispatch:notify, engine

                """))
        #expect(result.status == 0)
    }

    @Test func validate() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.workload, to: "w.json")
        let result = try await OpBenchProcess.run(["validate", "w.json"], in: folder)
        #expect(result.output == "w.json: ok, chain, 2 cells on engine, dispatch\n")
        #expect(result.errors == "opbench: warning: w.json: $.skip[1] matches nothing: no cell meets its `when`\n")
        #expect(result.status == 0)
    }

    @Test("the workloads that are shipped are valid, without a warning")
    func shippedWorkloads() async throws {
        let workloads = OpBenchProcess.root.appendingPathComponent("workloads")
        let files = try FileManager.default.contentsOfDirectory(atPath: workloads.path)
            .filter { $0.hasSuffix(".json") }.sorted().map { workloads.appendingPathComponent($0).path }
        #expect(!files.isEmpty)
        let result = try await OpBenchProcess.run(["validate"] + files, in: try ScratchFolder())
        #expect(result.errors == "")
        #expect(result.status == 0)
    }

    @Test("the published schema is the one that opbench prints")
    func schema() async throws {
        let result = try await OpBenchProcess.run(["schema"], in: try ScratchFolder())
        let published = OpBenchProcess.root.appendingPathComponent("workloads/schema/workload.schema.json")
        #expect(result.output == (try String(contentsOf: published, encoding: .utf8)))
        #expect(result.status == 0)
    }
}
