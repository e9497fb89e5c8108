import Glibc
import OperationEngine

/// The attempts of a forked child with a queue and operations that its parent has used. Each returns whether the engine
/// behaves as if nothing had been done.
private let attempts: [String: @Sendable (InheritedWork) -> Bool] = [
    "add": { work in
        let operation = BlockOperation {}
        work.queue.addOperation(operation)
        return !operation.isFinished && !work.queue.operations.contains(operation)
    },
    "add-to-new-queue": { _ in
        let queue = OperationQueue()
        queue.addOperation {}
        return queue.operationCount == 0
    },
    "add-many": { work in
        work.queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: true)
        return work.queue.operationCount == 2
    },
    "add-barrier": { work in
        work.queue.addBarrierBlock {}
        return work.queue.operationCount == 2
    },
    "wait-for-operation": { work in
        work.blocked.waitUntilFinished()
        return !work.blocked.isFinished
    },
    "wait-for-queue": { work in !work.queue.waitUntilFinished(timeout: .seconds(3600)) },
    "completion-block": { _ in
        let operation = BlockOperation {}
        operation.completionBlock = { _exit(2) }
        operation.start()
        return operation.isFinished
    },
]

/// The operations that the parent leaves behind: one that runs, and one that waits for it.
private struct InheritedWork {
    let queue = OperationQueue()
    let blocked: BlockOperation
    let waiting = BlockOperation {}

    init(until gate: Gate) {
        let started = Gate()
        blocked = BlockOperation {
            started.open()
            gate.wait()
        }
        waiting.addDependency(blocked)
        queue.addOperations([blocked, waiting], waitUntilFinished: false)
        started.wait()
    }

    func end(_ gate: Gate) {
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        expect(waiting.isFinished, "the parent's operations do not end")
    }
}

/// A child that uses its parent's queue calls the handler, once, and continues; the parent does not notice.
@Sendable func forkAfterUse(_ arguments: [String]) {
    guard let attempt = attempts[arguments.first ?? ""] else { fail("attempts: \(attempts.keys.sorted())") }
    let gate = Gate()
    let work = InheritedWork(until: gate)
    let end = inForkedChild {
        let reports = Count()
        Misuse.handler = { misuse in
            expect(misuse == .useAfterFork, "reported: \(misuse)")
            reports.add()
        }
        expect(attempt(work), "it had an effect")
        expect(reports.value == 1, "reported \(reports.value) times")
        return 0
    }
    expect(end == .exit(0), "the child's end: \(end)")
    work.end(gate)
}

/// A child with the default handler ends with the message.
@Sendable func forkAfterUseTraps(_: [String]) {
    let gate = Gate()
    let work = InheritedWork(until: gate)
    let end = inForkedChild {
        work.queue.addOperation {}
        return 0
    }
    expect(end != .exit(0), "the child goes on")
    work.end(gate)
}

/// Reading is allowed in the child.
@Sendable func forkAndRead(_: [String]) {
    let gate = Gate()
    let work = InheritedWork(until: gate)
    let end = inForkedChild {
        Misuse.handler = { fail("reported: \($0)") }
        expect(work.blocked.isExecuting && !work.blocked.isFinished && !work.waiting.isReady, "the states differ")
        expect(
            work.queue.operationCount == 2 && work.queue.operations == [work.blocked, work.waiting], "the queue differs"
        )
        let own = BlockOperation {}
        own.start()
        expect(own.isFinished, "an operation started by hand does not finish")
        return 0
    }
    expect(end == .exit(0), "the child's end: \(end)")
    work.end(gate)
}

/// Forks while other threads use the engine, and so hold its locks at times: no child hangs. Its handler is called for
/// the misuse, or ends with the message where it meets a lock that is held for good.
@Sendable func forkUnderLoad(_ arguments: [String]) {
    let rounds = Int(arguments.first ?? "") ?? 0
    expect(rounds > 0, "how many rounds?")
    // A thread that is inside the very first use at the fork is beyond help: Swift's locks, for a global or for the
    // type of a list, are held for good. So everything is used once before.
    firstOperations([])
    let queue = OperationQueue()
    queue.isSuspended = true
    queue.addOperation {}
    queue.addOperation(BlockOperation {})
    _ = queue.operations
    queue.isSuspended = false
    // While one runs, too: a worker then has it in hand.
    let (begun, listed) = (Gate(), Gate())
    queue.addOperation {
        begun.open()
        listed.wait()
    }
    begun.wait()
    _ = queue.operations
    listed.open()
    queue.waitUntilAllOperationsAreFinished()
    let (isOver, ended) = (Count(), Count())
    for _ in 0..<2 {
        onNewThread {
            while isOver.value == 0 {
                queue.addOperation {}
                _ = queue.operations
                Misuse.isStrict = false
                queue.waitUntilAllOperationsAreFinished()
            }
            ended.add()
        }
    }
    var ends = (told: 0, trapped: 0)
    for _ in 0..<rounds {
        let end = inForkedChild {
            Misuse.handler = { _ in }
            queue.addOperation {}
            _ = queue.operations
            queue.isSuspended = true
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            return 0
        }
        if end == .exit(0) { ends.told += 1 } else { ends.trapped += 1 }
    }
    isOver.add()
    ended.wait(for: 2)
    queue.waitUntilAllOperationsAreFinished()
    expect(ends.told > 0, "of \(rounds) children none got through")
}

/// An operation that forks and returns in the child: no other operation runs there, and the misuse is reported.
@Sendable func forkInOperation(_: [String]) {
    let parent = getpid()
    let ended = Count()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    queue.addOperation {
        let end = inForkedChildReturning { Misuse.handler = { _exit($0 == .useAfterFork ? 7 : 1) } }
        guard let end else { return }
        expect(end == .exit(7), "the child's end: \(end)")
        ended.add()
    }
    for _ in 0..<10 {
        queue.addOperation { if getpid() != parent { _exit(2) } }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    expect(ended.value == 1, "the operation did not come back")
}

/// A process that has not used the engine forks: parent and child each use it as any process.
@Sendable func forkBeforeUse(_: [String]) {
    let untouched = BlockOperation {}
    let end = inForkedChild {
        Misuse.handler = { fail("reported: \($0)") }
        firstOperations([])
        OperationQueue().addOperations([untouched], waitUntilFinished: true)
        return untouched.isFinished ? 0 : 1
    }
    expect(end == .exit(0), "the child's end: \(end)")
    firstOperations([])
}

/// Runs a program in a forked child by exec: it starts afresh.
@Sendable func forkAndExec(_: [String]) {
    firstOperations([])
    // Made before the fork: a worker may hold a lock of Swift's runtime at the fork, and the child would wait for it
    // for ever if it made a list.
    let program = strdup("/proc/self/exe")!
    let arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 3)
    (arguments[0], arguments[1], arguments[2]) = (program, strdup("first-operations"), nil)
    defer {
        for text in [arguments[0], arguments[1]] { free(text) }
        arguments.deallocate()
    }
    let nowhere = open("/dev/null", O_WRONLY)
    let end = inForkedChild {
        // Its output would be mixed with that of this process.
        dup2(nowhere, STDOUT_FILENO)
        execv(program, arguments)
        return 4
    }
    expect(end == .exit(0), "the child's end: \(end)")
}
