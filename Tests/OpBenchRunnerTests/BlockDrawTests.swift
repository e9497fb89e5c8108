import Foundation
import OpBenchModel
import Synchronization
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

/// The draw of a block, and its users.
@Suite struct BlockDrawTests {
    /// Small cells of all shapes that use draws.
    static let drawing = [
        ("open_loop", #"{"rate": 20000, "duration_ns": 1000000}"#),
        ("priority_mix", #"{"operations": 20}"#),
        ("thread_priority", #"{"operations": 20}"#),
        ("cancel_storm", #"{"operations": 20}"#),
        ("graph", #"{"kind": "layered_random", "width": 10, "layers": 3}"#),
    ]

    private func plan(
        _ shape: String, _ parameters: String, folder: String = "", isResumed: Bool = false
    ) throws -> RunPlan {
        var options = RunOptions(blocks: 3, directory: folder, runID: "run", resume: isResumed)
        options.hasSides = true
        let spec = try Fixture.spec(shape, parameters, backends: ["engine", "foundation", "dispatch"])
        return try RunPlan(specs: [spec], options: options)
    }

    /// Everything in a plan that depends on the draw.
    private func draw(_ plan: WorkloadPlan) -> [String] {
        [
            "\(plan.pacing as Any)", "\(plan.classes as Any)", "\(plan.graph as Any)", "\(plan.cancellation as Any)",
        ]
    }

    private func draw(_ cell: Cell) -> [String] { draw(WorkloadPlan(cell)) }

    @Test(arguments: drawing)
    func `each block has its own draw, the same for all backends and sides`(
        shape: String, parameters: String
    ) throws {
        let samples = try plan(shape, parameters).samples.filter { $0.kind != .memory }
        #expect(Set(samples.map(\.backend)).count > 1 && Set(samples.map(\.side)) == [.base, .head])
        let draws = Dictionary(grouping: samples, by: \.block).mapValues { Set($0.map { draw($0.drawnCell) }) }
        #expect(draws.keys.sorted() == [0, 1, 2] && draws.values.allSatisfy { $0.count == 1 })
        #expect(Set(draws.values).count == 3)
        #expect(draws[0] == [draw(samples[0].cell)])
        #expect(Set(samples.map { WorkloadPlan($0.drawnCell).operationCount }).count == 1)
    }

    @Test func `a block draws like a workload with its seed`() throws {
        let third = try plan("priority_mix", #"{"operations": 20, "seed": 5}"#).samples.filter { $0.block == 2 }
        let other = try Fixture.cell("priority_mix", #"{"operations": 20, "seed": 7}"#)
        #expect(third.filter { $0.kind != .memory }.allSatisfy { $0.drawnCell == other })
    }

    @Test(arguments: drawing)
    func `memory samples have the same draw in all blocks`(shape: String, parameters: String) throws {
        let samples = try plan(shape, parameters).samples.filter { $0.kind == .memory }
        #expect(samples.allSatisfy { $0.drawnCell == $0.cell })
    }

    @Test func `samples' processes get their block's draw, also in repeats, and the rows have the cell's own seed`()
        async throws
    {
        let folder = try Fixture.folder()
        let asked = Mutex<[Cell]>([])
        let readings = Mutex(0)
        func runner(_ plan: RunPlan, cancelledAt end: Int) -> PlanRunner {
            PlanRunner(
                plan: plan, by: .two(SidesTests.builds),
                readCovariates: {
                    // Other processes disturb the first sample.
                    let foreign = readings.withLock { count in
                        count += 1
                        return count == 1 ? 0.0 : 1e9
                    }
                    return Covariates(foreign: foreign)
                },
                take: { request, _ in
                    let count = asked.withLock { asked in
                        asked.append(request.cell)
                        return asked.count
                    }
                    if count == end { throw CancellationError() }
                    return ChildResult(
                        ending: .exited(0), output: Array(try JSONEncoder().encode(SampleReport())), diagnostics: "")
                })
        }
        let plan = try plan("priority_mix", #"{"operations": 20}"#, folder: folder)
        _ = try await runner(plan, cancelledAt: 20).run { _ in }
        let resumed = try self.plan("priority_mix", #"{"operations": 20}"#, folder: folder, isResumed: true)
        _ = try await runner(resumed, cancelledAt: 0).run { _ in }
        // The first one is taken twice, and so is the interrupted one.
        let expected = plan.samples.map(\.drawnCell)
        #expect(asked.withLock { $0 } == [expected[0]] + expected[..<19] + expected[18...])
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder)/run/samples.csv")
        #expect(Set(rows.map(\.block)) == [0, 1, 2] && rows.allSatisfy { $0.parameters["seed"] == "1" })
    }
}
