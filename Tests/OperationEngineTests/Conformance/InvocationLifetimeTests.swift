import OperationEngine
import TestSupport
import Testing

@Suite("L: what invocation operations hold, their typed form, subclasses", .blocking)
struct InvocationLifetimeTests {
    /// An argument that counts its release.
    final class Page {
        let released: Counter
        init(released: Counter) { self.released = released }
        deinit { released.add() }
    }

    final class Reader: InvocationTarget {
        static let invocationMethods: [String: InvocationMethod] = ["read:": InvocationMethod(Reader.read)]

        let released: Counter
        init(released: Counter) { self.released = released }
        deinit { released.add() }
        func read(_ page: Page) -> Int { page.released.value }
    }

    @Test("the invocation retains its target and its argument, and the operation returns it", .contract("L10"))
    func invocation() throws {
        let released = Counter()
        var invocation = Invocation(
            target: Reader(released: released), selector: "read:", object: Page(released: released))
        var operation = invocation.map(InvocationOperation.init(invocation:))
        let returned = try #require(operation?.invocation)
        #expect(returned.selector == "read:" && returned.target is Reader && returned.arguments.first is Page)
        #expect(returned.arguments.count == 1)
        operation = nil
        invocation = nil
        #expect(released.value == 0)
        #expect(try returned.invoke() as? Int == 0)
    }

    @Test("an invocation may be made by hand, and serve several operations", .contract("L10"))
    func invocationReused() throws {
        let press = Press()
        let invocation = Invocation(target: press, method: Press.count)
        #expect(invocation.selector == nil && invocation.arguments.isEmpty)
        #expect(try invocation.invoke() as? Int == 1)
        let operations = (0..<3).map { _ in InvocationOperation(invocation: invocation) }
        makeQueue(limit: 1).addOperations(operations, waitUntilFinished: true)
        #expect(try operations.map { try $0.result as? Int } == [2, 3, 4])
        #expect(try Invocation(target: press, method: Press.warmUp).invoke() is Void)
    }

    @Test("target and argument are retained until the operation is finished, and released then", .contract("L11"))
    func retained() throws {
        let released = Counter()
        let queue = makeQueue(suspended: true)
        let operation = try #require(
            InvocationOperation(
                target: Reader(released: released), selector: "read:", object: Page(released: released)))
        queue.addOperation(operation)
        #expect(released.value == 0 && operation.invocation != nil)
        queue.isSuspended = false
        drains(queue)
        #expect(operation.invocation == nil)
        released.wait(for: 2)
        // None was released when the method ran.
        #expect(try operation.result as? Int == 0)
    }

    @Test("a cancelled one releases both when it is finished, not before", .contract("L11", "L7"))
    func releasedWhenCancelled() {
        let released = Counter()
        let operation = InvocationOperation(
            target: Reader(released: released), method: Reader.read, object: Page(released: released))
        operation.cancel()
        #expect(released.value == 0)
        operation.start()
        #expect(released.value == 2)
    }

    @Test("an operation that is dropped unstarted releases both", .contract("L11"))
    func releasedUnstarted() {
        let released = Counter()
        _ = InvocationOperation(
            target: Reader(released: released), method: Reader.read, object: Page(released: released))
        #expect(released.value == 2)
    }

    @Test("a target that holds its operation makes no lasting cycle", .contract("L11"))
    func cycle() {
        final class Owner {
            var operation: InvocationOperation?
            let released: Counter
            init(released: Counter) { self.released = released }
            deinit { released.add() }
            func work() {}
            func begin(in queue: OperationQueue) {
                let own = InvocationOperation(target: self, method: Owner.work)
                operation = own
                queue.addOperation(own)
            }
        }
        let released = Counter()
        let queue = makeQueue()
        for _ in 0..<50 { Owner(released: released).begin(in: queue) }
        drains(queue)
        released.wait(for: 50)
    }

    @Test("the typed form gives the type of the result, and what was thrown", .contract("L13"))
    func typed() throws {
        let press = Press()
        let weighing = TypedInvocationOperation(target: press, method: Press.weigh, object: 4)
        let counting = TypedInvocationOperation(target: press, method: Press.count)
        let jamming = TypedInvocationOperation(target: press, method: Press.jam, object: 2)
        let warming = TypedInvocationOperation(target: press, method: Press.warmUp)
        let wrapping = TypedInvocationOperation(target: press, method: Press.wrap, object: nil)
        let cancelled = TypedInvocationOperation(target: press, method: Press.count)
        let all = [weighing, counting, jamming, warming, wrapping, cancelled]
        #expect(weighing.outcome == nil && jamming.outcome == nil)
        cancelled.cancel()
        makeQueue(limit: 1).addOperations(all, waitUntilFinished: true)
        let weight: Double = try #require(weighing.outcome).get()
        #expect(weight == 2)
        #expect(try counting.outcome?.get() == 1)
        #expect(throws: Jam(sheet: 2)) { try jamming.outcome?.get() }
        #expect(try warming.outcome?.get() != nil)
        #expect(try #require(wrapping.outcome).get() == nil)
        #expect(throws: InvocationOperation.ResultError.cancelled) { try cancelled.outcome?.get() }
        // As the untyped form has it.
        #expect(try weighing.result as? Double == 2)
        #expect(throws: InvocationOperation.ResultError.void) { try warming.result }
        #expect(throws: Jam(sheet: 2)) { try jamming.result }
    }

    @Test("the engine takes the typed form for an operation with a start of its own making", .contract("L13", "J9"))
    func typedKeepsStart() {
        let operation = TypedInvocationOperation(target: Press(), method: Press.count)
        operation.threadPriority = 0
        #expect(operation.effectiveThreadPriority == ThreadFacts.effectivePriority(above: 19))
    }

    @Test("a subclass may wrap the call and the result", .contract("L1", "L6", "L9"))
    func subclass() throws {
        final class Timed: InvocationOperation, @unchecked Sendable {
            let log = Recorder<String>()
            override func main() {
                log.append("begin")
                super.main()
                log.append("end")
            }
            override var result: Any? { get throws { try super.result.map { "result \($0)" } } }
        }
        let named = try #require(Timed(target: Press(), selector: "print:", object: "a"))
        let referred = Timed(target: Press(), method: Press.count)
        let failing = Timed(target: Press(), method: Press.jam, object: 1)
        makeQueue(limit: 1).addOperations([named, referred, failing], waitUntilFinished: true)
        #expect(try named.result as? String == "result <a>")
        #expect(try referred.result as? String == "result 1")
        #expect(throws: Jam(sheet: 1)) { try failing.result }
        #expect(failing.log.entries == ["begin", "end"])
    }

    @Test("a subclass whose main makes no call has no result", .contract("L5"))
    func subclassWithoutCall() throws {
        final class Silent: InvocationOperation, @unchecked Sendable {
            override func main() {}
        }
        let operation = Silent(target: Press(), method: Press.count)
        operation.start()
        #expect(try operation.isFinished && operation.result == nil)
    }

    @Test("dependents and readers of the result see what the method wrote", .contract("L6", "E24"))
    func published() throws {
        final class Account {
            var balance = 0
            func deposit(_ amount: Int) -> Int {
                balance += amount
                return balance
            }
        }
        let account = Account()
        let queues = [makeQueue(), makeQueue()]
        var previous: InvocationOperation?
        var all: [InvocationOperation] = []
        for round in 0..<200 {
            let operation = InvocationOperation(target: account, method: Account.deposit, object: 1)
            if let previous { operation.addDependency(previous) }
            queues[round % 2].addOperation(operation)
            all.append(operation)
            previous = operation
        }
        for queue in queues { drains(queue) }
        #expect(try all.map { try $0.result as? Int } == (1...200).map { $0 })
        #expect(account.balance == 200)
    }

    @Test(
        "result read and cancelled by others while it runs: nil, the value, or cancelled for good",
        .contract("L5", "L7", "J13"))
    func races() {
        for _ in 0..<Scale.of(400) {
            let queue = makeQueue()
            let operation = TypedInvocationOperation(target: Stamp(colour: "blue"), method: Stamp.mark, object: 1)
            let odd = Counter()
            onThreads(3) { thread in
                switch thread {
                case 0: queue.addOperation(operation)
                case 1: operation.cancel()
                default:
                    var last: Result<String, any Error>?
                    repeat {
                        let outcome = operation.outcome
                        if last != nil, outcome == nil { odd.add() }
                        last = outcome
                    } while !operation.isFinished
                }
            }
            drains(queue)
            let value = try? operation.outcome?.get()
            #expect(odd.value == 0)
            #expect(value == (operation.isCancelled ? nil : "blue 1"))
        }
    }

    @Test("the seeds' demo, which starts it by hand and then adds it, is a misuse", .contract("L1", "B10"))
    func seedDemo() async {
        await #expect(processExitsWith: .success) {
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let press = Press()
            let queue = makeQueue(limit: 2)
            let operation = InvocationOperation(target: press, selector: "count", object: nil)!
            operation.start()
            queue.addOperation(operation)
            synchronously { queue.waitUntilAllOperationsAreFinished() }
            #expect(press.log == ["count"] && reports.entries == [.addFinished])
        }
    }
}
