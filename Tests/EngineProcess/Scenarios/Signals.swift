import Dispatch
import Glibc
import OperationEngine

private func signals(_ numbers: Int32...) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    return set
}

/// Runs `body` in an operation and waits for it.
private func inOperation(_ body: @escaping @Sendable () -> Void) {
    OperationQueue().addOperations([BlockOperation(block: body)], waitUntilFinished: true)
}

/// The engine's threads take no signal that is sent to the process, and every one that reports their own fault.
@Sendable func signalMask(_: [String]) {
    inOperation {
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM] {
            expect(sigismember(&mask, number) == 1, "signal \(number) is not blocked")
        }
        for number in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGPIPE, SIGPROF] {
            expect(sigismember(&mask, number) == 0, "signal \(number) is blocked")
        }
    }
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    expect(sigismember(&mask, SIGTERM) == 0, "main's own mask has changed")
}

/// A thread that reads signalfd(2) adds an operation for each signal. It blocks the signal only after the engine's
/// threads were started.
@Sendable func signalDescriptor(_: [String]) {
    firstOperations([])
    var set = signals(SIGUSR1)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let open: @convention(c) (Int32, UnsafePointer<sigset_t>, Int32) -> Int32 = cFunction("signalfd")
    let descriptor = open(-1, &set, 0)
    expect(descriptor >= 0, "no signalfd: \(String(cString: strerror(errno)))")
    let (runs, queue) = (Count(), OperationQueue())
    for round in 1...20 {
        kill(getpid(), SIGUSR1)
        var facts = [UInt32](repeating: 0, count: 32)
        expect(read(descriptor, &facts, 128) == 128 && facts[0] == UInt32(SIGUSR1), "not a SIGUSR1")
        queue.addOperation { runs.add() }
        runs.wait(for: round)
    }
}

/// A handler of Dispatch's signal source adds operations.
@Sendable func dispatchSignalSource(_: [String]) {
    firstOperations([])
    let (runs, registered, queue) = (Count(), Gate(), OperationQueue())
    let source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
    source.setRegistrationHandler { registered.open() }
    source.setEventHandler { queue.addOperation { runs.add() } }
    source.resume()
    registered.wait()
    for round in 1...20 {
        kill(getpid(), SIGUSR1)
        runs.wait(for: round)
    }
    source.cancel()
}

/// First use from a thread that is confined to one processor: the engine's threads are not.
@Sendable func inheritedProcessors(_: [String]) {
    let ended = Gate()
    let allowed = ownProcessors()
    onNewThread {
        let first = allowed.firstIndex { $0 != 0 }!
        var one = [UInt8](repeating: 0, count: allowed.count)
        one[first] = 1 << UInt8(allowed[first].trailingZeroBitCount)
        let setAffinity: Affinity = cFunction("sched_setaffinity")
        expect(setAffinity(0, one.count, &one) == 0, "cannot be confined")
        expect(ownProcessors() == one, "is not confined")
        inOperation { expect(ownProcessors() == allowed, "the worker is confined") }
        ended.open()
    }
    ended.wait()
}

private typealias Affinity = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32

/// The calling thread's processors, one bit each.
private func ownProcessors() -> [UInt8] {
    var bits = [UInt8](repeating: 0, count: 128)
    let getAffinity: Affinity = cFunction("sched_getaffinity")
    expect(getAffinity(0, bits.count, &bits) == 0, "no affinity to be had")
    return bits
}
