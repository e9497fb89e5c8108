import EngineStressScenarios
import TestSupport
import Testing

/// A bounded part of what `scripts/stress` runs for as long as one likes: a few small rounds of every scenario.
@Suite("Stress: scenarios against the reference model", .blocking, .serialized)
struct ScenarioTests {
    @Test(
        "what the reference model allows",
        .contract("A5", "C9", "D20", "E24", "E25", "K13", "M9", "N2", "P6", "Q1", "Q3", "Q7", "Q8"),
        arguments: Scenario.all.map(\.name))
    func keepsTheModel(name: String) throws { try play(name) }

    @Test("queues dropped while a trace receiver comes and goes", .contract("X4", "P2", "Q3", "Q9"))
    func farewellsTraced() async {
        await #expect(processExitsWith: .success) {
            MisuseWatch.ownsProcess.store(true, ordering: .relaxed)
            try ScenarioTests().play("farewells")
        }
    }

    private func play(_ name: String) throws {
        let scenario = try #require(Scenario.named(name))
        let seed = announcedSeed("stress scenario \(name)")
        let size = max(40, Scale.of(scenario.testSize))
        for round in 0..<scenario.testRounds {
            let outcome = scenario.play(seed: seed &+ UInt64(round), size: size)
            #expect(outcome.violations.isEmpty, "\(name), seed \(seed &+ UInt64(round)), size \(size)")
            #expect(outcome.operations > 0)
            guard outcome.violations.isEmpty else { return }
        }
    }
}
