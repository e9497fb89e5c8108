/// Runs of closures in a queue. Guarded by the queue's lock, as is all of `QueueState`.
extension QueueState {
    // MARK: In the lists

    /// Takes in a run from the inbox. The one before it is closed: else this one would not have been opened.
    @inline(never)
    mutating func admitRun(_ run: ClosureRun) {
        closeLastRun()
        run.sequence = nextSequence
        nextSequence += UInt64(run.capacity)
        lastRun = .passUnretained(run)
        run.state.enterReady()
        list(run)
    }

    /// Puts the run that was set aside back into its list, if it has got closures. A look at the entrance, as `takeAll`
    /// is one at the inbox.
    @inline(__always)
    mutating func listFilledRun() {
        guard let lastRun else { return }
        lastRun._withUnsafeGuaranteedRef { run in
            if run.place.kind == .none, !run.isEmpty { list(run) }
        }
    }

    /// Something comes behind the last run: no more closures are added to it.
    @inline(never)
    mutating func closeLastRun() {
        guard let closed = lastRun else { return }
        lastRun = nil
        let run = closed.takeUnretainedValue()
        run.queue?._withUnsafeGuaranteedRef { $0.entrance.closeIfOpen(run) }
        guard run.place.kind == .none else { return }
        if run.isEmpty { closed.release() } else { list(run) }
    }

    private mutating func list(_ run: ClosureRun) {
        let place = QueuePlace(kind: .ready, level: .normal, band: .normal)
        if run.sequence >= held.firstSequence { return placeBehindBarrier(run, place) }
        ready.append(run, as: place)
    }

    /// Takes an empty run out of its list: aside if it is open, else for good.
    private mutating func unlist(_ run: Unmanaged<ClosureRun>) {
        run._withUnsafeGuaranteedRef { ready.remove($0) }
        if run.toOpaque() != lastRun?.toOpaque() { run.release() }
    }

    // MARK: Running

    /// Gives a runner the first closure of a run, which holds a slot from here on.
    @inline(__always)
    mutating func take(from run: Unmanaged<ClosureRun>, for runner: Runner) {
        run._withUnsafeGuaranteedRef {
            let sequence = $0.sequence + UInt64($0.taken)
            runner.hold($0.takeFirst(), sequence: sequence)
            if $0.isEmpty { unlist(run) }
        }
        if !runner.isInList { closureRunners.insert(runner) }
        running += 1
        runningClosures += 1
    }

    /// A runner's closure has ended: its slot is free.
    @inline(__always)
    mutating func endClosure() {
        running -= 1
        runningClosures -= 1
    }

    /// Takes back what a runner has in its hands and will not begin: as an object before the others of its level.
    mutating func takeBack(_ closure: BlockOperation) {
        endClosure()
        ready.prepend(closure, as: QueuePlace(kind: .ready, level: .normal, band: .normal))
    }

    // MARK: As objects

    /// Makes objects of all closures: each is an operation like any other from here on, at its place.
    ///
    /// - Returns: how many there were.
    mutating func makeObjects(of queue: QueueCore) -> Int {
        var count = makeObjectsOfTaken(of: queue)
        count += ready.makeObjects(of: queue) { self.lastRun?.toOpaque() == $0.toOpaque() }
        held.visitAll { segment in
            count += segment.ready.makeObjects(of: queue) { self.lastRun?.toOpaque() == $0.toOpaque() }
        }
        return count
    }

    /// As `makeObjects`, of those alone that runners have taken.
    mutating func makeObjectsOfTaken(of queue: QueueCore) -> Int {
        var begun: [BlockOperation] = []
        var takenBack: [BlockOperation] = []
        closureRunners.visitAll { runner in
            switch runner.makeObject(of: queue) {
            case .none: break
            case .executing(let operation): begun.append(operation)
            case .inHand(let operation): takenBack.append(operation)
            }
        }
        for operation in begun { isExecuting(operation) }
        // The earliest comes first of all.
        for operation in takenBack.sorted(by: { $0.sequence > $1.sequence }) { takeBack(operation) }
        return begun.count + takenBack.count
    }

    /// A closure that runs has become an object. Its slot is the object's now.
    mutating func isExecuting(_ operation: BlockOperation) {
        runningClosures -= 1
        operation.place = QueuePlace(kind: .executing, level: .normal)
        executing.append(operation)
    }
}

extension ReadyQueue {
    /// Replaces the runs among the ready operations by objects, one a closure.
    ///
    /// - Parameter isOpen: whether a run may get further closures: it is taken out, and not released.
    /// - Returns: how many objects there are.
    mutating func makeObjects(of queue: QueueCore, isOpen: (Unmanaged<ClosureRun>) -> Bool) -> Int {
        var runs: [Unmanaged<ClosureRun>] = []
        forEach { if $0.isClosureRun { runs.append(.passUnretained(unsafeDowncast($0, to: ClosureRun.self))) } }
        var count = 0
        for link in runs {
            let run = link.takeUnretainedValue()
            while !run.isEmpty {
                let sequence = run.sequence + UInt64(run.taken)
                let operation = BlockOperation(run.takeFirst(), in: queue, sequence: sequence)
                operation.state.enterReady(isCancelled: run.isCancelledRun)
                insert(Unmanaged.passRetained(operation).takeUnretainedValue(), before: run)
                count += 1
            }
            remove(run)
            if !isOpen(link) { link.release() }
        }
        return count
    }
}

/// Runners, linked through themselves. Guarded by the lock of the queue that they serve.
struct RunnerList {
    private var first: Unmanaged<Runner>?

    mutating func insert(_ runner: Runner) {
        runner.previousInList = nil
        runner.nextInList = first
        first?._withUnsafeGuaranteedRef { $0.previousInList = .passUnretained(runner) }
        first = .passUnretained(runner)
        runner.isInList = true
    }

    mutating func remove(_ runner: Runner) {
        let (before, after) = (runner.previousInList, runner.nextInList)
        if let before { before._withUnsafeGuaranteedRef { $0.nextInList = after } } else { first = after }
        after?._withUnsafeGuaranteedRef { $0.previousInList = before }
        runner.isInList = false
    }

    func visitAll(_ body: (Runner) -> Void) {
        var link = first
        while let current = link {
            current._withUnsafeGuaranteedRef {
                link = $0.nextInList
                body($0)
            }
        }
    }
}
