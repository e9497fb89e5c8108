import Glibc
import OperationEngine
import Synchronization
import TestSupport

/// One run of a plan: its operations and queues, the threads that add, storm and announce ends, and the end, at which all
/// that the model lets finish must finish.
final class Program: @unchecked Sendable {
    let run: StressRun
    let profile: Profile
    let plan: Plan
    let history = History()
    let finisher = Finisher()
    /// Releases what it is handed, however long that takes.
    let releaser = Finisher()
    /// Runs what ends asynchronous operations. Nobody disturbs it.
    let helper = OperationQueue()
    /// Above all other queues: its closures list and cancel in them, and what they release may wait for anything.
    let steward = OperationQueue()
    /// The lock that observers of `locking` queues take.
    let observersLock = Guarded(0)
    let live = LiveCount()
    /// Written by `prepare`, before any other thread.
    private(set) var subjects: [Subject] = []
    private let records: Guarded<[QueueRecord]>
    /// Late edges, as the storm's threads leave them when they end.
    let lateEdges = Guarded<[Edge]>([])

    static func play(_ run: StressRun, _ profile: Profile) {
        HastyThread.isCurrent = true
        defer { HastyThread.isCurrent = false }
        MisuseWatch.during(run, isStrict: profile.isStrict) {
            let program = Program(run, profile)
            program.prepare()
            run.describe { [unowned program] in program.stateOfAffairs }
            program.perform()
            program.judge()
            program.release()
            run.count(run.size)
            run.describe { "" }
        }
    }

    private init(_ run: StressRun, _ profile: Profile) {
        self.run = run
        self.profile = profile
        var random = run.generator()
        plan = Plan(profile, size: run.size, &random)
        let live = live
        records = Guarded(plan.queues.map { QueueRecord($0, live, isSuspended: $0.isSuspended) })
        steward.maxConcurrentOperationCount = 2
        finisher.perform { HastyThread.isCurrent = true }
    }

    /// Nil for what is no object, or is freed.
    func operation(_ index: Int) -> Operation? { subjects[index].operation }
    var queues: [QueueRecord] { records.read() }

    /// How long a wait may last that must end. Shorter than the watchdog's patience, which is for all the others.
    var limit: Duration { Watchdog.patience * 2 / 3 }

    private func prepare() {
        subjects = plan.tasks.enumerated().map { Subject($0, $1, self) }
        for subject in subjects {
            subject.hold(OperationFactory.make(subject))
            switch subject.task.adder {
            case .thread: break
            case .main(let parent): subjects[parent].childrenOfMain.append(subject.index)
            case .completion(let parent): subjects[parent].childrenOfCompletion.append(subject.index)
            }
            if subject.task.isWatched { watch(subject, atBirth: true) }
        }
        for record in queues { listen(to: record) }
        link()
    }

    private func link() {
        let edges = subjects.flatMap(\.fixed)
        guard plan.linksAtOnce else {
            for edge in edges { operation(edge.dependent)!.addDependency(operation(edge.dependency)!) }
            return
        }
        let objects = subjects.filter(\.kind.isObject)
        let places = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1.index, $0) })
        Operation.addDependencies(
            edges.map { (of: places[$0.dependent]!, on: places[$0.dependency]!) }, among: objects.map { $0.operation! })
    }

    private func perform() {
        let storms = profile.weights.isEmpty ? 0 : profile.stormThreads
        let begin = Meeting(plan.adders + storms)
        let raging = (0..<storms).map { thread in
            hastyThread { [self] in
                begin.meet()
                Storm(self, thread: thread, of: storms).rage()
            }
        }
        let adding = (0..<plan.adders).map { thread in
            hastyThread { [self] in
                begin.meet()
                addAll(ofThread: thread)
            }
        }
        let others = [waitForSome, endEarly, holdLock].map { body in hastyThread { body() } }
        let awaits = Awaits(self)
        let tracing = Tracing(self)
        // The storms first: an adding thread may be held up by an observer, who is held up by a queue that they
        // suspended.
        for thread in raging { thread.join() }
        letAllRun()
        for thread in adding { thread.join() }
        for subject in subjects where !isAddedByThread(subject) { adopt(subject.index) }
        breakCycle()
        for subject in subjects { subject.operation?.waitUntilFinished() }
        for thread in others { thread.join() }
        awaits.end()
        tracing.end()
        for record in queues {
            guard let queue = record.queue else { continue }
            run.require(queue.waitUntilFinished(timeout: limit), "\(queue) never drains (contract M11)")
        }
        // Those that were dropped cannot be waited for, and an operation is finished before its observers have heard so.
        run.await { queues.allSatisfy { $0.queue != nil || $0.isFreed } }
        steward.waitUntilAllOperationsAreFinished()
        run.await {
            subjects.allSatisfy { subject in
                subject.isOver && (!subject.task.hasCompletion || subject.completions.load(ordering: .acquiring) > 0)
            }
        }
        releaser.end()
        finisher.end()
        helper.waitUntilAllOperationsAreFinished()
    }

    private func hastyThread(_ body: @escaping @Sendable () -> Void) -> OwnThread {
        OwnThread {
            HastyThread.isCurrent = true
            body()
        }
    }

    // MARK: Adding

    private func isAddedByThread(_ subject: Subject) -> Bool {
        if case .thread = subject.task.adder { true } else { false }
    }

    private func addAll(ofThread thread: Int) {
        var batch: [Subject] = []
        func addBatch() {
            if !batch.isEmpty { add(batch) }
            batch = []
        }
        for index in plan.order where subjects[index].task.adder == .thread(thread) {
            let subject = subjects[index]
            if subject.kind.isObject, !subject.kind.isByHand {
                batch.append(subject)
                if batch.count == plan.batch { addBatch() }
            } else {
                addBatch()
                addAlone(subject)
            }
        }
        addBatch()
    }

    /// Adds a child of another operation, once.
    func adopt(_ index: Int) {
        let subject = subjects[index]
        guard !subject.adoption.exchange(true, ordering: .relaxed) else { return }
        if subject.kind.isObject, !subject.kind.isByHand { add([subject]) } else { addAlone(subject) }
    }

    /// Adds operations to the queues that the plan says, or to those that took their place.
    private func add(_ batch: [Subject]) {
        for rank in plan.queues.indices {
            let members = batch.filter { $0.task.queue == rank }
            guard !members.isEmpty else { continue }
            let (place, queue) = openQueue(rank)
            adding(members, to: place) {
                if members.count == 1 {
                    queue.addOperation(members[0].handOver())
                } else {
                    queue.addOperations(members.map { $0.handOver() }, waitUntilFinished: false)
                }
            }
        }
    }

    /// Adds what is no object, or starts what is started by hand.
    private func addAlone(_ subject: Subject) {
        guard !subject.kind.isByHand else {
            return adding([subject], to: nil) { start(subject, subject.handOver()) }
        }
        let (place, queue) = openQueue(subject.task.queue)
        adding([subject], to: place) {
            let block = OperationFactory.block(subject)
            if subject.kind == .barrier { queue.addBarrierBlock(block) } else { queue.addOperation(block) }
        }
    }

    private func adding(_ subjects: [Subject], to place: Int?, _ body: () -> Void) {
        let begin = history.markCall()
        for subject in subjects {
            subject.queue.store(place ?? -1, ordering: .relaxed)
            subject.addingThread.store(Subject.thread, ordering: .relaxed)
            subject.addBegin.store(begin, ordering: .releasing)
        }
        body()
        let end = history.markCall()
        for subject in subjects {
            subject.addEnd.store(end, ordering: .releasing)
            subject.addingThread.store(0, ordering: .relaxed)
        }
        run.advance()
    }

    /// Starts an operation by hand, cancelled if it has to be.
    private func start(_ subject: Subject, _ operation: Operation) {
        if subject.index.isMultiple(of: 3) || !operation.isReady { cancel(subject) }
        operation.start()
        // After the end, if it was cancelled.
        if subject.index.isMultiple(of: 2) { (operation as? any EndableEarly)?.endEarly() }
    }

    /// The latest queue of a rank, or a new one if that was dropped.
    private func openQueue(_ rank: Int) -> (place: Int, queue: OperationQueue) {
        let live = live
        return records.withLock { records in
            let last = records.lastIndex { $0.plan.rank == rank }!
            if let queue = records[last].queue { return (last, queue) }
            let record = QueueRecord(records[last].plan, live, isSuspended: false)
            records.append(record)
            return (records.count - 1, record.queue!)
        }
    }

    // MARK: The end

    /// The storm is over: nothing but a cycle may hold an operation back from here on.
    private func letAllRun() {
        for record in queues {
            record.set(.limit(record.plan.limit), history)
            record.set(.suspended(false), history)
        }
        for subject in subjects where subject.kind == .held { open(subject) }
    }

    /// Operations in a cycle must not have begun; cancelling one lets the others run (contract E15, E16).
    private func breakCycle() {
        guard !plan.cycle.isEmpty else { return }
        for index in Set(subjects.indices).subtracting(behindCycle().possibly) {
            operation(index)?.waitUntilFinished()
        }
        // Operations that run still may cancel a member: what has begun must be behind the cycle afterwards too.
        for index in behindCycle().certainly where subjects[index].hasRun || subjects[index].isOver {
            run.require(
                !behindCycle().certainly.contains(index), "\(subjects[index]) began, but is behind a cycle (E15)")
        }
        cancel(subjects[plan.cycle[0]])
    }

    /// Waits for some operations from outside, for ever if need be, and for queues (contract O1, O3).
    @Sendable private func waitForSome() {
        var random = run.generator(99)
        for _ in 0..<10 {
            let subject = subjects.randomElement(using: &random)!
            guard let operation = subject.operation else { continue }
            operation.waitUntilFinished()
            run.require(operation.hasEnded, "a wait for \(subject) returns early (contract O1)")
        }
        for (place, record) in queues.enumerated() {
            guard let queue = record.queue else { continue }
            let members = subjects.filter { $0.isAdded && $0.queue.load(ordering: .relaxed) == place }
            queue.waitUntilAllOperationsAreFinished()
            for subject in members where subject.kind.isObject && !subject.isOver {
                run.violated("a wait for all returns although \(subject) is unfinished (contract O3)")
            }
        }
    }

    /// The thread that announces ends.
    @Sendable private func endEarly() {
        var random = run.generator(98)
        for subject in subjects.shuffled(using: &random) where subject.kind.isEndedByOther && random.hits(70) {
            run.await { subject.isAdded }
            if let dependency = subject.kind.endsAfter {
                // The end comes while the finishing thread files those that depend on it.
                while !subjects[dependency].isOver { sched_yield() }
            } else if random.hits(60) {
                usleep(UInt32.random(in: 1...150, using: &random))
            }
            (subject.operation as? any EndableEarly)?.endEarly()
            run.advance()
        }
    }

    /// Releases everything; nothing must be left (contract Q2, Q3, Q7).
    private func release() {
        for subject in subjects { subject.watches.withLock { $0 = [] } }
        // Operations that depend on each other keep each other, also when finished (contract E11).
        for member in plan.cycle {
            for other in plan.cycle { operation(member)!.removeDependency(operation(other)!) }
        }
        for subject in subjects { subject.release() }
        for record in queues { record.release() }
        run.describe { [live] in "all is finished, but \(live.value) objects are not released (contract Q2)" }
        run.await { live.value == 0 && queues.allSatisfy(\.isFreed) }
    }
}

/// Marks threads that everything else may need: what they release waits for nothing for long.
enum HastyThread {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key, nil)
        precondition(failure == 0, "no thread-specific key: \(String(cString: strerror(failure)))")
        return key
    }()

    static var isCurrent: Bool {
        get { pthread_getspecific(key) != nil }
        set { pthread_setspecific(key, newValue ? UnsafeRawPointer(bitPattern: 1) : nil) }
    }
}
