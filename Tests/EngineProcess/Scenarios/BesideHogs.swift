import CLinux
import CLinuxMeasure
import Glibc
import OperationEngine

/// Closures that do next to nothing, in many queues, while other processes keep every processor busy: a thread that
/// holds a lock is often preempted, and others sleep for it. None of that brings more threads (contract N13).
///
/// Arguments: closures; queues; `turns` if each queue gets one in its turn, `blocks` if each gets all of its own at
/// once; the busy processes' nice value and this one's, both added to what it was started with; and how many threads
/// there may be.
@Sendable func besideHogs(_ arguments: [String]) {
    let numbers = arguments.compactMap { Int($0) }
    guard arguments.count == 6, numbers.count == 5 else { fail("closures, queues, order, two nice values, threads") }
    let (closures, queueCount, bound) = (numbers[0], numbers[1], numbers[4])
    let isInTurns = arguments[2] == "turns"
    let hogs = (0..<sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { _ in startHog(nice: Int32(numbers[2])) }
    defer { for hog in hogs { endHog(hog) } }
    expect(clinux_set_own_nice(clinux_thread_nice(0) + Int32(numbers[3])) == 0, "the nice value cannot be set")
    let ended = Count()
    let queues = (0..<queueCount).map { _ in OperationQueue() }
    let peak = Peak()
    for index in 0..<closures {
        let queue = isInTurns ? queues[index % queueCount] : queues[index * queueCount / closures]
        // It allocates and releases; some take a lock too.
        let captured = [index, index + 1]
        queue.addOperation { if captured[0] % 10 == 0 { ended.add(10) } }
        if index % 10_000 == 0 { peak.note(ProcessFacts.engineThreads) }
    }
    for (index, queue) in queues.enumerated() {
        queue.waitUntilAllOperationsAreFinished()
        if index % 100 == 0 { peak.note(ProcessFacts.engineThreads) }
    }
    // A thread without work lives on for some seconds.
    peak.note(ProcessFacts.engineThreads)
    expect(ended.value == closures, "\(ended.value) closures have run")
    say("beside-hogs: \(peak.value) threads")
    expect(peak.value <= bound, "\(peak.value) threads of the engine at once")
}

/// A process that computes until it is ended, or until this one ends.
private func startHog(nice: Int32) -> pid_t {
    let fork: @convention(c) () -> pid_t = cFunction("fork")
    let parent = getpid()
    let child = fork()
    expect(child >= 0, "fork: \(String(cString: strerror(errno)))")
    if child == 0 {
        guard clinux_die_with_parent(parent) == 0, clinux_set_own_nice(clinux_thread_nice(0) + nice) == 0
        else { _exit(3) }
        while true { clinux_burn(1_000_000) }
    }
    return child
}

private func endHog(_ hog: pid_t) {
    kill(hog, SIGKILL)
    waitpid(hog, nil, 0)
}
