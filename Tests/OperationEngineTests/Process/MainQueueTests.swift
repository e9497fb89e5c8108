import Glibc
import TestSupport
import Testing

/// The main queue on a real main thread, under each of those that may serve it.
@Suite("P: the main queue", .blocking)
struct MainQueueTests {
    private static let servers = ["run-loop", "run-main", "dispatch-main"]
    /// AddressSanitizer would report no leaks of the engine: `dispatchMain` ends the main thread, whose stack held the
    /// last references to its functions' objects; and a timer of Foundation stays.
    private static let noLeakSearch = ["ASAN_OPTIONS": "detect_leaks=0"]

    private func passes(_ scenario: String, servedBy server: String) throws {
        try OperationEngineTests.passes(
            scenario, server, environment: server == "dispatch-main" ? Self.noLeakSearch : [:])
    }

    @Test(
        "operations of the main queue run on the main thread, one at a time", .contract("P1", "P2", "M8"),
        arguments: servers)
    func many(server: String) throws {
        try passes("main-queue-many", servedBy: server)
    }

    @Test(
        "priorities and dependencies decide on the main queue too, also across queues",
        .contract("P1", "E3", "G4", "M8"), arguments: servers)
    func graph(server: String) throws {
        try passes("main-queue-graph", servedBy: server)
    }

    @Test("cancelling all reaches the main queue", .contract("J10", "J3", "J7", "J11"), arguments: servers)
    func cancel(server: String) throws {
        try passes("main-queue-cancel", servedBy: server)
    }

    @Test("operations and blocks of DispatchQueue.main take turns", .contract("P1"), arguments: servers)
    func shares(server: String) throws {
        try passes("main-queue-shares", servedBy: server)
    }

    @Test("completion blocks of the main queue run elsewhere", .contract("I4", "I7", "P2"), arguments: servers)
    func completion(server: String) throws {
        try passes("main-queue-completion", servedBy: server)
    }

    @Test(
        "waits between the main queue and others; an asynchronous one on main", .contract("O6", "C6", "P1"),
        arguments: servers)
    func waits(server: String) throws {
        try passes("main-queue-waits", servedBy: server)
    }

    @Test("barriers of the main queue run on the main thread", .contract("P9", "P7", "P10"), arguments: servers)
    func barrier(server: String) throws {
        try passes("main-queue-barrier", servedBy: server)
    }

    @Test("current on the main thread, in nested starts and nested run loops", .contract("P2", "P3", "B15"))
    func current() throws {
        try OperationEngineTests.passes("current-queue-on-main", environment: Self.noLeakSearch)
    }

    @Test("current in blocks of DispatchQueue.main and on other threads", .contract("P2"), arguments: servers)
    func currentElsewhere(server: String) throws {
        try passes("current-queue-elsewhere", servedBy: server)
    }

    @Test("runMain serves all that is on DispatchQueue.main", .contract("P1"))
    func runMainServesDispatch() throws {
        try OperationEngineTests.passes("run-main-serves-dispatch")
    }

    @Test(
        "runMain in the wrong place traps, whatever the handler does", .contract("P1", "R"),
        arguments: ["on-other-thread", "inside-operation"], [false, true])
    func runMainMisplaced(place: String, isHandled: Bool) throws {
        let run = try ScenarioRun("run-main-misplaced", isHandled ? [place, "handled"] : [place])
        // A trap is a signal, or an exit status of a sanitizer.
        #expect(run.end != .hang && run.end != .exit(0) && !run.hasPassed, "\(run)")
        #expect(run.errors.contains("runMain: only on the main thread, outside of operations"))
        #expect(run.errors.contains("handled: ") == isHandled)
    }
}
