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
    /// The search for leaks opens files and reads /proc, when the process ends.
    private static let noLeakSearch = ["ASAN_OPTIONS": "detect_leaks=0"]

    @Test(
        "work that does not block grows the pool no more beside processes that keep all processors busy",
        .contract("N13"), .slow,
        .disabled(if: Scale.isSanitized, "who sleeps for a lock of the sanitizer looks as if blocked"),
        arguments: [("0", "0"), ("10", "0"), ("0", "10")], ["turns", "blocks"])
    func besideBusyProcesses(nices: (others: String, own: String), order: String) throws {
        try passes("beside-hogs", "\(Scale.of(300_000))", "2000", order, nices.others, nices.own, "16")
    }

    @Test(
        "operations that wait for each other meet where no descriptor is free, and after all were closed and reused",
        .contract("N13"),
        arguments: ["usual", "no-descriptors", "closed-and-reused"], [8, 64])
    func descriptors(surroundings: String, count: Int) throws {
        try passes("meeting", "\(count)", surroundings, environment: Self.noLeakSearch)
    }

    @Test("they meet where no file may be opened at all, one after the other, and that is said once", .contract("N13"))
    func noFilesAllowed() throws {
        try passes("meeting", "8", "no-files-allowed", environment: Self.noLeakSearch)
    }

    @Test(
        "they meet without /proc, which is said once; and as ever where /proc has gone later", .contract("N13"),
        .enabled(if: Permission.hideProc, "needs the right to mount"), arguments: ["no-proc", "proc-lost"])
    func noProc(surroundings: String) throws {
        try passes("meeting", "8", surroundings, environment: Self.noLeakSearch)
    }
}

@Suite(
    "Threads that the system refuses", .blocking,
    .enabled(if: Permission.becomeAnotherUser, "needs root, to become a user whose threads can be limited"),
    .disabled(if: Scale.isSanitized, "a sanitizer has threads of its own, which count too"))
struct RefusedThreadTests {
    @Test(
        "with few threads to be had, what is to be had does the work of all queues and bands", .contract("O6"),
        arguments: 2...6)
    func few(count: Int) throws {
        try passes("refused-threads", "\(count)")
    }

    @Test("without any thread the handler is called once, and a wait continues until there are threads", .contract("R"))
    func none() throws {
        try passes("no-threads")
    }

    @Test("without any thread the default handler prints the message, in every build, and goes on", .contract("R"))
    func noneByDefault() throws {
        let run = try ScenarioRun("no-threads", ["default"])
        let message = Misuse.threadRefused(threads: 0, reason: "Resource temporarily unavailable").description
        #expect(run.hasPassed && run.errors == "OperationEngine: \(message)\n", "\(run)")
    }
}

@Suite("H: nice values of a process that is nice", .blocking)
struct NiceProcessTests {
    @Test(
        "without privileges nice values are relative to the main thread's, and effectiveThreadPriority says so",
        .contract("H4", "H6", "H7"),
        arguments: ["0", "5", "19"])
    func unprivileged(nice: String) throws {
        try passes("nice-values", "unprivileged", launcher: ["nice", "-n", nice])
    }

    @Test(
        "with privileges, too, and not to those of the thread that used the engine first", .contract("H4", "H6", "H7"),
        .enabled(if: Permission.raisePriority, "needs the right to raise priorities"),
        arguments: ["0", "5", "19", "-10"])
    func privileged(nice: String) throws {
        try passes("nice-values", "privileged", launcher: ["nice", "-n", nice])
    }
}
