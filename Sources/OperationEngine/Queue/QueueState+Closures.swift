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

    /// Takes the first closure of a batch into a caller's memory. It holds a slot from here on.
    @inline(__always)
    mutating func take(
        from run: Unmanaged<ClosureRun>, into place: UnsafeMutablePointer<BlockOperation.Block>
    ) -> Choice {
        running += 1
        runningClosures += 1
        return run._withUnsafeGuaranteedRef {
            let sequence = $0.sequence + UInt64($0.taken)
            place.initialize(to: $0.takeFirst())
            if $0.isEmpty { unlist(run) }
            return .closure(sequence: sequence)
        }
    }

    // MARK: As objects

    /// Makes objects of all closures that nobody has taken: each is an operation like any other from here on, at its
    /// place.
    ///
    /// - Returns: how many there were.
    mutating func makeObjects(of queue: QueueCore) -> Int {
        var count = ready.makeObjects(of: queue) { self.lastRun?.toOpaque() == $0.toOpaque() }
        held.visitAll { segment in
            count += segment.ready.makeObjects(of: queue) { self.lastRun?.toOpaque() == $0.toOpaque() }
        }
        return count
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
