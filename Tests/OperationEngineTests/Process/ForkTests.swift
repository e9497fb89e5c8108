import OperationEngine
import TestSupport
import Testing

@Suite(
    "Forked children", .blocking,
    .disabled(
        if: Scale.isThreadSanitized,
        "there children of a process with threads are seen to hang outside the engine, in Swift's runtime for example"))
struct ForkTests {
    @Test(
        "use in a forked child of a process that used the engine is reported to the handler, and has no effect",
        .contract("R"),
        arguments: [
            "add", "add-to-new-queue", "add-many", "add-barrier", "wait-for-operation", "wait-for-queue",
            "completion-block",
        ])
    func afterUse(attempt: String) throws {
        try passes("fork-after-use", attempt)
    }

    @Test("the default handler ends such a child with the message", .contract("R"))
    func traps() throws {
        let run = try ScenarioRun("fork-after-use-traps")
        #expect(run.hasPassed && run.errors.contains(Misuse.useAfterFork.description), "\(run)")
    }

    @Test("a forked child may read states and start operations by hand", .contract("R"))
    func reads() throws {
        try passes("fork-and-read")
    }

    @Test(
        "children forked while threads are inside the engine do not hang on locks that nobody will release",
        .contract("R"))
    func underLoad() throws {
        try passes("fork-under-load", "\(Scale.of(100))")
    }

    @Test("where an operation forks and returns in the child, its worker runs no other operation there", .contract("R"))
    func inOperation() throws {
        try passes("fork-in-operation")
    }

    @Test(
        "a forked child is not traced, and may begin to trace", .contract("X4"), arguments: ["unused", "used"])
    func traced(parent: String) throws {
        try passes("fork-traced", parent)
    }

    @Test("a process that forks before its first use may use the engine on both sides")
    func beforeUse() throws {
        try passes("fork-before-use")
    }

    @Test("a forked child that executes another program is any process")
    func executing() throws {
        try passes("fork-and-exec")
    }
}
