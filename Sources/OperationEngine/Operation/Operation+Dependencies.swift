import CLinux

extension Operation {
    func linkDependency(_ operation: Operation) {
        guard operation !== self else { return Misuse.selfDependency.report() }
        let edge = DependencyEdge.make(of: self, on: operation)

        observers?.willChange(.dependencies)
        let isFinished = operation.state.load().isFinished
        if !isFinished, state.load().isReady { observers?.willChange(.isReady) }
        var consequence = OperationState.Consequence.none
        var isReadyChanged = false
        // Counted first and linked second: a dependency that finishes in between is found finished by `link`. Listed
        // last: what `removeDependency` finds has been counted and linked.
        if isFinished {
            // Not counted, not even for a moment: a ready operation keeps its place (contract E10).
            state.passOn()
        } else if let counted = state.addDependency() {
            if operation.link(edge) {
                isReadyChanged = counted.hasChanged
            } else {
                consequence = state.dropDependency().consequence
            }
        }
        dependencyEdges.push(edge)
        observers?.settleChange(.isReady, hasHappened: isReadyChanged)
        observers?.didChange(.dependencies)
        if consequence == .file { fileWithQueue() }
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

        if consequence == .file { fileWithQueue() }
        while let current = removed {
            removed = current.pointee.nextOfDependent
            DependencyEdge.free(current).release()
        }
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

    /// An observed operation hears that one of its dependencies has finished. With no lock held, by the finisher.
    func dependencyHasFinished() {
        let before = state.load()
        if !before.isReady, before.unfinishedDependencies == 1 { observers?.willChange(.isReady) }
        let change = state.dropDependency()
        observers?.settleChange(.isReady, hasHappened: change.hasChanged)
        if change.consequence == .file { fileWithQueue() }
    }

    // MARK: The successor list

    /// Links an edge of a dependent into this operation's successor list. False if this operation is finished, and
    /// nobody will count the edge down.
    @inline(__always)
    private func link(_ edge: DependencyEdge.Pointer) -> Bool {
        guard successors.push(edge) else { return false }
        // A finishing thread that came before may not have looked at the list since; see `SuccessorList`.
        guard state.loadAfterPush().isFinished else { return true }
        return !successors.remove(edge)
    }

    /// Tells every dependent that this operation is finished. Called once, by the finishing thread.
    ///
    /// A loop, whatever the graph: dependents that become ready go to their queues' ready lists. The lock is let go
    /// now and then, so that a dependent's deinit is not held up by a million others.
    ///
    /// - Parameter runner: the calling runner, if it advances its queue right afterwards.
    @inline(never)
    func releaseSuccessors(own runner: Unmanaged<Runner>?) {
        let oldest = successors.close()
        if let oldest, case .edge = oldest.pointee.newer { return release(from: oldest, own: runner) }
        guard let only = oldest else { return successors.unlock(leaving: nil, isClosed: true) }
        let dependent = only.pointee.dependent
        let state = only.pointee.dependentState
        let consequence = state.pointee.dropDependencyUnlessObserved()
        let observers = consequence == nil ? state.pointee.observers : nil
        // Unlinked only after the dependent is in a phase that keeps it alive: until then its deinit waits for the list.
        only.pointee.setNewer(.unlinked)
        successors.unlock(leaving: nil, isClosed: true)
        if consequence == .file { dependent._withUnsafeGuaranteedRef { $0.fileWithQueue(own: runner) } }
        observers?.object?.dependencyHasFinished()
    }

    /// As `fileWithQueue`, by the thread of a runner that advances its queue right afterwards.
    @inline(__always)
    private func fileWithQueue(own runner: Unmanaged<Runner>?) {
        if let runner, let queue = queue?.takeUnretainedValue(),
            !state.load().has(OperationState.Word.hasOwnReadiness),
            runner._withUnsafeGuaranteedRef({ $0.keepReadied(self, of: queue) })
        {
            return
        }
        fileWithQueue()
    }

    /// The same for several dependents, from the oldest edge of the closed and locked list on.
    @inline(never)
    private func release(from oldest: DependencyEdge.Pointer, own runner: Unmanaged<Runner>?) {
        var filer = BatchFiler(own: runner)
        var next: DependencyEdge.Pointer? = oldest
        while true {
            for _ in 0..<Self.successorsAtOnce {
                guard let edge = next else { break }
                if case .edge(let newer) = edge.pointee.newer { next = newer } else { next = nil }
                let (dependent, state) = (edge.pointee.dependent, edge.pointee.dependentState)
                let consequence = state.pointee.dropDependencyUnlessObserved()
                if consequence == .file {
                    dependent._withUnsafeGuaranteedRef { filer.file($0) }
                } else if consequence == nil, let observers = state.pointee.observers {
                    filer.tellLater(observers)
                }
                edge.pointee.setNewer(.unlinked)
            }
            filer.unlock()
            let isDone = next == nil
            next?.pointee.older = nil
            successors.unlock(leaving: next, isClosed: true)
            if !isDone { filer.fileOwn() }
            filer.fileTheRest()
            if isDone { return }
            next = successors.lockClosed()
        }
    }

    private static let successorsAtOnce = 64
}

extension DependencyEdge {
    /// Frees the edges of an operation in its deinit and releases its dependencies.
    ///
    /// Releasing the last of a chain of a million operations would recurse a million deep. So the outermost deinit on
    /// a thread unrolls: those nested in it hand their edges to its list instead (contract E22).
    static func releaseAll(of operation: Operation) {
        var edge = operation.dependencyEdges.takeAll()
        var own: Pointer?
        while let current = edge {
            edge = current.pointee.nextOfDependent
            if !current.pointee.isUnlinked {
                current.pointee.dependency._withUnsafeGuaranteedRef { _ = $0.successors.remove(current) }
            }
            current.pointee.nextOfDependent = own
            own = current
        }
        if let outer = clinux_release_list()?.assumingMemoryBound(to: Pointer?.self) {
            while let current = own {
                own = current.pointee.nextOfDependent
                current.pointee.nextOfDependent = outer.pointee
                outer.pointee = current
            }
        } else {
            withUnsafeMutablePointer(to: &own) { list in
                clinux_set_release_list(list)
                while let current = list.pointee {
                    list.pointee = current.pointee.nextOfDependent
                    DependencyEdge.free(current).release()
                }
                clinux_set_release_list(nil)
            }
        }
    }
}
