import CLinux

/// One "dependent waits for dependency", allocated by `addDependency`, freed by `removeDependency` or with the
/// dependent.
///
/// The dependency is retained, so that `dependencies` can list it after it has finished (contract E11). The dependent
/// is not: while the edge is linked into the dependency's successor list, whoever follows it holds the dependency's
/// `successorLock`, and the dependent's deinit has to take that lock to unlink the edge before its memory goes
/// (contract E21). It must not be retained there either, not even for a moment: that might leave the last release to
/// the lock's holder. So the holder uses the dependent's state through a pointer, and the dependent itself only once
/// it has brought it into the phase `filing`, when its queue keeps it alive.
struct DependencyEdge {
    let dependent: Unmanaged<Operation>
    let dependentState: UnsafePointer<OperationState>
    let dependency: Unmanaged<Operation>
    /// The dependent's next older edge. Guarded by the dependent's `lock`.
    var nextOfDependent: UnsafeMutablePointer<DependencyEdge>?
    /// Neighbours in the dependency's successor list, oldest first, and whether the edge is in it. The first edge's
    /// `previousSuccessor` is the last one. Guarded by the dependency's `successorLock`.
    var nextSuccessor: UnsafeMutablePointer<DependencyEdge>?
    var previousSuccessor: UnsafeMutablePointer<DependencyEdge>?
    var isLinked = false
}

extension Operation {
    func linkDependency(_ operation: Operation) {
        guard operation !== self else { return Misuse.selfDependency.report() }
        let edge = DependencyEdge.allocate(
            DependencyEdge(
                dependent: .passUnretained(self), dependentState: withUnsafePointer(to: state) { $0 },
                dependency: .passRetained(operation)))

        observers?.willChange(.dependencies)
        let isFinished = operation.state.load().isFinished
        if !isFinished, state.load().isReady { observers?.willChange(.isReady) }
        lock.lock()
        edge.pointee.nextOfDependent = dependencyEdges
        dependencyEdges = edge
        var consequence = OperationState.Consequence.none
        var isReadyChanged = false
        // Counted first and linked second: a dependency that finishes in between is found finished by `link`.
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
        lock.unlock()
        observers?.settleChange(.isReady, hasHappened: isReadyChanged)
        observers?.didChange(.dependencies)
        if consequence == .file { fileWithQueue() }
    }

    func unlinkDependency(_ operation: Operation) {
        var removed: UnsafeMutablePointer<DependencyEdge>?
        var consequence = OperationState.Consequence.none
        var isReadyChanged = false

        observers?.willChange(.dependencies)
        if !state.load().isReady { observers?.willChange(.isReady) }
        lock.lock()
        var kept: UnsafeMutablePointer<DependencyEdge>?
        var edge = dependencyEdges
        while let current = edge {
            edge = current.pointee.nextOfDependent
            if current.pointee.dependency.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
                if let kept { kept.pointee.nextOfDependent = edge } else { dependencyEdges = edge }
                if operation.unlink(current) {
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
            var edge = dependencyEdges
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

    /// Links an edge of a dependent into this operation's successor list. False if this operation is finished.
    private func link(_ edge: UnsafeMutablePointer<DependencyEdge>) -> Bool {
        successorLock.withLock {
            // The flag is set under the lock and the list closed by the finishing transition: a finisher that does
            // not see the flag leaves nothing behind, since then this announcement fails.
            guard state.announceSuccessors() else { return false }
            if let first = successors {
                let last = first.pointee.previousSuccessor
                last?.pointee.nextSuccessor = edge
                edge.pointee.previousSuccessor = last
                first.pointee.previousSuccessor = edge
            } else {
                edge.pointee.previousSuccessor = edge
                successors = edge
            }
            edge.pointee.isLinked = true
            return true
        }
    }

    /// Takes an edge out of this operation's successor list. False if the finishing thread was faster.
    fileprivate func unlink(_ edge: UnsafeMutablePointer<DependencyEdge>) -> Bool {
        successorLock.withLock {
            guard edge.pointee.isLinked else { return false }
            unlinkLocked(edge)
            return true
        }
    }

    private func unlinkLocked(_ edge: UnsafeMutablePointer<DependencyEdge>) {
        let (before, after) = (edge.pointee.previousSuccessor, edge.pointee.nextSuccessor)
        if successors == edge { successors = after } else { before?.pointee.nextSuccessor = after }
        (after ?? successors)?.pointee.previousSuccessor = before
        edge.pointee.nextSuccessor = nil
        edge.pointee.previousSuccessor = nil
        edge.pointee.isLinked = false
    }

    /// Tells every dependent that this operation is finished. Called once, by the finishing thread.
    ///
    /// A loop, whatever the graph: dependents that become ready go to their queues' ready lists. The lock is let go
    /// now and then, so that a dependent's deinit is not held up by a million others.
    ///
    /// - Parameter runner: the calling runner, if it advances its queue right afterwards.
    func releaseSuccessors(own runner: Unmanaged<Runner>?) {
        var filer = BatchFiler(own: runner)
        var isDone = false
        while !isDone {
            successorLock.lock()
            for _ in 0..<Self.successorsAtOnce {
                guard let edge = successors else {
                    isDone = true
                    break
                }
                // Unlinked only after the dependent is in a phase that keeps it alive: until then its deinit waits for
                // `successorLock`.
                let consequence = edge.pointee.dependentState.pointee.dropDependencyUnlessObserved()
                if consequence == .file {
                    filer.file(edge.pointee.dependent.takeUnretainedValue())
                } else if consequence == nil, let observers = edge.pointee.dependentState.pointee.observers {
                    filer.tellLater(observers)
                }
                unlinkLocked(edge)
            }
            filer.unlock()
            successorLock.unlock()
            if !isDone { filer.fileOwn() }
            filer.fileTheRest()
        }
    }

    private static let successorsAtOnce = 64
}

extension DependencyEdge {
    @inline(__always)
    fileprivate static func allocate(_ content: DependencyEdge) -> UnsafeMutablePointer<DependencyEdge> {
        let edge = UnsafeMutablePointer<DependencyEdge>.allocate(capacity: 1)
        edge.initialize(to: content)
        LiveObjects.count(.dependencyEdge, 1)
        return edge
    }

    /// Frees an edge that is linked nowhere. Its dependency is still to be released.
    @inline(__always)
    fileprivate static func free(_ edge: UnsafeMutablePointer<DependencyEdge>) -> Unmanaged<Operation> {
        let dependency = edge.pointee.dependency
        edge.deallocate()
        LiveObjects.count(.dependencyEdge, -1)
        return dependency
    }

    /// Frees the edges of an operation in its deinit and releases its dependencies.
    ///
    /// Releasing the last of a chain of a million operations would recurse a million deep. So the outermost deinit on
    /// a thread unrolls: those nested in it hand their edges to its list instead (contract E22).
    static func releaseAll(of operation: Operation) {
        var edge = operation.dependencyEdges
        operation.dependencyEdges = nil
        var own: Pointer?
        while let current = edge {
            edge = current.pointee.nextOfDependent
            current.pointee.dependency._withUnsafeGuaranteedRef { _ = $0.unlink(current) }
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

    private typealias Pointer = UnsafeMutablePointer<DependencyEdge>
}
