import Glibc
import OperationEngine
import Synchronization

/// As many operations that only compute run at once as there are to be workers, and no more (contract N15).
///
/// Argument: how many workers there are to be.
@Sendable func workerCount(_ arguments: [String]) {
    guard let expected = arguments.first.flatMap({ Int($0) }) else { fail("how many?") }
    expect(Processors.workers == expected, "\(Processors.workers) workers")
    let asleep = SeenAsleep()
    expect(mostAtOnce(among: expected) >= expected, "they did not meet")
    // Without a worker seen asleep for each one too many, this waits for ever.
    asleep.count.wait(for: mostAtOnce(among: 1, of: 2_000) - expected)
}

/// A new quota of the process's control group takes effect while work waits (contract N15). Skipped where no group can
/// be made.
@Sendable func quotaChange(_: [String]) {
    guard let group = ControlGroup() else { skip("no control group with a CPU quota can be made") }
    guard group.enter(), group.setQuota(1) else {
        group.remove()
        skip("the control group cannot be entered")
    }
    expect(Processors.workers == 1, "\(Processors.workers) workers at a quota of one processor")
    let asleep = SeenAsleep()
    asleep.count.wait(for: mostAtOnce(among: 1, of: 2_000) - 1)
    group.setQuota(nil)
    if Processors.allowed > 1 { _ = mostAtOnce(among: 2) }
    group.setQuota(1)
    spinUntil { Processors.workers == 1 }
    group.remove()
}

/// Counts the workers that the monitor saw asleep, in a page fault or in a lock of the sanitizer for example. Such a worker
/// runs on beside the one that was called in its place (contract N13).
private final class SeenAsleep: OperationTrace.Receiver {
    let count = Count()

    init() { OperationTrace.install(self, for: .threads) }

    func receive(_ event: OperationTrace.ThreadEvent) {
        if event.step == .growth { count.add() }
    }
}

/// Runs operations that compute until `companions` have run at once. Returns the most that ever did.
private func mostAtOnce(among companions: Int, of count: Int? = nil) -> Int {
    final class Figures: Sendable {
        let running = Atomic<Int>(0)
        let most = Atomic<Int>(0)
    }
    let (figures, queue) = (Figures(), OperationQueue())
    for _ in 0..<(count ?? companions) {
        queue.addOperation {
            let now = figures.running.add(1, ordering: .relaxed).newValue
            figures.most.max(now, ordering: .relaxed)
            while figures.most.load(ordering: .relaxed) < companions {}
            // Long enough for another worker to be called.
            for _ in 0..<10_000 { _ = figures.most.load(ordering: .relaxed) }
            figures.running.subtract(1, ordering: .relaxed)
        }
    }
    queue.waitUntilAllOperationsAreFinished()
    return figures.most.load(ordering: .relaxed)
}

/// Keeps all workers busy, and one operation waiting, until the condition holds.
private func spinUntil(_ condition: @escaping @Sendable () -> Bool) {
    let queue = OperationQueue()
    for _ in 0...Processors.allowed { queue.addOperation { while !condition() {} } }
    queue.waitUntilAllOperationsAreFinished()
}

/// A control group below the process's own, of either version, cgroups(7).
private struct ControlGroup {
    private let around: String
    private let folder: String
    private let isUnified: Bool

    /// Nil where none can be made.
    init?() {
        for around in CPUQuota.groups() {
            let folder = "\(around)/engine-\(getpid())"
            guard mkdir(folder, 0o755) == 0 else { continue }
            for (file, isUnified) in [("cpu.max", true), ("cpu.cfs_quota_us", false)] {
                guard access("\(folder)/\(file)", W_OK) == 0 else { continue }
                (self.around, self.folder, self.isUnified) = (around, folder, isUnified)
                return
            }
            rmdir(folder)
        }
        return nil
    }

    func enter() -> Bool { write("\(getpid())", to: "\(folder)/cgroup.procs") }

    /// - Parameter processors: nil for no quota.
    @discardableResult
    func setQuota(_ processors: Int?) -> Bool {
        let period = 100_000
        if isUnified {
            return write("\(processors.map { "\($0 * period)" } ?? "max") \(period)", to: "\(folder)/cpu.max")
        }
        return write("\(period)", to: "\(folder)/cpu.cfs_period_us")
            && write("\(processors.map { $0 * period } ?? -1)", to: "\(folder)/cpu.cfs_quota_us")
    }

    /// Also leaves it. The kernel may take a moment to see that.
    func remove() {
        _ = write("\(getpid())", to: "\(around)/cgroup.procs")
        while rmdir(folder) == -1 && errno == EBUSY { sched_yield() }
    }

    private func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
