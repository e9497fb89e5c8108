import CLinux

extension Operation {
    func linkDependency(_ operation: Operation) {
        guard operation !== self else { return Misuse.selfDependency.report() }
        let word = state.load()
        let isToBeAsked = isToBeAskedOutsideQueue(word)
        let isObserved = word.has(OperationState.Word.hasObservers)

        if isObserved { observers?.willChange(.dependencies) }
        let isFinished = operation.state.load().isFinished
        if isObserved, !isFinished, state.load().isReady { observers?.willChange(.isReady) }
        var consequence = OperationState.Consequence.none
        // First counted, then linked: if the dependency finishes in between, `link` finds it finished. Listed last:
        // whatever `removeDependency` finds has been counted and linked. A finished one is not counted, not even for a
        // moment: a ready operation keeps its place (contract E10).
        let counted = isFinished ? nil : state.addDependency()
        let before = counted ?? state.passOn(setting: OperationState.Word.hasDependencies)
        let isFirst = !before.has(OperationState.Word.hasDependencies)
        var isLinked = counted != nil
        if isLinked, isFirst, operation.link(self) {
            dependencyEdges.begin(with: DependencyLink(to: .passRetained(operation)))
        } else {
            let edge = DependencyEdge.make(of: self, on: .passRetained(operation))
            if isLinked, !operation.link(edge) {
                isLinked = false
                consequence = state.dropDependency().consequence
            }
            dependencyEdges.push(edge, isFirst: isFirst)
        }
        // Those that it has before it is added are traced with that.
        if word.phase != .idle, TraceMarks.changes, word.isPublished { traceDependency(on: operation) }
        if let observers {
            observers.resolveChange(.isReady, hasHappened: isLinked && before.isReady && !before.isCancelled)
            observers.didChange(.dependencies)
        }
        if consequence == .file { fileWithQueue(becameReady: true) }
        if isToBeAsked { askOutsideQueue() }
    }

    func unlinkDependency(_ operation: Operation) {
        var isRemoved = false
        var consequence = OperationState.Consequence.none
        var isReadyChanged = false
        var places = Slab<DependencyEdge>.Places()

        observers?.willChange(.dependencies)
        if !state.load().isReady { observers?.willChange(.isReady) }
        func drop() {
            let change = state.dropDependency()
            if change.consequence == .file { consequence = .file }
            if change.hasChanged { isReadyChanged = true }
        }
        let address = Unmanaged.passUnretained(operation).toOpaque()
        lock.lock()
        var kept: DependencyEdge.Pointer?
        var entries = dependencyEdges.all
        var link = entries.link
        while link.node == nil, let dependency = entries.next() {
            if dependency.toOpaque() == address {
                isRemoved = true
                dependencyEdges.remove(link, after: kept)
                if link.edge.map({ operation.successors.remove($0) }) ?? unlink(from: operation) { drop() }
                if let edge = link.edge { _ = DependencyEdge.free(edge, into: &places) }
                // Not the last reference: the caller has one.
                dependency.release()
            } else {
                kept = link.edge
            }
            link = entries.link
        }
        if let node = link.node {
            for (place, entry) in node.pointee.dependencies.enumerated() where entry?.toOpaque() == address {
                isRemoved = true
                node.pointee.dependencies[place] = nil
                if node.pointee.clear(UInt32(place)) {
                    drop()
                    state.passOn(setting: OperationState.Word.isReleased)
                }
                entry?.release()
            }
        }
        lock.unlock()
        observers?.resolveChange(.isReady, hasHappened: isReadyChanged)
        observers?.resolveChange(.dependencies, hasHappened: isRemoved)

        if consequence == .file { fileWithQueue(becameReady: true) }
        askOutsideQueue()
    }

    func listDependencies() -> [Operation] {
        let all = lock.withLock { dependencyEdges.all.map { $0.takeUnretainedValue() } }
        var seen = Set<ObjectIdentifier>(minimumCapacity: all.count)
        return all.reversed().filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Handles the end of a dependency for an operation that is observed, or whose `isReady` is asked outside of
    /// queues. Called by the finishing thread with no lock held.
    func dependencyHasFinished() {
        let before = state.load()
        if !before.isReady, before.unfinishedDependencies == 1 { observers?.willChange(.isReady) }
        let change = state.dropDependency()
        observers?.resolveChange(.isReady, hasHappened: change.hasChanged)
        if change.consequence == .file { fileWithQueue(becameReady: true) }
        if change.isLast { askOutsideQueue() }
    }

    // MARK: The successor list

    /// As `link`, for a dependent without an edge. Returns false also if one has to be made.
    @inline(__always)
    private func link(_ dependent: Operation) -> Bool {
        guard successors.put(DependencyLink(to: .passUnretained(dependent))) else { return false }
        guard state.loadAfterPush().isFinished else { return true }
        return !successors.remove(dependent)
    }

    /// Takes this operation, which is without an edge, out of a dependency's successor list. Returns false if the
    /// finishing thread has counted it down. From here on no other thread uses it because of that list.
    private func unlink(from dependency: Operation) -> Bool {
        if !state.load().has(OperationState.Word.isReleased), dependency.successors.remove(self) { return true }
        waitUntilReleased()
        return false
    }

    private func waitUntilReleased() {
        while !state.load().has(OperationState.Word.isReleased) {
            ForkedChild.endIfOne()
            sched_yield()
        }
    }

    /// Ends the empty dependency list with a node of a graph. Returns false if the dependencies have to be added one by
    /// one.
    func join(_ node: GraphNode.Pointer) -> Bool {
        let isPlain =
            state.load().has(OperationState.Word.isPlainBlock)
            || !MethodOverride.addDependency.isPresent(in: self) && !MethodOverride.isReady.isPresent(in: self)
        let isHeld = node.pointee.pendingCount > 0
        guard isPlain, state.joinGraph(isHeld: isHeld) else { return false }
        dependencyEdges.begin(with: DependencyLink(to: node))
        // They may have come in the meantime.
        if let observers {
            observers.resolveChange(.isReady, hasHappened: isHeld && !state.load().isCancelled)
            observers.didChange(.dependencies)
        }
        return true
    }

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
        var filer = BatchFiler(own: runner)
        if let node = successors.onlyNode {
            DependencyGraph.countDependentsDown(of: node, &filer)
            return filer.makeCalls()
        }
        let (dependent, isToBeFiled): (Unmanaged<Operation>, Bool)
        if let only = successors.takeOnly() {
            (dependent, isToBeFiled) = (only, Self.countDown(only, isWithoutEdge: true, &filer))
        } else {
            let newest = successors.lock().first
            guard let edge = newest.edge, edge.pointee.older == .none else {
                return releaseSeveral(from: newest, own: runner)
            }
            dependent = edge.pointee.dependent
            isToBeFiled = Self.countDown(dependent, &filer)
            successors.unlock(leaving: .none, isClosed: true)
        }
        if isToBeFiled { filer.file(CollectionOfOne(dependent)) }
        return filer.makeCalls()
    }

    /// The same for few successors: they are counted down while the list is locked once.
    @inline(never)
    private func releaseSeveral(from newest: DependencyLink, own runner: Unmanaged<Runner>?) -> Bool {
        withUnsafeTemporaryAllocation(of: Unmanaged<Operation>.self, capacity: Self.successorsAtOnce + 1) { batch in
            // Filled from the back, because the newest comes first. Place 0 is for the oldest, if that has no edge.
            var start = batch.count
            var next = newest
            while let edge = next.edge {
                if start == 1 { return releaseMany(from: newest, in: batch, own: runner) }
                start &-= 1
                batch[start] = edge.pointee.dependent
                next = edge.pointee.older
            }
            var filer = BatchFiler(own: runner)
            // Operations that are to be filed move to the front.
            var readied = 0
            if let oldest = next.operation, Self.countDown(oldest, isWithoutEdge: true, &filer) {
                batch[0] = oldest
                readied = 1
            }
            for place in start..<batch.count where Self.countDown(batch[place], &filer) {
                batch[readied] = batch[place]
                readied += 1
            }
            successors.unlock(leaving: .none, isClosed: true)
            if let node = next.node { DependencyGraph.countDependentsDown(of: node, &filer) }
            filer.file(batch[..<readied])
            return filer.makeCalls()
        }
    }

    /// The same for more successors than a batch holds, batch by batch.
    @inline(never)
    private func releaseMany(
        from newest: DependencyLink, in batch: UnsafeMutableBufferPointer<Unmanaged<Operation>>,
        own runner: Unmanaged<Runner>?
    ) -> Bool {
        var filer = BatchFiler(own: runner)
        var next = newest.edge.map { SuccessorList.oldest(from: $0) }
        var readied = 0
        var node = next?.pointee.older.node
        if let oldest = next?.pointee.older.operation, Self.countDown(oldest, isWithoutEdge: true, &filer) {
            batch[0] = oldest
            readied = 1
        }
        while true {
            for _ in 1..<batch.count {
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
            next?.pointee.older = .none
            successors.unlock(leaving: DependencyLink(to: next), isClosed: true)
            if let first = node.take() { DependencyGraph.countDependentsDown(of: first, &filer) }
            filer.file(batch[..<readied])
            readied = 0
            // User code may wait for any of the dependents.
            if isDone { return filer.makeCalls() }
            filer.fileOwn()
            next = successors.lockClosed()
        }
    }

    /// Counts one dependent down. With an edge, the successor list is locked meanwhile; without one, the dependent was
    /// taken out, or the same. Returns true if it is to be filed.
    @inline(__always)
    static func countDown(
        _ dependent: Unmanaged<Operation>, isWithoutEdge: Bool = false, _ filer: inout BatchFiler
    ) -> Bool {
        let state = DependencyEdge.state(of: dependent)
        let flag = isWithoutEdge ? OperationState.Word.isReleased : 0
        let consequence = state.pointee.dropDependencyUnlessTold(setting: flag)
        if consequence == nil {
            if let told = state.pointee.existingObservers { filer.tellLater(told) }
            if isWithoutEdge { state.pointee.passOn(setting: flag) }
        }
        return consequence == .file
    }

    static let successorsAtOnce = 64
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
    mutating func file(_ operations: some Collection<Unmanaged<Operation>>) {
        // Before a lock is taken, and before any of them can be started.
        if TraceMarks.operations { Self.traceReady(operations) }
        for operation in operations { operation._withUnsafeGuaranteedRef { file($0) } }
        unlock()
    }
}

extension Operation {
    /// The dependencies that the deinits on one thread have still to release.
    private struct Unreleased {
        var edges: DependencyEdge.Pointer?
        /// One without an edge. Released before the others.
        var only: Unmanaged<Operation>?
        var nodes: GraphNode.Pointer?
    }

    /// Releasing the last of a chain of a million operations would recurse a million times. So the outermost deinit on
    /// a thread releases in a loop, and the deinits inside it hand their dependencies to it (contract E22).
    @inline(never)
    final func releaseDependencies() {
        let outer = clinux_release_list()?.assumingMemoryBound(to: Unreleased.self)
        // In a chain that has run nothing more is to be done.
        if let only = dependencyEdges.first.operation, state.load().has(OperationState.Word.isReleased), let outer,
            outer.pointee.only == nil
        {
            outer.pointee.only = only
        } else {
            releaseAll(in: outer)
        }
    }

    @inline(never)
    private final func releaseAll(in outer: UnsafeMutablePointer<Unreleased>?) {
        // Latest first, as in the list. The loop below releases them.
        var own = Unreleased(edges: dependencyEdges.first.edge)
        var last: DependencyEdge.Pointer?
        var link = dependencyEdges.first
        while let edge = link.edge {
            edge.pointee.dependency._withUnsafeGuaranteedRef { _ = $0.successors.remove(edge) }
            (last, link) = (edge, edge.pointee.nextOfDependent)
        }
        own.only = link.operation
        own.only?._withUnsafeGuaranteedRef { _ = unlink(from: $0) }
        if let node = link.node {
            if !state.load().has(OperationState.Word.isReleased), !node.pointee.end() { waitUntilReleased() }
            node.pointee.nextEnded = outer?.pointee.nodes
            own.nodes = node
            outer?.pointee.nodes = node
        }
        if let outer {
            last?.pointee.nextOfDependent = DependencyLink(to: outer.pointee.edges)
            if last != nil { outer.pointee.edges = own.edges }
            if outer.pointee.only == nil {
                outer.pointee.only = own.only
            } else if let only = own.only {
                // Its place is taken if one release has ended two operations.
                let edge = DependencyEdge.make(of: self, on: only)
                edge.pointee.nextOfDependent = DependencyLink(to: outer.pointee.edges)
                outer.pointee.edges = edge
            }
        } else {
            withUnsafeMutablePointer(to: &own) { list in
                clinux_set_release_list(list)
                var places = Slab<DependencyEdge>.Places()
                while true {
                    if let only = list.pointee.only {
                        list.pointee.only = nil
                        only.release()
                    } else if let edge = list.pointee.edges {
                        list.pointee.edges = edge.pointee.nextOfDependent.edge
                        DependencyEdge.free(edge, into: &places).release()
                    } else if let node = list.pointee.nodes {
                        list.pointee.nodes = node.pointee.nextEnded
                        DependencyGraph.free(node)
                    } else {
                        break
                    }
                }
                clinux_set_release_list(nil)
            }
        }
    }
}
