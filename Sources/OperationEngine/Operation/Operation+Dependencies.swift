import CLinux

extension Operation {
    func linkDependency(_ operation: Operation) {
        guard operation !== self else { return Misuse.selfDependency.report() }
        let edge = DependencyEdge.make(of: self, on: operation)
        let word = state.load()
        let isToBeAsked = isToBeAskedOutsideQueue(word)
        let isObserved = word.has(OperationState.Word.hasObservers)

        if isObserved { observers?.willChange(.dependencies) }
        let isFinished = operation.state.load().isFinished
        if isObserved, !isFinished, state.load().isReady { observers?.willChange(.isReady) }
        var consequence = OperationState.Consequence.none
        var isReadyChanged = false
        // First counted, then linked: if the dependency finishes in between, `link` finds it finished. Listed last:
        // whatever `removeDependency` finds has been counted and linked.
        if isFinished {
            // Not counted, not even for a moment: a ready operation keeps its place (contract E10).
            state.passOn()
        } else if let before = state.addDependency() {
            if operation.link(edge) {
                isReadyChanged = before.isReady && !before.isCancelled
            } else {
                consequence = state.dropDependency().consequence
            }
        }
        dependencyEdges.push(edge)
        // Those that it has before it is added are traced with that.
        if word.phase != .idle, TraceMarks.changes, word.isPublished { traceDependency(on: operation) }
        if let observers {
            observers.settleChange(.isReady, hasHappened: isReadyChanged)
            observers.didChange(.dependencies)
        }
        if consequence == .file { fileWithQueue(becameReady: true) }
        if isToBeAsked { askOutsideQueue() }
    }

    func unlinkDependency(_ operation: Operation) {
        var removed: DependencyEdge.Pointer?
        var consequence = OperationState.Consequence.none
        var isReadyChanged = false

        observers?.willChange(.dependencies)
        if !state.load().isReady { observers?.willChange(.isReady) }
        lock.lock()
        var kept: DependencyEdge.Pointer?
        var edge = dependencyEdges.first
        while let current = edge {
            edge = current.pointee.nextOfDependent
            if current.pointee.dependency.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
                dependencyEdges.remove(current, after: kept)
                if operation.successors.remove(current) {
                    let change = state.dropDependency()
                    if change.consequence == .file { consequence = .file }
                    if change.hasChanged { isReadyChanged = true }
                }
                current.pointee.nextOfDependent = removed
                removed = current
            } else {
                kept = current
            }
        }
        lock.unlock()
        observers?.settleChange(.isReady, hasHappened: isReadyChanged)
        observers?.settleChange(.dependencies, hasHappened: removed != nil)

        if consequence == .file { fileWithQueue(becameReady: true) }
        var places = Slab<DependencyEdge>.Places()
        while let current = removed {
            removed = current.pointee.nextOfDependent
            DependencyEdge.free(current, into: &places).release()
        }
        askOutsideQueue()
    }

    func listDependencies() -> [Operation] {
        let all = lock.withLock {
            var all: [Operation] = []
            var edge = dependencyEdges.first
            while let current = edge {
                all.append(current.pointee.dependency.takeUnretainedValue())
                edge = current.pointee.nextOfDependent
            }
            return all
        }
        var seen = Set<ObjectIdentifier>(minimumCapacity: all.count)
        return all.reversed().filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Handles the end of a dependency for an operation that is observed, or whose `isReady` is asked outside of
    /// queues. Called by the finishing thread with no lock held.
    func dependencyHasFinished() {
        let before = state.load()
        if !before.isReady, before.unfinishedDependencies == 1 { observers?.willChange(.isReady) }
        let change = state.dropDependency()
        observers?.settleChange(.isReady, hasHappened: change.hasChanged)
        if change.consequence == .file { fileWithQueue(becameReady: true) }
        if change.isLast { askOutsideQueue() }
    }

    // MARK: The successor list

    /// Links an edge of a dependent into this operation's successor list. Returns false if this operation is finished
    /// and no thread will count the edge down.
    @inline(__always)
    private func link(_ edge: DependencyEdge.Pointer) -> Bool {
        guard successors.push(edge) else { return false }
        // A finishing thread that came before may not see the edge: see `SuccessorList`.
        guard state.loadAfterPush().isFinished else { return true }
        return !successors.remove(edge)
    }

    /// Counts every dependent of this operation down. Called once, by the finishing thread.
    ///
    /// This is a loop, whatever the graph. Dependents that become ready go into their queues' ready lists once the
    /// successor list is unlocked. After the unlock it uses no edge. Of the dependents it uses only those that are to
    /// be filed, which their queues keep alive, and the observer lists of others, which it has retained before.
    ///
    /// - Parameter runner: the calling runner, if it advances its queue right afterwards.
    /// - Returns: whether something was kept alive meanwhile; see `KeptAlive`.
    @inline(never)
    func releaseSuccessors(own runner: Unmanaged<Runner>?) -> Bool {
        guard let newest = successors.lock().first else {
            successors.unlock(leaving: nil, isClosed: true)
            return false
        }
        return newest.pointee.older == nil
            ? releaseOnly(newest, own: runner) : releaseSeveral(from: newest, own: runner)
    }

    /// The same for one successor.
    @inline(__always)
    private func releaseOnly(_ edge: DependencyEdge.Pointer, own runner: Unmanaged<Runner>?) -> Bool {
        var filer = BatchFiler(own: runner)
        let dependent = edge.pointee.dependent
        let isToBeFiled = Self.countDown(dependent, &filer)
        successors.unlock(leaving: nil, isClosed: true)
        if isToBeFiled { filer.file(CollectionOfOne(dependent)) }
        return filer.fileTheRest()
    }

    /// The same for few successors: they are counted down while the list is locked once.
    @inline(never)
    private func releaseSeveral(from newest: DependencyEdge.Pointer, own runner: Unmanaged<Runner>?) -> Bool {
        withUnsafeTemporaryAllocation(of: Unmanaged<Operation>.self, capacity: Self.successorsAtOnce) { batch in
            // Filled from the back, because the newest comes first.
            var start = batch.count
            var next: DependencyEdge.Pointer? = newest
            while let edge = next {
                if start == 0 { return releaseMany(from: newest, in: batch, own: runner) }
                start &-= 1
                batch[start] = edge.pointee.dependent
                next = edge.pointee.older
            }
            var filer = BatchFiler(own: runner)
            // Operations that are to be filed move to the front.
            var readied = 0
            for place in start..<batch.count where Self.countDown(batch[place], &filer) {
                batch[readied] = batch[place]
                readied += 1
            }
            successors.unlock(leaving: nil, isClosed: true)
            filer.file(batch[..<readied])
            return filer.fileTheRest()
        }
    }

    /// The same for more successors than a batch holds, batch by batch.
    @inline(never)
    private func releaseMany(
        from newest: DependencyEdge.Pointer, in batch: UnsafeMutableBufferPointer<Unmanaged<Operation>>,
        own runner: Unmanaged<Runner>?
    ) -> Bool {
        var filer = BatchFiler(own: runner)
        var next: DependencyEdge.Pointer? = SuccessorList.oldest(from: newest)
        while true {
            var readied = 0
            for _ in 0..<batch.count {
                guard let edge = next else { break }
                if case .edge(let newer) = edge.pointee.newer { next = newer } else { next = nil }
                let dependent = edge.pointee.dependent
                if Self.countDown(dependent, &filer) {
                    batch[readied] = dependent
                    readied += 1
                }
                // From here on the dependent may be freed, unless it is to be filed.
                edge.pointee.setNewer(.unlinked)
            }
            let isDone = next == nil
            next?.pointee.older = nil
            successors.unlock(leaving: next, isClosed: true)
            filer.file(batch[..<readied])
            // User code may wait for any of the dependents.
            if isDone { return filer.fileTheRest() }
            filer.fileOwn()
            next = successors.lockClosed()
        }
    }

    /// Counts one dependent down, while the successor list is locked. Returns true if it is to be filed.
    @inline(__always)
    private static func countDown(_ dependent: Unmanaged<Operation>, _ filer: inout BatchFiler) -> Bool {
        let state = DependencyEdge.state(of: dependent)
        let consequence = state.pointee.dropDependencyUnlessTold()
        if consequence == nil, let told = state.pointee.existingObservers { filer.tellLater(told) }
        return consequence == .file
    }

    private static let successorsAtOnce = 64
}

extension ObserverList<Operation> {
    /// Notifies the object, if it still exists. Inside `KeptAlive.during`.
    func tellOfFinishedDependency() {
        KeptAlive.keep(self)
        guard let object else { return }
        KeptAlive.keep(object)
        object.dependencyHasFinished()
    }
}

extension BatchFiler {
    @inline(__always)
    fileprivate mutating func file(_ operations: some Collection<Unmanaged<Operation>>) {
        // Before a lock is taken, and before any of them can be started.
        if TraceMarks.operations { Self.traceReady(operations) }
        for operation in operations { operation._withUnsafeGuaranteedRef { file($0) } }
        unlock()
    }
}

extension DependencyEdge {
    /// Releasing the last of a chain of a million operations would recurse a million times. So the outermost deinit on
    /// a thread releases in a loop, and the deinits inside it hand their edges to its list (contract E22).
    static func releaseAll(of operation: Operation) {
        // Latest first, as in the list. The next loop releases them.
        var own = operation.dependencyEdges.takeAll()
        var last: Pointer?
        var edge = own
        while let current = edge {
            current.pointee.dependency._withUnsafeGuaranteedRef { _ = $0.successors.remove(current) }
            last = current
            edge = current.pointee.nextOfDependent
        }
        if let outer = clinux_release_list()?.assumingMemoryBound(to: Pointer?.self) {
            last?.pointee.nextOfDependent = outer.pointee
            outer.pointee = own
        } else {
            withUnsafeMutablePointer(to: &own) { list in
                clinux_set_release_list(list)
                var places = Slab<DependencyEdge>.Places()
                while let current = list.pointee {
                    list.pointee = current.pointee.nextOfDependent
                    DependencyEdge.free(current, into: &places).release()
                }
                clinux_set_release_list(nil)
            }
        }
    }
}
