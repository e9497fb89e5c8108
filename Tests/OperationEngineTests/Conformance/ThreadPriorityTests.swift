import OperationEngine
import TestSupport
import Testing

/// Nice values are expected relative to the process's own, whatever that is.
@Suite("H: thread priority", .blocking)
struct ThreadPriorityTests {
    /// Runs an operation of this priority in a queue and gives the nice value inside main.
    private func niceInMain(_ priority: Double) -> Int32? {
        let nices = Recorder<Int32>()
        let operation = MainOperation { _ in nices.append(ThreadFacts.nice) }
        operation.threadPriority = priority
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        return nices.entries.first
    }

    /// The nice value of the main thread, which counts as 0.
    private let normal = ThreadFacts.processNice

    /// The nice value that the contract gives to a priority, before the quantisation to nine bands.
    private func exactNice(_ priority: Double) -> Double {
        let nice = Double(normal) + (priority < 0.5 ? 38 : 40) * (0.5 - priority)
        return min(max(nice, -20), 19)
    }

    @Test("0.5 by default; values outside 0…1 are clamped", .contract("H1"))
    func range() {
        let operation = Operation()
        #expect(operation.threadPriority == 0.5)
        operation.threadPriority = -3
        #expect(operation.threadPriority == 0)
        operation.threadPriority = .infinity
        #expect(operation.threadPriority == 1)
        operation.threadPriority = 0.3
        #expect(operation.threadPriority == 0.3)
        operation.threadPriority = .nan
        #expect((0...1).contains(operation.threadPriority))
    }

    @Test("a priority below the middle sets the nice value of main's thread", .contract("H2", "H6"))
    func lowered() {
        #expect(niceInMain(0.5) == normal)
        #expect(niceInMain(0) == ThreadFacts.nice(above: 19))
        #expect(niceInMain(0.25) == ThreadFacts.nice(above: 10))
    }

    @Test("nine bands, monotone, near the exact value", .contract("H6"))
    func bands() {
        var nices: [Int32] = []
        for step in 0...40 {
            let priority = Double(step) / 40
            guard let nice = niceInMain(priority) else { continue }
            nices.append(nice)
            if nice > normal || priority == 0.5 {
                // Half of a band's width, 2.5, and the rounding.
                #expect(abs(Double(nice) - exactNice(priority)) <= 3)
            }
        }
        #expect(nices.count == 41)
        #expect(zip(nices, nices.dropFirst()).allSatisfy { $0 >= $1 })
        #expect(nices.first == ThreadFacts.nice(above: 19))
        #expect(Set(nices).count <= 9)
        #expect(Set(nices).isSuperset(of: [19, 14, 10, 5, 0].map(ThreadFacts.nice(above:))))
    }

    @Test(
        "above the middle it takes effect or says that it does not", .contract("H6", "H7"),
        arguments: [0.625, 0.75, 0.875, 1.0])
    func raised(priority: Double) {
        let operation = Operation()
        operation.threadPriority = priority
        #expect(operation.threadPriority == priority)
        let nice = niceInMain(priority)
        if operation.effectiveThreadPriority > 0.5 {
            #expect(nice == Int32(exactNice(priority).rounded()))
        } else {
            #expect(operation.effectiveThreadPriority == 0.5)
            #expect(nice == normal)
        }
    }

    @Test("the effective priority shows the band", .contract("H7"))
    func effective() {
        let operation = Operation()
        for (priority, step) in [(0.0, 19), (0.01, 19), (0.25, 10), (0.26, 10), (0.5, 0), (0.49, 0)] {
            operation.threadPriority = priority
            #expect(operation.effectiveThreadPriority == ThreadFacts.effectivePriority(above: Int32(step)))
        }
    }

    @Test("the completion block runs at the main thread's nice value", .contract("H3", "H4"))
    func completionBlock() {
        let nices = Recorder<Int32>()
        let ran = Counter()
        let queue = makeQueue()
        for _ in 0..<10 {
            let operation = MainOperation()
            operation.threadPriority = 0
            operation.completionBlock = {
                nices.append(ThreadFacts.nice)
                ran.add()
            }
            queue.addOperation(operation)
        }
        ran.wait(for: 10)
        #expect(nices.entries.allSatisfy { $0 == normal })
    }

    @Test("an overridden start runs at the main thread's nice value", .contract("H4"))
    func overriddenStart() {
        final class Starting: Operation, @unchecked Sendable {
            let nices = Recorder<Int32>()
            override func start() {
                nices.append(ThreadFacts.nice)
                super.start()
            }
        }
        let operation = Starting()
        operation.threadPriority = 0
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(operation.nices.entries == [normal])
    }

    @Test("after low operations, cancelled ones among them, others run at the normal nice value again", .contract("H5"))
    func restored() {
        let queue = makeQueue(limit: 2)
        let wrong = Counter()
        let (low, normal) = (ThreadFacts.nice(above: 19), normal)
        for index in 0..<200 {
            let priority = index % 2 == 0 ? 0.0 : 0.5
            let operation = MainOperation { operation in
                if index % 4 == 0 { operation.cancel() }
                if ThreadFacts.nice != (index % 2 == 0 ? low : normal) { wrong.add() }
            }
            operation.threadPriority = priority
            queue.addOperation(operation)
        }
        drains(queue)
        #expect(wrong.value == 0)
    }

    @Test("started by hand it is not applied, and the caller's thread keeps its nice value", .contract("H8"))
    func manualStart() {
        let nices = Recorder<Int32>()
        let operation = MainOperation { _ in nices.append(ThreadFacts.nice) }
        operation.threadPriority = 0
        let before = ThreadFacts.nice
        operation.start()
        #expect(nices.entries == [before])
        #expect(ThreadFacts.nice == before)
    }

    @Test("the thread priority of a block operation applies to main's own block only", .contract("K9"))
    func blocks() {
        let nices = Recorder<Int32>()
        let meeting = Rendezvous(4)
        let operation = BlockOperation()
        for _ in 0..<4 {
            operation.addExecutionBlock {
                nices.append(ThreadFacts.nice)
                meeting.meet()
            }
        }
        operation.threadPriority = 0
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(nices.entries.sorted() == [normal, normal, normal, ThreadFacts.nice(above: 19)])
    }

    @Test("mixed thread priorities in a serial queue keep the order of the queue", .contract("H2", "G4"))
    func orderIsKept() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(60, into: log)
        for (index, operation) in operations.enumerated() { operation.threadPriority = Double(index % 5) / 8 }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == Array(0..<60))
    }
}
