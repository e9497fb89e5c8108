import Glibc
import TestSupport
import Testing

/// The main queue on a real main thread, under each of those that may serve it.
@Suite("P: the main queue", .blocking)
struct MainQueueTests {
    private static let servers = ["run-loop", "run-main", "dispatch-main"]
    /// What AddressSanitizer would call leaks there is none of the engine's: `dispatchMain` ends the main thread, with
    /// whose stack the last reference to whatever its functions held is gone; and a timer of Foundation's stays.
    private static let noLeakSearch = ["ASAN_OPTIONS": "detect_leaks=0"]

    private func passes(_ scenario: String, servedBy server: String) throws {
        try OperationEngineTests.passes(
            scenario, server, environment: server == "dispatch-main" ? Self.noLeakSearch : [:])
    }

    @Test("P1 P2 M8: operations of the main queue run on the main thread, one at a time", arguments: servers)
    func many(server: String) throws {
        try passes("main-queue-many", servedBy: server)
    }

    @Test(
        "P1 E3 G4 M8: priorities and dependencies decide on the main queue too, also across queues", arguments: servers)
    func graph(server: String) throws {
        try passes("main-queue-graph", servedBy: server)
    }

    @Test("J10 J3 J7 J11: cancelling all reaches the main queue", arguments: servers)
    func cancel(server: String) throws {
        try passes("main-queue-cancel", servedBy: server)
    }

    @Test("P1: operations and blocks of DispatchQueue.main take turns", arguments: servers)
    func shares(server: String) throws {
        try passes("main-queue-shares", servedBy: server)
    }

    @Test("I4 I7 P2: completion blocks of the main queue run elsewhere", arguments: servers)
    func completion(server: String) throws {
        try passes("main-queue-completion", servedBy: server)
    }

    @Test("O6 C6 P1: waits between the main queue and others; an asynchronous one on main", arguments: servers)
    func waits(server: String) throws {
        try passes("main-queue-waits", servedBy: server)
    }

    @Test("P9 P7 P10: barriers of the main queue run on the main thread", arguments: servers)
    func barrier(server: String) throws {
        try passes("main-queue-barrier", servedBy: server)
    }

    @Test("P2 P3 B15: current on the main thread, in nested starts and nested run loops")
    func current() throws {
        try OperationEngineTests.passes("current-queue-on-main", environment: Self.noLeakSearch)
    }

    @Test("P2: current in blocks of DispatchQueue.main and on other threads", arguments: servers)
    func currentElsewhere(server: String) throws {
        try passes("current-queue-elsewhere", servedBy: server)
    }

    @Test("P1: runMain serves all that is on DispatchQueue.main")
    func runMainServesDispatch() throws {
        try OperationEngineTests.passes("run-main-serves-dispatch")
    }

    @Test(
        "P1 R: runMain in the wrong place traps, whatever the handler does",
        arguments: ["on-other-thread", "inside-operation"], [false, true])
    func runMainMisplaced(place: String, isHandled: Bool) throws {
        let run = try ScenarioRun("run-main-misplaced", isHandled ? [place, "handled"] : [place])
        // A trap is a signal, or an exit status of a sanitizer.
        #expect(run.end != .hang && run.end != .exit(0) && !run.hasPassed, "\(run)")
        #expect(run.errors.contains("runMain: only on the main thread, outside of operations"))
        #expect(run.errors.contains("handled: ") == isHandled)
    }
}
