import CLinux
import Glibc
import OperationEngine

/// Workers' nice values are relative to the main thread's, whichever thread uses the engine first, and an operation
/// reports its own (contract H4, H6, H7). Started under nice(1).
///
/// Argument: whether the process may raise priorities, `privileged` or `unprivileged`, if it can be made so.
@Sendable func niceValues(_ arguments: [String]) {
    let base = clinux_thread_nice(0)
    let isPrivileged = arguments == ["privileged"]
    if isPrivileged {
        guard canRaisePriority() else { skip("no right to raise priorities") }
    } else if getuid() == 0 {
        // The right goes with root; RLIMIT_NICE gives none by default.
        expect(setuid(1_000_000) == 0 && !canRaisePriority(), "the right to raise priorities remains")
    }
    let ended = Gate()
    // A thread that has lowered itself further is the first to use the engine. Only with privileges does that not
    // matter.
    onNewThread {
        if isPrivileged { expect(clinux_set_own_nice(19) == 0, "the nice value cannot be set") }
        for step in 0...40 { checkNice(inMainOf: Double(step) / 40, base, isPrivileged) }
        ended.open()
    }
    ended.wait()
}

/// Tried on a thread of its own, which would not get back.
private func canRaisePriority() -> Bool {
    let (can, ended) = (Count(), Gate())
    onNewThread {
        if clinux_set_own_nice(clinux_thread_nice(0) - 1) == 0 { can.add() }
        ended.open()
    }
    ended.wait()
    return can.value == 1
}

private func checkNice(inMainOf priority: Double, _ base: Int32, _ isPrivileged: Bool) {
    let (queue, completed) = (OperationQueue(), Gate())
    let nice = Count()
    let operation = BlockOperation { nice.add(Int(clinux_thread_nice(0))) }
    operation.threadPriority = priority
    operation.completionBlock = {
        let own = clinux_thread_nice(0)
        expect(own == base, "a completion block at nice \(own)")
        completed.open()
    }
    queue.addOperation(operation)
    completed.wait()
    // 38·(0.5 − p) below the middle, 40·(0.5 − p) above, to the nearest of nine steps.
    let exact = (priority < 0.5 ? 38 : 40) * (0.5 - priority)
    let steps = [19, 14, 10, 5, 0, -5, -10, -15, -20]
    let nearest = steps.min { abs(Double($0) - exact.rounded()) < abs(Double($1) - exact.rounded()) }!
    let step = nearest < 0 && !isPrivileged ? 0 : Int32(nearest)
    let expected = min(max(base + step, -20), 19)
    expect(nice.value == Int(expected), "priority \(priority): nice \(nice.value) instead of \(expected)")
    let effective = operation.effectiveThreadPriority
    expect(
        (effective - 0.5) * Double(base - expected) > 0 || effective == 0.5 && expected == base,
        "priority \(priority): effective \(effective) at nice \(expected)")
}
