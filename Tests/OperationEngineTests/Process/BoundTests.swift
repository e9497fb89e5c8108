import TestSupport
import Testing

@Suite("Bounds of the whole process", .blocking)
struct BoundTests {
    @Test(
        "N13 M13: never more than 512 workers and two threads that serve them, however many operations block, in many bands"
    )
    func threads() throws {
        try passes("bounded-threads", limit: HangLimit.test / 2)
    }

    @Test(
        "N13 O5: where all threads wait for operations that need one too, one report says so",
        arguments: ["queues", "tree"])
    func exhausted(way: String) throws {
        try passes("exhausted-threads", way, limit: HangLimit.test / 2)
    }

    @Test("O5: no report while what one of them waits for may still end")
    func notExhausted() throws {
        try passes("exhausted-threads", "escape", limit: HangLimit.test / 2)
    }

    @Test("N13 M13: CPU-bound work at a limit of 1000 makes no thousand threads")
    func computing() throws {
        try passes("few-threads", "computing")
    }

    @Test("M14: more queues do not mean more threads")
    func manyQueues() throws {
        try passes("few-threads", "queues")
    }

    @Test("M15: after 1,000,000 operations no more memory is in use than before")
    func memory() throws {
        try passes("bounded-memory", "operations", "\(Scale.of(1_000_000))", limit: HangLimit.test / 2)
    }

    @Test(
        "M15: no more memory is in use than before after many that depended, waited together, in many queues, cancelled",
        arguments: ["dependencies", "suspended", "queues", "cancelled"])
    func memoryOfShapes(shape: String) throws {
        try passes("bounded-memory", shape, "\(Scale.of(200_000))", limit: HangLimit.test / 2)
    }

    @Test("M13: once work has ended surplus threads end, no thread wakes, and no processor time is used")
    func idle() throws {
        try passes("idle")
    }
}
