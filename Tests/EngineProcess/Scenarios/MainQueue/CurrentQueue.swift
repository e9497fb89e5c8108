import Dispatch
import OperationEngine

import struct Foundation.Date
import class Foundation.RunLoop
import class Foundation.Thread
import class Foundation.Timer

/// The current queue on the main thread: outside of operations, in nested starts, and in run loops that run inside of
/// an operation.
@Sendable func currentQueueOnMain(_: [String]) {
    let main = OperationQueue.main
    expect(OperationQueue.current === main, "on the main thread, nothing runs")
    let byHand = Count()
    let started = BlockOperation {
        expect(OperationQueue.current === main, "started by hand on the main thread")
        byHand.add()
    }
    started.start()
    expect(byHand.value == 1 && OperationQueue.current === main, "after a start by hand")

    let nested = Count()
    let isDone = SerialLog<Bool>()
    main.addOperation {
        let timer = Timer(timeInterval: 0.001, repeats: true) { _ in
            expect(OperationQueue.current === main, "in a timer of a nested run loop")
            nested.add()
        }
        RunLoop.main.add(timer, forMode: .default)
        while nested.value < 5 { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
        timer.invalidate()
        expect(OperationQueue.current === main, "after a nested run loop")
        let inner = BlockOperation { expect(OperationQueue.current === main, "started inside of an operation") }
        inner.start()
        isDone.append(true)
    }
    // A queue of its own on the main thread, beside the main queue.
    let beside = OperationQueue()
    beside.underlyingQueue = .main
    beside.addOperation {
        expect(isOnMainThread && OperationQueue.current === beside, "a queue on DispatchQueue.main")
        isDone.append(true)
    }
    DispatchQueue.main.async {
        expect(OperationQueue.current === main, "in a block of DispatchQueue.main")
        isDone.append(true)
    }
    while isDone.entries.count < 3 { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
    expect(OperationQueue.current === main, "after all operations")
}

/// The current queue of blocks of `DispatchQueue.main`, served by any thread, and of other threads.
@Sendable func currentQueueElsewhere(_ arguments: [String]) {
    servingMain("current-queue-elsewhere", arguments) { _ in
        expect(OperationQueue.current == nil, "on a thread of its own")
        let isDone = Gate()
        DispatchQueue.main.async {
            expect(OperationQueue.current === OperationQueue.main, "in a block of DispatchQueue.main")
            isDone.open()
        }
        isDone.wait()
        let isOtherDone = Gate()
        DispatchQueue.global().async {
            expect(OperationQueue.current == nil, "on a thread of Dispatch")
            isOtherDone.open()
        }
        isOtherDone.wait()
    }
}

/// `runMain` serves everything that is on `DispatchQueue.main`: blocks, timers, synchronous calls, the main actor.
@Sendable func runMainServesDispatch(_: [String]) {
    servingMain("run-main-serves-dispatch", ["run-main"]) { _ in
        let events = Count()
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.setEventHandler {
            expect(isOnMainThread, "a timer elsewhere")
            events.add()
        }
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        timer.resume()
        events.wait(for: 20)
        timer.cancel()

        let before = events.value
        DispatchQueue.main.sync { expect(OperationQueue.current === OperationQueue.main, "in a synchronous call") }
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(1)) { events.add() }
        Task { @MainActor in
            expect(isOnMainThread, "the main actor elsewhere")
            events.add()
        }
        events.wait(for: before + 2)
    }
}

/// `runMain` on another thread, or inside of an operation: the process traps, also if the handler returns.
@Sendable func runMainMisplaced(_ arguments: [String]) {
    if arguments.contains("handled") { Misuse.handler = { say("handled: \($0)") } }
    if arguments.first == "on-other-thread" {
        Thread.detachNewThread { OperationQueue.runMain() }
        while true { RunLoop.main.run(until: .distantFuture) }
    }
    OperationQueue.main.addOperation { OperationQueue.runMain() }
    OperationQueue.runMain()
}
