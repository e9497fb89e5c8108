import Glibc
import OperationEngine

/// The bound on worker threads of all bands together (contract N13).
private let workerBound = 512
/// And the two that serve them all: the starter and the monitor.
private let threadBound = workerBound + 2

/// Far more operations than that block at once, in three bands and in many queues: as many threads come as may, and no
/// more; later all operations have run, and the surplus threads have gone.
@Sendable func boundedThreads(_: [String]) {
    let each = 300
    let (started, ended, gate) = (Count(), Count(), Gate())
    let peak = Peak()
    var queues: [OperationQueue] = []
    for priority in [0.0, 0.25, 0.5] {
        for _ in 0..<3 {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = .max
            queues.append(queue)
            for _ in 0..<each {
                let operation = BlockOperation {
                    started.add()
                    gate.wait()
                    ended.add()
                }
                operation.threadPriority = priority
                queue.addOperation(operation)
            }
        }
    }
    let all = queues.count * each
    waitUntil {
        peak.note(ProcessFacts.engineThreads)
        return started.value >= workerBound
    }
    // More that would like a thread, some of which wait for others inside the engine.
    let waiters = OperationQueue()
    for queue in queues { waiters.addOperation { queue.waitUntilAllOperationsAreFinished() } }
    for _ in 0..<100 {
        peak.note(ProcessFacts.engineThreads)
        pause(milliseconds: 2)
    }
    expect(started.value == workerBound, "\(started.value) operations have started")
    expect(peak.value == threadBound, "\(peak.value) threads of the engine at once")
    gate.open()
    waitUntil {
        peak.note(ProcessFacts.engineThreads)
        return ended.value == all
    }
    waiters.waitUntilAllOperationsAreFinished()
    expect(peak.value == threadBound, "\(peak.value) threads of the engine at once, at the end")
    waitUntilThreadsHaveGone(bands: 3)
}

/// Work that does not block brings no more threads, however high the limit or many the queues.
@Sendable func fewThreads(_ arguments: [String]) {
    let ended = Count()
    switch arguments.first {
    case "computing":
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1_000
        for index in 0..<2_000 {
            queue.addOperation {
                var state = UInt64(index)
                for _ in 0..<20_000 { state = state &* 6_364_136_223_846_793_005 &+ 1 }
                // The result is needed, so that the loop is not optimised away.
                if state != 1 { ended.add() }
            }
        }
        queue.waitUntilAllOperationsAreFinished()
    default:
        let queues = (0..<200).map { _ in OperationQueue() }
        for index in 0..<2_000 { queues[index % 200].addOperation { ended.add() } }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    }
    expect(ended.value == 2_000, "\(ended.value) operations have run")
    // A thread without work lives on for some seconds: these are all there were.
    let threads = ProcessFacts.engineThreads
    expect(threads < 100, "\(threads) threads of the engine")
}

/// The highest value noted.
final class Peak {
    private(set) var value = 0
    func note(_ count: Int) { value = max(value, count) }
}

/// Threads above the processors' number end after some seconds without work.
private func waitUntilThreadsHaveGone(bands: Int) {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    waitUntil { ProcessFacts.engineThreads <= bands * processors + 2 }
}

/// The kinds of work whose memory is looked at. Each runs about `count` operations.
private let memoryShapes: [String: @Sendable (Int) -> Void] = [
    "operations": { count in
        let queue = OperationQueue()
        for _ in 0..<count { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
    },
    "dependencies": { count in
        let queue = OperationQueue()
        for _ in 0..<count / 1000 {
            var operations = (0..<500).map { _ in BlockOperation {} }
            for index in operations.indices.dropFirst() { operations[index].addDependency(operations[index - 1]) }
            let fan = (0..<500).map { _ in BlockOperation {} }
            for operation in fan { operation.addDependency(operations[0]) }
            operations += fan
            queue.addOperations(operations, waitUntilFinished: false)
        }
        queue.waitUntilAllOperationsAreFinished()
    },
    // Everything waits at once: the queue is suspended while it is filled.
    "suspended": { count in
        let queue = OperationQueue()
        queue.isSuspended = true
        for _ in 0..<count { queue.addOperation {} }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    },
    // Many queues ask the pool for a worker while all are busy.
    "queues": { count in
        let (gate, blocker) = (Gate(), OperationQueue())
        for _ in 0..<8 { blocker.addOperation { gate.wait() } }
        let queues = (0..<count / 10).map { _ in OperationQueue() }
        for queue in queues {
            for _ in 0..<10 { queue.addOperation {} }
        }
        gate.open()
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        blocker.waitUntilAllOperationsAreFinished()
    },
    "cancelled": { count in
        let queue = OperationQueue()
        for _ in 0..<count / 1000 {
            let head = BlockOperation {}
            for _ in 0..<999 {
                let operation = BlockOperation {}
                operation.addDependency(head)
                operation.completionBlock = {}
                queue.addOperation(operation)
            }
            queue.cancelAllOperations()
            head.start()
        }
        queue.waitUntilAllOperationsAreFinished()
    },
]

/// After many operations no more memory is in use than after a few of the same kind.
@Sendable func boundedMemory(_ arguments: [String]) {
    guard arguments.count == 2, let shape = memoryShapes[arguments[0]], let count = Int(arguments[1]) else {
        fail("which of \(memoryShapes.keys.sorted()), and how many operations?")
    }
    // Far below a byte an operation at the full million; what the C library keeps per thread stays below as well.
    let slack = 192 * 1024
    shape(max(1000, count / 100))
    let before = ProcessFacts.heapBytes
    shape(count)
    // The last worker may still be on its way to sleep.
    waitUntil { ProcessFacts.heapBytes <= before + slack }
    say("\(arguments[0]): \(before) bytes in use before, \(ProcessFacts.heapBytes) after \(count) operations")
}

/// After work of every kind has ended the process does nothing at all: no thread wakes, and no processor time is used.
@Sendable func idle(_: [String]) {
    firstOperations([])
    let (gate, started) = (Gate(), Count())
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 40
    for _ in 0..<40 {
        queue.addOperation {
            started.add()
            gate.wait()
        }
    }
    started.wait(for: 40)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    _ = queue.operations.first?.waitUntilFinished(timeout: .milliseconds(1))
    waitUntilThreadsHaveGone(bands: 1)
    // The last of them may be on their way to sleep, on a busy machine for long. What wakes again and again does so in
    // every one of these times.
    var found = stillness()
    for _ in 0..<10 where !found.isStill { found = stillness() }
    say("idle: \(found.microseconds) µs of processor time, \(found.sleeps) sleeps begun")
    // A sanitizer has a thread of its own, which does not sleep for long.
    expect(found.isStill || ProcessFacts.isSanitized, "threads went to sleep; this one's sleep is one")
}

/// The sleeps and the processor time of the process in 700 ms.
private func stillness() -> (sleeps: Int, microseconds: Int, isStill: Bool) {
    var sleeps = -ProcessFacts.sleeps
    var microseconds = -ProcessFacts.processorMicroseconds
    pause(milliseconds: 700)
    microseconds += ProcessFacts.processorMicroseconds
    sleeps += ProcessFacts.sleeps
    return (sleeps, microseconds, sleeps <= 1 && microseconds < 1_000)
}
