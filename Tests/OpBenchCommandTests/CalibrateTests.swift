import Foundation
import OpBenchModel
import TestSupport
import Testing

/// `opbench calibrate`, and its effect on comparisons.
@Suite(.serialized)
struct CalibrateTests {
    private static let loop = """
        {"name": "loop", "summary": "s", "shape": "independent", "parameters": {"items": 1000, "work_ns": 0},
         "backends": ["serial"], "sample_kinds": ["throughput"]}
        """

    @Test("three calibrations give floors of both kinds, which raise margins", .slow)
    func floors() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.loop, to: "loop.json")
        for number in 1...3 {
            let result = try await OpBenchProcess.run(
                ["calibrate", "loop.json", "--blocks", "6", "--run-id", "c\(number)", "--no-progress"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("\nloop items=1000 work_ns=0, serial\n"), "\(result.output)")
        }
        let floors = try CSVFile.read(
            NoiseFloorRow.self, file: folder.root + "/results/calibration/noise-floors.csv")
        let times = floors.filter { $0.metric == "time" && $0.phase == "total" }
        #expect(times.map(\.comparison) == [.paired, .unpaired])
        #expect(times.map(\.runs) == [3, 3])

        for name in ["one", "other"] {
            let result = try await OpBenchProcess.run(
                ["run", "loop.json", "--run-id", name, "--no-progress"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "time", "phase": "total", "max_regression": 0}]}"#, to: "gate.json")
        let compare = ["compare", "one", "other", "--policy", "gate.json", "--format", "csv"]
        let judged = try await OpBenchProcess.run(compare, in: folder)
        #expect(judged.status == 0)
        let row = try #require(
            try folder.rows(judged.output).first { $0.metric == "time" && $0.phase == "total" })
        #expect(row.noiseFloor == times[1].noiseFloor && row.threshold == row.noiseFloor)

        // Floors of another class of host do not apply here.
        let file = "results/calibration/noise-floors.csv"
        let hostClass = try #require(times.first?.hostClass)
        try folder.write(
            try folder.read(file).replacingOccurrences(of: hostClass, with: "another machine"), to: file)
        let unknown = try await OpBenchProcess.run(compare, in: folder)
        #expect(try folder.rows(unknown.output).allSatisfy { $0.noiseFloor == nil && $0.verdict == .inconclusive })

        try folder.write("torn", to: file)
        let torn = try await OpBenchProcess.run(compare, in: folder)
        #expect(torn.status == 64 && torn.errors.contains(file))
    }
}

extension ScratchFolder {
    /// The rows of a comparison's CSV output.
    fileprivate func rows(_ text: String) throws -> [CompareRow] {
        try write(text, to: "printed.csv")
        return try CSVFile.read(CompareRow.self, file: root + "/printed.csv")
    }
}
