import OpBenchModel
import TestSupport
import Testing

/// Bodies of operations in real samples.
@Suite(.serialized)
struct BodyTests {
    private func run(
        _ parameters: String, _ more: [String], program: String = OpBenchProcess.binary, before words: [String] = []
    ) async throws -> (result: OpBenchProcess.Finished, rows: [SampleRow]) {
        let folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": \(parameters), "backends": ["serial"]}
            """, to: "w.json")
        let result = try await OpBenchProcess.run(
            words + ["run", "--quick", "--no-progress", "--run-id", "r", "w.json"] + more, in: folder, program: program)
        return (result, try CSVFile.read(SampleRow.self, file: folder.root + "/results/r/samples.csv"))
    }

    @Test("An item allocates as many blocks as its body says")
    func allocations() async throws {
        let (result, rows) = try await run(
            #"{"items": 1000, "body": ["cpu", {"allocate": {"count": 30, "size_bytes": 100}}]}"#,
            ["--metric", "memory"])
        #expect(result.status == 0, "\(result.errors)")
        func perItem(_ body: String) throws -> Double {
            let row = try #require(
                rows.first { $0.metric == "allocations" && $0.parameters["body"]?.hasPrefix(body) == true })
            return try #require(row.value) / 1000
        }
        // A round has a few of its own.
        #expect(try perItem("cpu") < 1)
        #expect((30..<31).contains(try perItem("allocate")))
    }

    @Test("A body that gets no memory makes its samples invalid, with the reason")
    func refused() async throws {
        let (result, rows) = try await run(
            #"{"items": 10, "body": {"memory": {"footprint_bytes": 1073741824}}}"#,
            ["--metric", "throughput"], program: "/bin/bash",
            before: ["-c", "ulimit -d 262144; exec \"$0\" \"$@\"", OpBenchProcess.binary])
        #expect(result.status == 3, "\(result.errors)")
        let row = try #require(rows.first)
        #expect(
            row.status == .invalid && row.notes.contains("memory") && row.notes.contains("1073741824"), "\(row.notes)")
    }
}
