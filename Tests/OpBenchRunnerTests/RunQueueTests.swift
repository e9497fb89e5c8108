import CLinux
import CLinuxMeasure
import Synchronization
import TestSupport
import Testing

@testable import OpBenchBackends

@Suite("Time in the run queue", .serialized, .onOwnThreads, .enabled(if: RunQueue.isCounted))
struct RunQueueTests {
    /// Waits until the calling thread, which shares its processor, has lost it for a while.
    private static func loseProcessor() {
        let before = clinux_run_queue_ns(0)
        while clinux_run_queue_ns(0) - before < 100_000 { clinux_burn(1000) }
    }

    /// Runs on a thread of its own that shares its processor with a busy thread.
    private func sharingProcessor(_ body: @escaping @Sendable () -> Void) {
        OwnThread {
            clinux_stay_on_processor()
            let isOver = Flag()
            let other = OwnThread { while !isOver.isSet { clinux_burn(1000) } }
            body()
            isOver.set()
            other.join()
        }.join()
    }

    @Test func `a body that loses its processor was in the run queue for a part of its time without one`() {
        let queued = Atomic<Int64>(0)
        let away = Atomic<Int64>(0)
        RunQueue.begin()
        sharingProcessor {
            let start = RunQueue.bodyBegins()
            Self.loseProcessor()
            let end = RunQueue.bodyEnds()
            queued.store(end.queued - start.queued, ordering: .relaxed)
            away.store(end.time - start.time - (end.cpu - start.cpu), ordering: .relaxed)
        }
        #expect(queued.load(ordering: .relaxed) >= 100_000 && away.load(ordering: .relaxed) > 0)
    }

    @Test func `a thread's wait between two bodies is kept, with its time; one in a body is not`() throws {
        let thread = Atomic<Int32>(0)
        let begin = Atomic<Int64>(0)
        let end = Atomic<Int64>(0)
        RunQueue.begin()
        sharingProcessor {
            thread.store(clinux_gettid(), ordering: .relaxed)
            _ = RunQueue.bodyBegins()
            Self.loseProcessor()
            RunQueue.threadActs()
            begin.store(RunQueue.bodyEnds().time, ordering: .relaxed)
            Self.loseProcessor()
            end.store(RunQueue.bodyBegins().time, ordering: .relaxed)
            _ = RunQueue.bodyEnds()
        }
        let waits = try #require(RunQueue.end()).filter { $0.thread == thread.load(ordering: .relaxed) }
        let wait = try #require(waits.last)
        #expect(waits.filter { $0.end > begin.load(ordering: .relaxed) } == [wait])
        #expect(wait.end <= end.load(ordering: .relaxed) && wait.end - wait.begin >= 100_000)
        RunQueue.begin()
        #expect(try #require(RunQueue.end()).allSatisfy { $0.thread != thread.load(ordering: .relaxed) })
    }
}
