import OperationEngine
import Synchronization
import TestSupport

/// Two threads that install trace receivers and remove them, over and over, some in their own calls (contract X4).
final class Tracing: @unchecked Sendable {
    private let program: Program
    private let isOver = Atomic<Bool>(false)
    private let live = LiveCount()
    private var threads: [OwnThread] = []

    init(_ program: Program) {
        self.program = program
        guard program.profile.isTraced, MisuseWatch.ownsProcess.load(ordering: .relaxed) else { return }
        threads = (0..<2).map { thread in
            let generator = program.run.generator(90 + thread)
            return OwnThread { [self] in installAndRemove(generator) }
        }
    }

    private func installAndRemove(_ generator: SeededGenerator) {
        var (random, looks) = (generator, 0)
        while !isOver.load(ordering: .relaxed) {
            let receivers = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Receiver(program.run, live, removesItself: random.hits(20))
            }
            for receiver in receivers {
                OperationTrace.install(receiver, for: random.hits(50) ? .all : .operations)
                if random.hits(50) { pause(&looks) }
            }
            pause(&looks)
            for receiver in receivers.shuffled(using: &random) { OperationTrace.remove(receiver) }
        }
    }

    /// All is finished: every receiver goes.
    func end() {
        isOver.store(true, ordering: .relaxed)
        for thread in threads { thread.join() }
        program.run.await { live.value == 0 }
    }

    /// Reads what it gets, while it is there.
    private final class Receiver: OperationTrace.Receiver {
        private let run: StressRun
        private let live: LiveCount
        private let removesItself: Bool
        private let sum = Atomic<Int>(0)

        init(_ run: StressRun, _ live: LiveCount, removesItself: Bool) {
            (self.run, self.live, self.removesItself) = (run, live, removesItself)
            live.add()
        }

        deinit {
            sum.store(.min, ordering: .relaxed)
            live.remove()
        }

        private func note(_ number: Int) {
            let before = sum.wrappingAdd(number & 0xFF, ordering: .relaxed).oldValue
            run.require(before >= 0, "a receiver is called that is gone (contract X4)")
            if removesItself { OperationTrace.remove(self) }
        }

        func receive(_ event: OperationTrace.OperationEvent) {
            note(event.operation?.isFinished ?? true ? event.queue.hashValue : 1)
        }

        func receive(_ event: OperationTrace.ThreadEvent) { note(event.queue.hashValue) }
    }
}
