import TestSupport
import Testing

@Suite("At the end of the process", .blocking)
struct ExitTests {
    @Test(
        "main returns, or exit is called, with operations in every state: the process ends",
        arguments: ["return", "exit"])
    func inFlight(how: String) throws {
        try passes("exit-in-flight", how)
    }

    @Test("an operation calls exit while main waits for it: the process ends")
    func byOperation() throws {
        try passes("exit-in-operation")
    }

    @Test("main returns while operations come and go: the process ends, and does not crash")
    func whileBusy() throws {
        for _ in 0..<Scale.of(20) { try passes("exit-while-busy") }
    }

    @Test(
        "an atexit handler adds operations and waits for them, first of all, after others, and on a worker",
        arguments: ["first", "later", "operation"])
    func handler(when: String) throws {
        let run = try ScenarioRun("at-exit", [when])
        #expect(run.hasPassed && run.errors.contains("the handler ran"), "\(run)")
    }
}
