import OperationEngine
import Synchronization
import TestSupport

/// One run of a plan: its operations and queues, the threads that add and storm, and the end, at which all that the
/// model lets finish must finish.
final class Program: @unchecked Sendable {
    let run: StressRun
    let profile: Profile
    let plan: Plan
    let history = History()
    let finisher = Finisher()
    /// Runs what ends asynchronous operations. Nobody disturbs it.
    let helper = OperationQueue()
    let live = LiveCount()
    /// Written by `prepare`, before any other thread.
    private(set) var subjects: [Subject] = []
    private var operations: [Operation] = []
    private let records: Guarded<[QueueRecord]>
    private let barriers = Guarded<[BarrierRecord]>([])
    let liveBarriers = LiveCount()
    /// Late edges, as the storm's threads leave them when they end.
    let lateEdges = Guarded<[Edge]>([])

    static func play(_ run: StressRun, _ profile: Profile) {
        let program = Program(run, profile)
        program.prepare()
        run.describe { [unowned program] in program.stateOfAffairs }
        program.perform()
        program.judge()
        program.release()
        run.count(run.size)
        run.describe { "" }
    }

    private init(_ run: StressRun, _ profile: Profile) {
        self.run = run
        self.profile = profile
        var random = run.generator()
        plan = Plan(profile, size: run.size, &random)
        let live = live
        records = Guarded(plan.queues.map { QueueRecord($0, live, isSuspended: $0.isSuspended) })
    }

    func operation(_ index: Int) -> Operation { operations[index] }
    var queues: [QueueRecord] { records.read() }
    var barrierRecords: [BarrierRecord] { barriers.read() }

    private func prepare() {
        subjects = plan.tasks.enumerated().map { Subject($0, $1, self) }
        operations = subjects.map { OperationFactory.make($0, live) }
        for subject in subjects {
            switch subject.task.adder {
            case .thread: break
            case .main(let parent): subjects[parent].childrenOfMain.append(subject.index)
            case .completion(let parent): subjects[parent].childrenOfCompletion.append(subject.index)
            }
            if subject.task.isWatched { watch(subject, atBirth: true) }
        }
        if plan.linksAtOnce {
            let pairs = subjects.flatMap { subject in subject.fixed.map { (of: subject.index, on: $0.dependency) } }
            return Operation.addDependencies(pairs, among: operations)
        }
        for subject in subjects {
            for edge in subject.fixed { operations[subject.index].addDependency(operations[edge.dependency]) }
        }
    }

    private func perform() {
        let storms = profile.weights.isEmpty ? 0 : profile.stormThreads
        let waiter = OwnThread { [self] in waitForSome() }
        let awaits = Awaits(self)
        together(plan.adders + storms) { [self] thread in
            if thread < plan.adders {
                addAll(ofThread: thread)
            } else {
                let storm = Storm(self, thread: thread - plan.adders, of: storms)
                storm.rage()
            }
        }
        letAllRun()
        breakCycle()
        for subject in subjects { operations[subject.index].waitUntilFinished() }
        run.await { subjects.allSatisfy { $0.completions.load(ordering: .acquiring) > 0 } }
        waiter.join()
        awaits.end()
        for record in queues { record.queue?.waitUntilAllOperationsAreFinished() }
        run.await { liveBarriers.value == 0 }
        finisher.end()
        helper.waitUntilAllOperationsAreFinished()
    }

    // MARK: Adding

    private func addAll(ofThread thread: Int) {
        var batch: [Subject] = []
        var random = run.generator(50 + thread)
        for index in plan.order where subjects[index].task.adder == .thread(thread) {
            batch.append(subjects[index])
            if batch.count == plan.batch {
                add(batch)
                batch = []
                if random.hits(profile.barriers) { addBarrier(Int.random(in: 0..<plan.queues.count, using: &random)) }
            }
        }
        if !batch.isEmpty { add(batch) }
    }

    /// Adds a child of another operation, once.
    func adopt(_ index: Int) {
        guard !subjects[index].adoption.exchange(true, ordering: .relaxed) else { return }
        add([subjects[index]])
    }

    /// Adds operations to the queues that the plan says, or to those that took their place.
    private func add(_ batch: [Subject]) {
        for rank in plan.queues.indices {
            let members = batch.filter { $0.task.queue == rank }
            guard !members.isEmpty else { continue }
            let (place, queue) = openQueue(rank)
            let begin = history.markCall()
            for subject in members {
                subject.queue.store(place, ordering: .relaxed)
                subject.addBegin.store(begin, ordering: .relaxed)
            }
            if members.count == 1 {
                queue.addOperation(operations[members[0].index])
            } else {
                queue.addOperations(members.map { operations[$0.index] }, waitUntilFinished: false)
            }
            let end = history.markCall()
            for subject in members { subject.addEnd.store(end, ordering: .releasing) }
        }
    }

    private func addBarrier(_ rank: Int) {
        let (place, queue) = openQueue(rank)
        let barrier = BarrierRecord(place, self)
        barriers.withLock { $0.append(barrier) }
        barrier.add(to: queue)
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
        for subject in subjects {
            if subject.isHeld { open(subject) }
            if case .thread = subject.task.adder { continue }
            adopt(subject.index)
        }
    }

    /// Operations in a cycle must not have begun; cancelling one lets the others run (contract E15, E16).
    private func breakCycle() {
        guard !plan.cycle.isEmpty else { return }
        for index in Set(subjects.indices).subtracting(behindCycle().possibly) {
            operations[index].waitUntilFinished()
        }
        // Operations that run still may cancel a member: what has begun must be behind the cycle afterwards too.
        for index in behindCycle().certainly where subjects[index].hasRun || operations[index].hasEnded {
            run.require(
                !behindCycle().certainly.contains(index), "\(subjects[index]) began, but is behind a cycle (E15)")
        }
        cancel(subjects[plan.cycle[0]])
    }

    /// Waits for some operations from outside, for ever if need be, and for queues (contract O1, O3).
    private func waitForSome() {
        var random = run.generator(99)
        for _ in 0..<10 {
            let subject = subjects[Int.random(in: 0..<subjects.count, using: &random)]
            operations[subject.index].waitUntilFinished()
            run.require(operations[subject.index].hasEnded, "a wait for \(subject) returns early (contract O1)")
        }
        for (place, record) in queues.enumerated() {
            guard let queue = record.queue else { continue }
            let members = subjects.filter {
                $0.addEnd.load(ordering: .acquiring) != 0 && $0.queue.load(ordering: .relaxed) == place
            }
            queue.waitUntilAllOperationsAreFinished()
            for subject in members where !operations[subject.index].hasEnded {
                run.violated("a wait for all returns although \(subject) is unfinished (contract O3)")
            }
        }
    }

    /// Releases everything; nothing must be left (contract Q2, Q3, Q7).
    private func release() {
        for subject in subjects { subject.watches.withLock { $0 = [] } }
        // Operations that depend on each other keep each other, also when finished (contract E11).
        for member in plan.cycle {
            for other in plan.cycle { operations[member].removeDependency(operations[other]) }
        }
        operations = []
        records.withLock { $0 = [] }
        run.describe { [live] in "all is finished, but \(live.value) objects are not released (contract Q2)" }
        run.await { live.value == 0 }
    }
}
