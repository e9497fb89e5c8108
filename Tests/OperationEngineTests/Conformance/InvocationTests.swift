import OperationEngine
import TestSupport
import Testing

@Suite("L: invocation operations", .blocking)
struct InvocationTests {
    @Test(
        "a method found by name runs in the queue, and result holds what it returned", .contract("L1", "L2", "L3", "L6")
    )
    func byName() throws {
        let press = Press()
        let queue = makeQueue(limit: 1)
        let operations = try ["print:": "Bild", "weigh:": 5, "isBlank:": "", "count": nil].mapValues { $0 as Any? }
            .sorted { $0.key < $1.key }
            .map { selector, object in
                try #require(InvocationOperation(target: press, selector: selector, object: object))
            }
        queue.addOperations(operations, waitUntilFinished: true)
        #expect(try operations.map { try $0.result as? AnyHashable } == [1, true, "<Bild>", 2.5])
        #expect(press.log == ["count", "print Bild"])
    }

    @Test("the name may be made at run time", .contract("L1", "L3"))
    func nameAtRunTime() throws {
        let press = Press()
        for (text, selector) in ["a": "print", "": "isBlank"].mapValues({ $0 + ":" }) {
            let operation = try #require(InvocationOperation(target: press, selector: selector, object: text))
            operation.start()
            #expect(try operation.result as? AnyHashable == (text.isEmpty ? true : "<a>"))
        }
    }

    @Test("methods given by reference, without an argument and with one", .contract("L1", "L2", "L6"))
    func byReference() throws {
        let press = Press()
        let counting = InvocationOperation(target: press, method: Press.count)
        let weighing = InvocationOperation(target: press, method: Press.weigh, object: 5)
        let asking = InvocationOperation(target: press, method: Press.isBlank, object: "x")
        let joining = InvocationOperation(target: "a", method: String.appending(to:), object: ["b"])
        for operation in [counting, weighing, asking, joining] { operation.start() }
        #expect(try counting.result as? Int == 1)
        #expect(try weighing.result as? Double == 2.5)
        #expect(try asking.result as? Bool == false)
        #expect(try joining.result as? [String] == ["b", "a"])
    }

    @Test("an overridden method, a name of the subclass's own, and a value as target", .contract("L1", "L3"))
    func kindsOfTargets() throws {
        let press: Press = FoldingPress()
        let printing = try #require(InvocationOperation(target: press, selector: "print:", object: "a"))
        let folding = try #require(InvocationOperation(target: press, selector: "fold:", object: 3))
        let stamping = try #require(
            InvocationOperation(target: Stamp(colour: "red"), selector: "mark:", object: 4))
        makeQueue().addOperations([printing, folding, stamping], waitUntilFinished: true)
        #expect(try printing.result as? String == "folded <a>")
        #expect(try folding.result as? Int == 8)
        #expect(try stamping.result as? String == "red 4")
    }

    @Test(
        "an unknown name, the wrong number of arguments or the wrong kind of object make no operation", .contract("L4"),
        arguments: ["unknown", "unknown:", "", ":", "count:", "print", "Count", "mislabelled:", "two:arguments:"])
    func refused(selector: String) {
        for object in [nil, "a"] as [Any?] {
            #expect(InvocationOperation(target: Press(), selector: selector, object: object) == nil)
        }
    }

    @Test("the object must be what the method takes", .contract("L4"))
    func refusedObjects() {
        let press = Press()
        #expect(InvocationOperation(target: press, selector: "print:", object: 5) == nil)
        #expect(InvocationOperation(target: press, selector: "print:", object: nil) == nil)
        #expect(InvocationOperation(target: press, selector: "echo:", object: nil) == nil)
        #expect(InvocationOperation(target: press, selector: "weigh:", object: 5.0) == nil)
        #expect(InvocationOperation(target: press, selector: "count", object: "for nobody") == nil)
        #expect(InvocationOperation(target: press, selector: "fold:", object: 1) == nil)
        #expect(press.log.isEmpty)
    }

    @Test("nil as an argument, and nil as a result", .contract("L2", "L6"))
    func nilValues() throws {
        let press = Press()
        let none = try #require(InvocationOperation(target: press, selector: "wrap:", object: nil))
        let some = try #require(InvocationOperation(target: press, selector: "wrap:", object: "a"))
        let echo = try #require(InvocationOperation(target: press, selector: "echo:", object: "b"))
        makeQueue().addOperations([none, some, echo], waitUntilFinished: true)
        #expect(try none.result == nil)
        #expect(try some.result as? String == "[a]")
        #expect(try echo.result.map { "\($0)" } == "b")
    }

    @Test("result is nil until the operation is finished", .contract("L5"))
    func nilUntilFinished() throws {
        let holder = Holder()
        let operation = InvocationOperation(target: holder, method: Holder.hold)
        #expect(try operation.result == nil)
        let queue = makeQueue()
        queue.addOperation(operation)
        holder.inside.wait()
        #expect(try operation.result == nil)
        holder.release.open()
        drains(queue)
        #expect(try operation.result as? Int == 7)
    }

    @Test("main called by hand makes the call and leaves the result nil", .contract("L5", "B11"))
    func mainByHand() throws {
        let press = Press()
        let operation = InvocationOperation(target: press, method: Press.count)
        operation.main()
        #expect(try operation.result == nil)
        operation.start()
        #expect(try operation.result as? Int == 2)
    }

    @Test("an observer of isFinished finds the result there", .contract("L5", "L6"))
    func resultWhenFinished() {
        let results = Recorder<Int?>()
        let operation = InvocationOperation(target: Press(), method: Press.count)
        let observation = operation.observe(\.isFinished, options: [.prior]) { operation, _ in
            results.append(try? operation.result as? Int)
        }
        makeQueue().addOperations([operation], waitUntilFinished: true)
        operation.waitUntilFinished()
        #expect(eventually("both calls have come") { results.entries.count == 2 })
        #expect(results.entries == [nil, 1])
        observation.invalidate()
    }

    @Test("cancelled before its start, the method is not called and result throws", .contract("R", "L7"))
    func cancelledBeforeStart() {
        let press = Press()
        let queue = makeQueue(suspended: true)
        let operation = InvocationOperation(target: press, method: Press.count)
        queue.addOperation(operation)
        operation.cancel()
        #expect(throws: InvocationOperation.ResultError.cancelled) { try operation.result }
        queue.isSuspended = false
        drains(queue)
        #expect(operation.isFinished && press.log.isEmpty)
        #expect(throws: InvocationOperation.ResultError.cancelled) { try operation.result }
    }

    @Test("cancelled while the method runs, result throws although the method returned", .contract("R", "L7"))
    func cancelledWhileExecuting() throws {
        let holder = Holder()
        let operation = InvocationOperation(target: holder, method: Holder.hold)
        let queue = makeQueue()
        queue.addOperation(operation)
        holder.inside.wait()
        operation.cancel()
        holder.release.open()
        drains(queue)
        #expect(throws: InvocationOperation.ResultError.cancelled) { try operation.result }
    }

    @Test("cancelled after the end, the result stays", .contract("L7", "J2"))
    func cancelledAfterEnd() throws {
        let operation = InvocationOperation(target: Press(), method: Press.count)
        operation.start()
        operation.cancel()
        #expect(try operation.result as? Int == 1)
    }

    @Test("the result of a method that returns nothing throws, once it is finished", .contract("R", "L8"))
    func voidResult() throws {
        let operation = InvocationOperation(target: Press(), method: Press.warmUp)
        #expect(try operation.result == nil)
        operation.start()
        #expect(throws: InvocationOperation.ResultError.void) { try operation.result }
    }

    @Test(
        "result throws what the method threw, also if it was cancelled meanwhile and returns nothing",
        .contract("R", "L9"))
    func methodError() throws {
        let press = Press()
        let jamming = try #require(InvocationOperation(target: press, selector: "jam:", object: 3))
        let resting = InvocationOperation(target: press, method: Press.rest)
        final class Rejection: Sendable {
            let operation = Guarded<Operation?>(nil)
            func reject() throws {
                operation.withLock { $0.take()?.cancel() }
                throw Jam(sheet: 9)
            }
        }
        let rejection = Rejection()
        let rejecting = InvocationOperation(target: rejection, method: Rejection.reject)
        rejection.operation.withLock { $0 = rejecting }
        makeQueue(limit: 1).addOperations([jamming, resting, rejecting], waitUntilFinished: true)
        #expect(throws: Jam(sheet: 3)) { try jamming.result }
        #expect(throws: Jam(sheet: 0)) { try resting.result }
        #expect(throws: Jam(sheet: 9)) { try rejecting.result }
        #expect(rejecting.isCancelled && jamming.isFinished)
    }

    @Test("an error that result throws is no misuse: its handler is not called", .contract("R", "L7", "L8"))
    func noMisuse() async {
        await #expect(processExitsWith: .success) {
            let reports = Counter()
            Misuse.handler = { _ in reports.add() }
            let cancelled = InvocationOperation(target: Press(), method: Press.count)
            let void = InvocationOperation(target: Press(), method: Press.warmUp)
            cancelled.cancel()
            for operation in [cancelled, void] {
                operation.start()
                #expect(throws: InvocationOperation.ResultError.self) { try operation.result }
            }
            #expect(reports.value == 0)
        }
    }

    @Test("it is not asynchronous: start returns when the method has, on the same thread", .contract("L12"))
    func synchronous() throws {
        struct Place {
            func thread() -> Int32 { ThreadFacts.id }
        }
        let operation = InvocationOperation(target: Place(), method: Place.thread)
        #expect(!operation.isAsynchronous)
        operation.start()
        #expect(try operation.result as? Int32 == ThreadFacts.id)
    }
}

extension String {
    /// A method of a library type with an argument label.
    fileprivate func appending(to list: [String]) -> [String] { list + [self] }
}
