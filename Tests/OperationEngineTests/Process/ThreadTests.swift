import OperationEngine
import TestSupport
import Testing

/// Whether this process has the rights that a scenario needs; tried once.
private enum Permission {
    /// CAP_SYS_ADMIN, in a namespace of mounts of its own.
    static let hideProc = isGranted("meeting", "2", "no-proc")
    /// Root, which can become an ordinary user, whom RLIMIT_NPROC binds.
    static let becomeAnotherUser = isGranted("refused-threads", "8")
    /// CAP_SYS_NICE or RLIMIT_NICE.
    static let raisePriority = isGranted("nice-values", "privileged")

    private static func isGranted(_ scenario: String, _ arguments: String...) -> Bool {
        (try? ScenarioRun(scenario, arguments).isRefused) == false
    }
}

@Suite("N13: what the monitor sees", .blocking, .serialized)
struct MonitorTests {
    @Test(
        "N13: work that does not block grows the pool no more beside processes that keep all processors busy",
        .disabled(if: Scale.isSanitized, "who sleeps for a lock of the sanitizer looks as if blocked"),
        arguments: [("0", "0"), ("10", "0"), ("0", "10")], ["turns", "blocks"])
    func besideBusyProcesses(nices: (others: String, own: String), order: String) throws {
        for _ in 0..<4 {
            try passes("beside-hogs", "\(Scale.of(300_000))", "2000", order, nices.others, nices.own, "16")
        }
    }

    @Test(
        "N13: operations that wait for each other meet where no descriptor is free, and after all were closed and reused",
        arguments: ["usual", "no-descriptors", "closed-and-reused"], [8, 64])
    func descriptors(surroundings: String, count: Int) throws {
        try passes("meeting", "\(count)", surroundings)
    }

    @Test("N13: they meet where no file may be opened at all, one after the other, and that is said once")
    func noFilesAllowed() throws {
        try passes("meeting", "8", "no-files-allowed")
    }

    @Test(
        "N13: they meet without /proc, which is said once; and as ever where /proc has gone later",
        .enabled(if: Permission.hideProc, "needs the right to mount"), arguments: ["no-proc", "proc-lost"])
    func noProc(surroundings: String) throws {
        try passes("meeting", "8", surroundings)
    }
}

@Suite(
    "Threads that the system refuses", .blocking,
    .enabled(if: Permission.becomeAnotherUser, "needs root, to become a user whose threads can be limited"),
    .disabled(if: Scale.isSanitized, "a sanitizer has threads of its own, which count too"))
struct RefusedThreadTests {
    @Test("O6: with few threads to be had, what is to be had does the work of all queues and bands", arguments: 2...6)
    func few(count: Int) throws {
        try passes("refused-threads", "\(count)")
    }

    @Test("R: without any thread the handler is told, once, and a wait goes on until there are threads")
    func none() throws {
        try passes("no-threads")
    }

    @Test("R: without any thread the default handler prints the message, in every build, and goes on")
    func noneByDefault() throws {
        let run = try ScenarioRun("no-threads", ["default"])
        let message = Misuse.threadRefused(threads: 0, reason: "Resource temporarily unavailable").description
        #expect(run.hasPassed && run.errors == "OperationEngine: \(message)\n", "\(run)")
    }
}

@Suite("H: nice values of a process that is nice", .blocking)
struct NiceProcessTests {
    @Test(
        "H4 H6 H7: without privileges nice values are relative to the main thread's, and effectiveThreadPriority says so",
        arguments: ["0", "5", "19"])
    func unprivileged(nice: String) throws {
        try passes("nice-values", "unprivileged", launcher: ["nice", "-n", nice])
    }

    @Test(
        "H4 H6 H7: with privileges, too, and not to those of the thread that used the engine first",
        .enabled(if: Permission.raisePriority, "needs the right to raise priorities"),
        arguments: ["0", "5", "19", "-10"])
    func privileged(nice: String) throws {
        try passes("nice-values", "privileged", launcher: ["nice", "-n", nice])
    }
}
