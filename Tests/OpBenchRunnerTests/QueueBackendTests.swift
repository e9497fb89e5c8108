import Foundation
import OpBenchEngineBackend
import OpBenchFoundationBackend
import OpBenchModel
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

/// The engine's and Foundation's queues: one adapter, compiled for each.
@Suite struct QueueBackendTests {
    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    @Test func `the engine and Foundation have one source, a folder and a link to it`() throws {
        let link = Self.sources.appendingPathComponent("OpBenchFoundationBackend/Shared").path
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: link) == "../OpBenchEngineBackend/Shared")
    }

    @Test(arguments: Shape.allCases)
    func `both make the same kind of round of every common shape`(shape: Shape) throws {
        guard shape != .sequence, shape != .threadPriority else { return }
        let plan = try Fixture.plan(shape.rawValue)
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
        defer { body.deallocate() }
        let kinds = [EngineBackend.factory, FoundationBackend.factory].map { factory in
            let backend = factory.make(plan, body)
            backend.teardown()
            return "\(type(of: backend))"
        }
        #expect(kinds[0] == kinds[1] || kinds == ["BarrierRound", "AwaitedBarrierRound"])
    }
}
