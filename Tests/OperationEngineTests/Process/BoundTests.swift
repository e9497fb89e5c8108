import TestSupport
import Testing

@Suite("Bounds of the whole process", .blocking)
struct BoundTests {
    @Test(
        "never more than 512 workers and two threads that serve them, however many operations block, in many bands",
        .contract("N13", "M13"), .slow)
    func threads() throws {
        try passes("bounded-threads", limit: HangLimit.test / 2)
    }

    @Test(
        "where all threads wait for operations that need one too, one report says so", .contract("N13", "O5"),
        arguments: ["queues", "tree"])
    func exhausted(way: String) throws {
        try passes("exhausted-threads", way, limit: HangLimit.test / 2)
    }

    @Test("no report while what one of them waits for may still end", .contract("O5"))
    func notExhausted() throws {
        try passes("exhausted-threads", "escape", limit: HangLimit.test / 2)
    }

    @Test("CPU-bound work at a limit of 1000 makes no thousand threads", .contract("N13", "M13"))
    func computing() throws {
        try passes("few-threads", "computing")
    }

    @Test("more queues do not mean more threads", .contract("M14"))
    func manyQueues() throws {
        try passes("few-threads", "queues")
    }

    @Test("after 1,000,000 operations no more memory is in use than before", .contract("M15"))
    func memory() throws {
        try passes("bounded-memory", "operations", "\(Scale.of(1_000_000))", limit: HangLimit.test / 2)
    }

    @Test(
        "no more memory is in use than before after many that depended, waited together, in many queues, cancelled",
        .contract("M15"), .slow,
        arguments: ["dependencies", "suspended", "queues", "cancelled"])
    func memoryOfShapes(shape: String) throws {
        try passes("bounded-memory", shape, "\(Scale.of(200_000))", limit: HangLimit.test / 2)
    }

    @Test(
        "once work has ended surplus threads end, no thread wakes, and no processor time is used",
        .contract("M13"), .slow)
    func idle() throws {
        try passes("idle")
    }
}
