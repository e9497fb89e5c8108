import Glibc

/// Runs the threads of one schedule one at a time, and decides at every access to a shared word who goes on.
///
/// Exactly one thread holds the baton and runs; everything here belongs to it. So the program under exploration is
/// sequentially consistent, and plain memory is handed over with the baton.
final class Scheduler: @unchecked Sendable {
    /// The schedule that this process runs. Set before the first thread begins.
    nonisolated(unsafe) static var shared: Scheduler! = nil

    let report: SharedReport
    let processors: Int
    private var chooser: Chooser
    private var threads: [VirtualThread] = []
    private var running: VirtualThread
    /// Before and after the part that is explored, nothing is preempted and nothing logged.
    private(set) var isExploring = false

    private var step = 0
    private var writes = 0
    private var timersRunOut = 0
    private var arrivals = 0
    private(set) var now: Int64 = 1_000_000_000
    private let isTraced: Bool

    static let stepLimit = 100_000
    /// Timed waits that run out because nobody can run, in one schedule.
    static let timerLimit = 200
    static let threadLimit = 30

    init(report: SharedReport, strategy: Strategy, processors: Int, isTraced: Bool) {
        self.report = report
        self.processors = processors
        self.isTraced = isTraced
        chooser = Chooser(strategy)
        running = VirtualThread(id: 0)
        threads = [running]
        chooser.noteNewThread()
    }

    // MARK: What is explored

    func beginExploring() { isExploring = true }

    func endExploring() {
        isExploring = false
        report.header.pointee.steps = step
    }

    func fail(_ message: String) -> Never {
        report.header.pointee.steps = step
        report.finish(.failed, message: "\(message)\n\(describeThreads())")
        fflush(nil)
        _exit(1)
    }

    func pass() -> Never {
        report.finish(.passed, message: "")
        fflush(nil)
        _exit(0)
    }

    var current: VirtualThread { running }
    func isAsleep(_ thread: Int) -> Bool { threads.indices.contains(thread) && threads[thread].isAsleep }
    func stepsMade(by thread: Int) -> Int { threads.indices.contains(thread) ? threads[thread].stepsMade : 0 }

    func nextCellNumber() -> (creator: Int, ordinal: Int) {
        defer { running.cellsMade += 1 }
        return (running.id, running.cellsMade)
    }

    // MARK: Points at which another thread may go on

    /// Before the running thread uses a word.
    func point(_ cell: UnsafeMutablePointer<Cell>, _ what: StaticString, isWrite: Bool, at place: Place) {
        if cell.pointee.isGone { fail("\(what) of a word whose owner is gone, at \(place)") }
        if isWrite { writes += 1 }
        guard isExploring else { return }
        beginStep(what, place)
        noteUse(cell, isWrite: isWrite)
        consider(isOfInterest: report.isContended(cell.pointee.key))
    }

    private func noteUse(_ cell: UnsafeMutablePointer<Cell>, isWrite: Bool) {
        cell.pointee.noteUse(by: running.id, isWrite: isWrite)
        if cell.pointee.isContended { report.noteContended(cell.pointee.key) }
    }

    /// Before a futex wake, which uses the address alone.
    func pointOfWake(_ cell: UnsafeMutablePointer<Cell>, at place: Place) {
        writes += 1
        guard isExploring else { return }
        beginStep("futex wake", place)
        noteUse(cell, isWrite: true)
        consider(isOfInterest: report.isContended(cell.pointee.key))
    }

    /// A point of the scenario's own.
    func point(_ what: StaticString, at place: Place) {
        guard isExploring else { return }
        beginStep(what, place)
        consider(isOfInterest: true)
    }

    /// The running thread cannot get on until another one has done something.
    func spin(at place: Place) {
        let thread = running
        beginStep("spin", place)
        chooser.noteSpinning(thread.id)
        thread.status = .spinning(writesSeen: writes)
        if !able().removing(thread.id).isEmpty { leave(thread) }
        thread.status = .runnable
    }

    private func beginStep(_ what: StaticString, _ place: Place) {
        guard running.isCurrent else {
            fail("\(what) by a thread that was started outside the explorer's sight, at \(place)")
        }
        running.stepsMade += 1
        guard isExploring else { return }
        step += 1
        if step > Self.stepLimit { fail("no end after \(Self.stepLimit) steps") }
        var digest = report.header.pointee.trace
        for part in [UInt64(running.id), UInt64(what.utf8Start.pointee), UInt64(place.line)] {
            digest = (digest ^ part) &* 0x100_0000_01B3
        }
        report.header.pointee.trace = digest
        if isTraced { print("\(step)\tthread \(running.id)\t\(what)\t\(place)") }
    }

    /// Lets the strategy decide whether the running thread goes on.
    private func consider(isOfInterest: Bool) {
        let instant = Instant(
            step: step, running: running.id, preferred: running.id, able: able(),
            sleepers: sleepers().removing(running.id))
        guard instant.able.count > 1 || !instant.sleepers.isEmpty else { return }
        if isOfInterest { log(instant) }
        if let verdict = chooser.choose(instant), let next = apply(verdict, instant) { hand(from: running, to: next) }
    }

    private func log(_ instant: Instant) {
        guard step > chooser.lastGivenStep else { return }
        report.log(
            Choice(
                step: step, others: instant.able.removing(instant.preferred).bits, sleepers: instant.sleepers.bits,
                mayWakeSpuriously: instant.mayWakeSpuriously))
    }

    /// The thread that a departure names, made able to go on; nil if it cannot.
    private func apply(_ verdict: Verdict, _ instant: Instant) -> VirtualThread? {
        let thread = verdict.kind == .wakeSpuriously ? instant.running : verdict.thread
        guard threads.indices.contains(thread) else { return nil }
        let next = threads[thread]
        switch verdict.kind {
        case .run:
            guard instant.able.contains(next.id) else { return nil }
        case .expire:
            guard instant.sleepers.contains(next.id) else { return nil }
            expire(next)
        case .wakeSpuriously:
            guard instant.mayWakeSpuriously else { return nil }
            next.status = .runnable
            next.waking = .spurious
        }
        report.log(Departure(step: step, kind: verdict.kind, thread: verdict.thread))
        if isTraced { print("\(step)\t  departs: \(verdict.kind) \(verdict.thread)") }
        return next
    }

    // MARK: Blocking

    /// The running thread stops until it is made able to run again, and somebody else goes on.
    @discardableResult
    func block(_ status: VirtualThread.Status, _ what: StaticString, at place: Place) -> VirtualThread.Waking {
        let thread = running
        beginStep(what, place)
        arrivals += 1
        thread.arrival = arrivals
        thread.status = status
        thread.waking = .woken
        leave(thread)
        return thread.waking
    }

    func endThread() {
        let thread = running
        beginStep("end", Place(file: "thread", line: 0))
        thread.status = .ended
        for other in threads where other.status == .waitingForEnd(of: thread.id) { other.status = .runnable }
        leave(thread)
    }

    func startFirstThread(_ work: @escaping () -> Void) {
        running.handBaton()
        _ = running.begin(work)
    }

    func start(_ work: @escaping () -> Void) -> (id: Int, thread: pthread_t) {
        guard threads.count < Self.threadLimit else { fail("more than \(Self.threadLimit) threads") }
        let thread = VirtualThread(id: threads.count)
        chooser.noteNewThread()
        threads.append(thread)
        writes += 1
        return (thread.id, thread.begin(work))
    }

    func awaitEnd(of thread: Int) {
        guard threads[thread].status != .ended else { return }
        block(.waitingForEnd(of: thread), "join", at: Place(file: "thread", line: 0))
    }

    /// Wakes threads that sleep on a word, those that came first first.
    func wake(on cell: UnsafeMutablePointer<Cell>, count: Int) {
        let asleep = threads.filter {
            if case .asleep(cell, _) = $0.status { true } else { false }
        }
        for thread in asleep.sorted(by: { $0.arrival < $1.arrival }).prefix(count) { thread.status = .runnable }
    }

    /// A lock is free: those that want it compete.
    func release(lock cell: UnsafeMutablePointer<Cell>) {
        for thread in threads where thread.status == .waitingForLock(cell) { thread.status = .runnable }
    }

    /// A thread does not go on: chooses who does. Returns when it has its turn again.
    private func leave(_ thread: VirtualThread) {
        var able = able()
        while able.isEmpty {
            wakeForLackOfOthers()
            able = self.able()
        }
        var instant = Instant(step: step, running: thread.id, preferred: able.next(after: thread.id), able: able)
        var next = threads[instant.preferred]
        if isExploring {
            instant.sleepers = sleepers()
            if case .asleep = thread.status { instant.mayWakeSpuriously = true }
            if able.count > 1 || !instant.sleepers.isEmpty || instant.mayWakeSpuriously {
                log(instant)
                if let verdict = chooser.choose(instant) { next = apply(verdict, instant) ?? next }
            }
        }
        hand(from: thread, to: next)
    }

    /// Nobody can run: somebody waits for just that, or the time goes on, or this is a deadlock.
    private func wakeForLackOfOthers() {
        if let waiting = threads.first(where: { $0.status == .waitingForQuiet }) {
            waiting.status = .runnable
        } else if let next = threads.filter({ $0.deadline != nil }).min(by: { $0.deadline! < $1.deadline! }) {
            timersRunOut += 1
            if timersRunOut > Self.timerLimit {
                fail("nothing happens but \(Self.timerLimit) timed waits that run out")
            }
            expire(next)
        } else {
            fail("deadlock: every thread waits")
        }
    }

    private func expire(_ thread: VirtualThread) {
        now = max(now, thread.deadline!)
        thread.status = .runnable
        thread.waking = .timedOut
    }

    private func hand(from thread: VirtualThread, to next: VirtualThread) {
        if case .spinning = next.status { next.status = .runnable }
        guard next.id != thread.id else { return }
        running = next
        next.handBaton()
        // The real thread of one that has ended stays, so that its memory is given back at no moment of the kernel's
        // choice.
        if thread.status == .ended { while true { pause() } }
        thread.awaitBaton()
    }

    /// The threads that can go on. Those that spin only if something was written since, or if nobody else can.
    private func able() -> ThreadSet {
        var able = ThreadSet()
        var spinning = ThreadSet()
        for thread in threads {
            switch thread.status {
            case .runnable: able.insert(thread.id)
            case .spinning(writes): spinning.insert(thread.id)
            case .spinning: able.insert(thread.id)
            default: break
            }
        }
        return able.isEmpty ? spinning : able
    }

    private func sleepers() -> ThreadSet {
        var sleepers = ThreadSet()
        for thread in threads where thread.deadline != nil { sleepers.insert(thread.id) }
        return sleepers
    }

    private func describeThreads() -> String {
        threads.map { "    thread \($0.id)\($0.id == running.id ? " (running)" : ""): \(describe($0.status))" }
            .joined(separator: "\n")
    }

    private func describe(_ status: VirtualThread.Status) -> String {
        switch status {
        case .runnable: "can run"
        case .spinning: "spins"
        case .asleep(let cell, let deadline):
            "asleep on word \(cell.pointee.key)\(deadline == nil ? "" : " for a limited time")"
        case .waitingForLock(let cell): "waits for lock \(cell.pointee.key)"
        case .waitingForEnd(let thread): "waits for the end of thread \(thread)"
        case .waitingForQuiet: "waits until nobody else can run"
        case .pausing: "pauses"
        case .ended: "has ended"
        }
    }
}

/// A point's place in the sources.
public struct Place: CustomStringConvertible, Sendable {
    let file: StaticString
    let line: UInt

    public init(file: StaticString, line: UInt) {
        self.file = file
        self.line = line
    }

    public var description: String { "\(file):\(line)" }
}
