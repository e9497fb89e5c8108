import TestSupport
import Testing

@Suite("A process of its own", .blocking)
struct ScenarioRunTests {
    @Test("the first operations of a process run on threads of the engine while main waits", .contract("M2"))
    func firstOperations() throws {
        try passes("first-operations")
    }

    @Test("a scenario that does not exist fails, and says which there are")
    func unknown() throws {
        let run = try ScenarioRun("no-such")
        #expect(run.end == .exit(1) && run.output.isEmpty && run.errors.contains("first-operations"))
    }
}
