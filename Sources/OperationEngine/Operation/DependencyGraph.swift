import CLinux
import Synchronization

extension Operation {
    /// Makes operations depend on each other, as `addDependency` does for each pair, in one step.
    ///
    /// Meant for a graph that is known before it runs. It takes one allocation, and less time to make, to run and to free
    /// than dependencies that are added one by one. `dependencies` lists them, `addDependency` and `removeDependency`
    /// change them, and the operations may go to different queues. The memory goes with the last of the operations.
    ///
    /// Where an operation has a dependency or an observer already, is in a queue, or overrides `addDependency` or
    /// `isReady`, its dependencies are added one by one. So are those beyond 63 of one operation. These come after the
    /// others in the order of adding.
    ///
    /// From any thread. In time proportional to the operations and the pairs. A thread that removes one of these
    /// dependencies before this has returned may come too early. If one of the pairs makes an operation depend on itself,
    /// that is a `Misuse`, and nothing has changed (contract E17).
    ///
    /// - Parameters:
    ///   - dependencies: for each, the position of an operation, and that of the one on which it depends.
    ///   - operations: those operations. A position beyond them traps, as with any array.
    public static func addDependencies(_ dependencies: [(of: Int, on: Int)], among operations: [Operation]) {
        if !DependencyGraph.link(operations, dependencies) { Misuse.selfDependency.report() }
    }
}

/// The dependencies of several operations that were declared in one step, in one block of memory: a *node* for each
/// operation, then the dependencies of each node, then the dependents of each.
///
/// An operation is in one graph at most. Its node ends its `DependencyList` and its `SuccessorList`. What is added later
/// is put in front of it, as edges.
///
/// **Counting.** In the state word of an operation the dependencies of its node count as one. `GraphNode.pending` has a
/// bit for each of them. The thread that clears the last bit counts that one down. So a dependency costs one atomic step.
/// It is counted once, whether the finishing thread or `removeDependency` clears its bit first. A finishing thread takes no
/// lock for the dependents of a node.
///
/// **Lifetime.** Each operation whose `DependencyList` ends with a node holds the block, until its deinit. A thread that
/// counts dependents of a node down is finishing the node's operation, so the block exists. It retains no dependent. If
/// it clears the last bit of one, it uses that dependent until it has set `isReleased`. The dependent's deinit sets
/// `isGone` among the bits. If a bit is left, no thread will ever clear the last one; else the deinit waits for
/// `isReleased` (contract E21).
///
/// **Publication.** `link` writes all nodes before any of them can be found. Finishing threads find a node through the
/// `SuccessorList` of its operation. All dependents have been counted before `link` stores nodes there.
enum DependencyGraph {
    typealias Pairs = [(of: Int, on: Int)]

    /// In front of the nodes, which are aligned to 16 bytes: see `DependencyLink`.
    private struct Header: ~Copyable {
        /// The operations that hold the block. Not one of the explorer's atomics: it decides only who frees the block.
        let holders: Synchronization.Atomic<Int>
    }
    private static let headerSize = 16

    /// Returns false, with no change, if an operation would depend on itself.
    static func link(_ operations: [Operation], _ pairs: Pairs) -> Bool {
        guard let (memory, nodes, others) = make(operations, pairs) else { return false }
        var holders = 0
        for index in operations.indices where !nodes[index].isEmpty {
            nodes[index].isJoined = nodes[index].operation._withUnsafeGuaranteedRef { $0.join(nodes + index) }
            if nodes[index].isJoined { holders += 1 } else { nodes[index].giveUp(operations[index]) }
        }
        memory.initializeMemory(as: Header.self, to: Header(holders: .init(holders)))
        for index in operations.indices where nodes[index].dependentCount > 0 {
            let operation = nodes[index].operation
            let isFound =
                nodes[index].isJoined
                && operation._withUnsafeGuaranteedRef { $0.successors.put(DependencyLink(to: nodes + index)) }
            if !isFound {
                for entry in nodes[index].dependents where nodes[Int(entry.node)].isPending(entry.bit) {
                    operations[Int(entry.node)].addDependency(operations[index])
                }
            }
            // If it has finished in the meantime, its thread may not have found the node.
            if !isFound || operation._withUnsafeGuaranteedRef({ $0.state.loadAfterPush().isFinished }) {
                var filer = BatchFiler(own: nil)
                countDependentsDown(of: nodes + index, &filer)
                if filer.makeCalls() { Runner.releaseKept() }
            }
        }
        for pair in others { operations[pair.of].addDependency(operations[pair.on]) }
        if holders == 0 { free(memory) }
        return true
    }

    /// Makes the block, which no other thread knows yet. Also returns the pairs that are not in it: those beyond the bits
    /// of a node, and those where the dependency has no other dependent and the dependent no other dependency, which need
    /// neither node nor edge. Nil if an operation would depend on itself.
    private static func make(
        _ operations: [Operation], _ pairs: Pairs
    ) -> (UnsafeMutableRawPointer, nodes: GraphNode.Pointer, others: Pairs)? {
        let nodesSize = operations.count * MemoryLayout<GraphNode>.stride
        let dependenciesSize = pairs.count * MemoryLayout<Unmanaged<Operation>?>.stride
        let dependentsSize = pairs.count * MemoryLayout<GraphNode.Dependent>.stride
        guard let memory = malloc(headerSize + nodesSize + dependenciesSize + dependentsSize) else {
            fatalError("no memory for a graph")
        }
        LiveObjects.count(.dependencyGraph, 1)
        let nodes = (memory + headerSize).bindMemory(to: GraphNode.self, capacity: operations.count)
        for (index, operation) in operations.enumerated() {
            (nodes + index).initialize(to: GraphNode(operation, index))
        }
        for pair in pairs {
            precondition(operations.indices.contains(pair.of) && operations.indices.contains(pair.on))
            if nodes[pair.of].operation.toOpaque() == nodes[pair.on].operation.toOpaque() {
                free(memory)
                return nil
            }
            let isCounted = nodes[pair.of].countDependency()
            if isCounted, !nodes[pair.on].isFinished { nodes[pair.on].dependentCount += 1 }
        }
        var dependencies = memory + headerSize + nodesSize
        var dependents = dependencies + dependenciesSize
        for index in operations.indices { nodes[index].makeRoom(&dependencies, &dependents) }
        var others: Pairs = []
        for pair in pairs {
            if nodes[pair.of].dependencyCount == 1, nodes[pair.on].dependentCount == 1 {
                (nodes[pair.of].dependencyCount, nodes[pair.on].dependentCount) = (0, 0)
            }
            if !nodes[pair.of].hasRoom {
                others.append(pair)
            } else if nodes[pair.on].isFinished {
                _ = nodes[pair.of].add(nodes[pair.on].operation, isPending: false)
            } else {
                nodes[pair.on].add(nodes[pair.of].add(nodes[pair.on].operation, isPending: true))
            }
        }
        return (memory, nodes, others)
    }

    /// Counts every dependent of a node down, in the order of the pairs. Called by the finishing thread of the node's
    /// operation, or by `link`.
    static func countDependentsDown(of node: GraphNode.Pointer, _ filer: inout BatchFiler) {
        let nodes = node - Int(node.pointee.index)
        withUnsafeTemporaryAllocation(of: Unmanaged<Operation>.self, capacity: Operation.successorsAtOnce) { batch in
            var readied = 0
            for entry in node.pointee.dependents {
                let dependent = nodes + Int(entry.node)
                guard dependent.pointee.clear(entry.bit) else { continue }
                batch[readied] = dependent.pointee.operation
                if Operation.countDown(batch[readied], isWithoutEdge: true, &filer) { readied += 1 }
                if readied == batch.count {
                    filer.file(batch)
                    filer.fileOwn()
                    readied = 0
                }
            }
            filer.file(batch[..<readied])
        }
    }

    /// Releases the dependencies of an operation that is gone, and the block if no other operation holds it.
    static func free(_ node: GraphNode.Pointer) {
        node.pointee.releaseDependencies()
        let memory = UnsafeMutableRawPointer(node - Int(node.pointee.index)) - headerSize
        let header = memory.assumingMemoryBound(to: Header.self)
        // Acquiring and releasing: the thread that frees the block comes after all uses of it.
        if header.pointee.holders.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { free(memory) }
    }

    private static func free(_ memory: UnsafeMutableRawPointer) {
        LiveObjects.count(.dependencyGraph, -1)
        CLinux.free(memory)
    }
}

/// An operation of a `DependencyGraph`.
struct GraphNode: ~Copyable {
    typealias Pointer = UnsafeMutablePointer<GraphNode>

    /// A node that depends on another one, and the bit of that dependency there.
    struct Dependent {
        let node: UInt32
        let bit: UInt32
    }

    /// A bit for each dependency that still counts, and `isGone`.
    private let pending = Atomic<UInt64>(0)
    /// The operation's address. From its deinit on, that of the node to be freed next.
    private var owner: UnsafeMutableRawPointer?
    /// Nil until `makeRoom`.
    private var firstDependency: UnsafeMutablePointer<Unmanaged<Operation>?>?
    private var firstDependent: UnsafeMutablePointer<Dependent>?
    let index: UInt32
    fileprivate(set) var dependentCount: UInt32 = 0
    /// How many are written, while the node is made.
    private var writtenDependents: UInt32 = 0
    private var writtenDependencies: UInt8 = 0
    fileprivate(set) var dependencyCount: UInt8 = 0
    /// Whether the node ends the operation's `DependencyList`. Used by `link` alone.
    fileprivate var isJoined = false
    /// Whether the operation had finished when the node was made.
    fileprivate let isFinished: Bool

    private static let mostDependencies: UInt8 = 63
    private static let isGone: UInt64 = 1 << 63

    fileprivate init(_ operation: Operation, _ index: Int) {
        owner = Unmanaged.passUnretained(operation).toOpaque()
        self.index = UInt32(index)
        isFinished = operation.state.load().isFinished
    }

    var isEmpty: Bool { dependencyCount == 0 && dependentCount == 0 }
    var operation: Unmanaged<Operation> { .fromOpaque(owner.unsafelyUnwrapped) }
    var dependents: UnsafeMutableBufferPointer<Dependent> {
        UnsafeMutableBufferPointer(start: firstDependent, count: Int(dependentCount))
    }
    /// In the order of adding, retained, with nil where one was removed. Guarded by the operation's `lock`.
    var dependencies: UnsafeMutableBufferPointer<Unmanaged<Operation>?> {
        UnsafeMutableBufferPointer(start: firstDependency, count: Int(dependencyCount))
    }

    // MARK: Making

    /// Counts one dependency more. Returns false if there are too many.
    fileprivate mutating func countDependency() -> Bool {
        guard dependencyCount < Self.mostDependencies else { return false }
        dependencyCount += 1
        return true
    }

    /// Points the node to memory for as many entries as were counted.
    fileprivate mutating func makeRoom(
        _ dependencies: inout UnsafeMutableRawPointer, _ dependents: inout UnsafeMutableRawPointer
    ) {
        firstDependency = dependencies.bindMemory(to: Unmanaged<Operation>?.self, capacity: Int(dependencyCount))
        firstDependent = dependents.bindMemory(to: Dependent.self, capacity: Int(dependentCount))
        dependencies += Int(dependencyCount) * MemoryLayout<Unmanaged<Operation>?>.stride
        dependents += Int(dependentCount) * MemoryLayout<Dependent>.stride
    }

    fileprivate var hasRoom: Bool { writtenDependencies < dependencyCount }

    /// Writes a dependency, and retains it. One that has finished is not counted (contract E10). Returns the entry for the
    /// other node.
    fileprivate mutating func add(_ dependency: Unmanaged<Operation>, isPending: Bool) -> Dependent {
        let bit = UInt32(writtenDependencies)
        dependencies[Int(bit)] = dependency.retain()
        writtenDependencies += 1
        if isPending { pending.store(pending.load(ordering: .relaxed) | 1 << UInt64(bit), ordering: .relaxed) }
        return Dependent(node: index, bit: bit)
    }

    fileprivate mutating func add(_ dependent: Dependent) {
        dependents[Int(writtenDependents)] = dependent
        writtenDependents += 1
    }

    /// Adds the dependencies to the operation one by one. No thread has found the node, and none will.
    fileprivate func giveUp(_ operation: Operation) {
        pending.store(0, ordering: .relaxed)
        for case let dependency? in dependencies {
            dependency._withUnsafeGuaranteedRef { operation.addDependency($0) }
        }
        releaseDependencies()
    }

    // MARK: Counting

    func isPending(_ bit: UInt32) -> Bool { pending.load(ordering: .relaxed) >> UInt64(bit) & 1 != 0 }

    /// The dependencies that still count.
    var pendingCount: Int { (pending.load(ordering: .relaxed) & ~Self.isGone).nonzeroBitCount }

    /// Clears a bit. Returns whether it was the last one. Then the caller counts the operation down, and sets
    /// `isReleased`.
    func clear(_ bit: UInt32) -> Bool {
        let bit: UInt64 = 1 << UInt64(bit)
        // Acquiring and releasing: the thread that clears the last bit passes on what every dependency has written (E24).
        return pending.bitwiseAnd(~bit, ordering: .acquiringAndReleasing).oldValue == bit
    }

    // MARK: Ending

    /// Called in the operation's deinit. Returns whether no thread will use the operation because of this node. If not,
    /// a thread has cleared the last bit, and will set `isReleased`.
    func end() -> Bool { pending.bitwiseOr(Self.isGone, ordering: .relaxed).oldValue != 0 }

    /// The node to be freed next, in a list of nodes of operations that are gone.
    var nextEnded: Pointer? {
        get { owner?.assumingMemoryBound(to: GraphNode.self) }
        set { owner = UnsafeMutableRawPointer(newValue) }
    }

    fileprivate func releaseDependencies() {
        for case let dependency? in dependencies { dependency.release() }
    }
}
