import CLinux
import Glibc
import OperationEngine

/// Makes this process one of an unprivileged user of its own, who may have so many threads; main is one of them. Shows
/// that clone(2) fails beyond that. Ends the process as skipped where it cannot become another user.
private func allowThreads(_ count: Int) {
    // RLIMIT_NPROC counts all threads of the user, and does not bind root.
    let user = 1_000_000 + UInt32(getpid())
    guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else {
        skip("cannot become another user: \(String(cString: strerror(errno)))")
    }
    limitThreads(to: count)
    let (more, ended) = (Gate(), Count())
    for _ in 1..<count {
        onNewThread {
            more.wait()
            ended.add()
        }
    }
    expect(failureOfOneMoreThread() == EAGAIN, "one more thread than allowed")
    more.open()
    ended.wait(for: count - 1)
    waitUntil { ProcessFacts.threads.count == 1 }
}

private func limitThreads(to count: Int) {
    // RLIMIT_NPROC, which Swift's module of the C library leaves out.
    let threads = __rlimit_resource_t(6)
    var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: 1000)
    expect(setrlimit(threads, &limit) == 0, "setrlimit")
}

/// The result of pthread_create(3).
private func failureOfOneMoreThread() -> Int32 {
    var thread = pthread_t()
    let failure = pthread_create(&thread, nil, { _ in nil }, nil)
    if failure == 0 { pthread_join(thread, nil) }
    return failure
}

/// No thread can be made, not even the first: that is reported, once, and a wait continues until there are threads.
///
/// Argument: `default` for the default handler, whose message the caller sees on standard error.
@Sendable func noThreads(_ arguments: [String]) {
    allowThreads(1)
    EndlessWait.patience = .milliseconds(1)
    let reports = Count()
    if arguments != ["default"] {
        Misuse.handler = {
            expect($0 == .threadRefused(threads: 0, reason: "Resource temporarily unavailable"), "reported: \($0)")
            reports.add()
        }
    }
    let (queue, ended) = (OperationQueue(), Count())
    for _ in 0..<100 { queue.addOperation { ended.add() } }
    expect(!queue.waitUntilFinished(timeout: .milliseconds(20)), "the operations have run without a thread")
    expect(ended.value == 0, "\(ended.value) operations have run without a thread")
    if arguments != ["default"] { expect(reports.value == 1, "reported \(reports.value) times") }
    // Of the threads of others of this user some have ended.
    limitThreads(to: 10)
    queue.waitUntilAllOperationsAreFinished()
    expect(ended.value == 100, "\(ended.value) of 100 operations have run")
}

/// There are fewer threads to be had than the engine would like: that is reported, once, and the operations of all
/// bands and queues run on those that there are, with few attempts to get more.
///
/// Argument: how many threads there may be, main included.
@Sendable func refusedThreads(_ arguments: [String]) {
    guard let count = arguments.first.flatMap({ Int($0) }), count > 1 else { fail("how many threads?") }
    allowThreads(count)
    let reports = Count()
    Misuse.handler = {
        guard case .threadRefused(1..., _) = $0 else { fail("reported: \($0)") }
        say("refused-threads: \($0)")
        reports.add()
    }
    let ended = Count()
    let queues = (0..<4).map { _ in OperationQueue() }
    for round in 0..<3 {
        for index in 0..<400 {
            let operation = BlockOperation { ended.add() }
            operation.threadPriority = [0.5, 0.25, 0][(index + round) % 3]
            queues[index % 4].addOperation(operation)
        }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        expect(ended.value == 400 * (round + 1), "\(ended.value) operations have run")
    }
    expect(reports.value == 1, "reported \(reports.value) times")
}
