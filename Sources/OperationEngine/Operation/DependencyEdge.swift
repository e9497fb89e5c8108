import CLinux
import Glibc
import Synchronization

/// One "dependent waits for dependency", made by `addDependency`, freed by `removeDependency` or with the dependent.
///
/// The dependency is retained, so that `dependencies` can list it after it has finished (contract E11). The dependent
/// is not: while the edge is linked into the dependency's `SuccessorList`, whoever follows it has locked that list,
/// and the dependent's deinit has to lock it to take the edge out before its memory goes (contract E21). It must not
/// be retained there either, not even for a moment: that might leave the last release to the lock's holder. So the
/// holder uses the dependent's state through a pointer, and the dependent itself only once it has brought it into the
/// phase `filing`, when its queue keeps it alive.
struct DependencyEdge: ~Copyable {
    typealias Pointer = UnsafeMutablePointer<DependencyEdge>

    /// The dependent's address and, in the bits that its alignment leaves free, the edge's place in its slab.
    private let dependentAndPlace: UInt
    let dependency: Unmanaged<Operation>
    /// The dependent's next older edge. Written by the adding thread before it publishes the edge, and from there on
    /// guarded by the dependent's `lock`.
    var nextOfDependent: Pointer?
    /// The next older edge in the dependency's `SuccessorList`. Guarded by that.
    var older: Pointer?
    /// The next newer edge there, or what stands for it. Written by who has locked the list, and read without a lock by
    /// `SuccessorList.remove`: there one that finds `unlinked` comes, by acquiring what the holder has released, after all
    /// that the holder does with the edge and with a dependent that is not kept alive by its queue.
    private let newerBits: Atomic<UInt>

    enum Newer: Equatable {
        /// The edge was pushed, and the list not walked since.
        case unknown
        /// In no list. The edges of a list that is released in one batch do not say so: it is empty from then on.
        case unlinked
        /// It is the newest, or was when the list was last walked.
        case none
        case edge(Pointer)
    }

    private init(dependent: Operation, place: Int, dependency: Unmanaged<Operation>) {
        dependentAndPlace = UInt(bitPattern: Unmanaged.passUnretained(dependent).toOpaque()) | UInt(place)
        self.dependency = dependency
        newerBits = Atomic(Self.unlinkedBits)
    }

    /// An edge that is linked nowhere. Retains the dependency.
    @inline(__always)
    static func make(of dependent: Operation, on dependency: Operation) -> Pointer {
        let (memory, place) = EdgeSlab.take()
        let edge = memory.bindMemory(to: DependencyEdge.self, capacity: 1)
        edge.initialize(
            to: DependencyEdge(dependent: dependent, place: place, dependency: .passRetained(dependency)))
        LiveObjects.count(.dependencyEdge, 1)
        assert(state(of: edge.pointee.dependent) == withUnsafePointer(to: dependent.state) { $0 })
        return edge
    }

    /// Frees an edge that is linked nowhere. Its dependency is still to be released.
    @inline(__always)
    static func free(_ edge: Pointer, into places: inout EdgeSlab.Places) -> Unmanaged<Operation> {
        let dependency = edge.pointee.dependency
        let place = Int(edge.pointee.dependentAndPlace & EdgeSlab.placeMask)
        edge.deinitialize(count: 1)
        LiveObjects.count(.dependencyEdge, -1)
        places.add(edge, place: place)
        return dependency
    }

    var dependent: Unmanaged<Operation> {
        .fromOpaque(UnsafeRawPointer(bitPattern: dependentAndPlace & ~EdgeSlab.placeMask).unsafelyUnwrapped)
    }

    /// A dependent's `state`, which is the first stored property, behind the object's header of two words.
    @inline(__always)
    static func state(of dependent: Unmanaged<Operation>) -> UnsafePointer<OperationState> {
        UnsafePointer((dependent.toOpaque() + 16).assumingMemoryBound(to: OperationState.self))
    }

    // MARK: The newer neighbour

    private static let unlinkedBits: UInt = 1
    private static let noneBits: UInt = 2

    var newer: Newer {
        switch newerBits.load(ordering: .acquiring) {
        case 0: .unknown
        case Self.unlinkedBits: .unlinked
        case Self.noneBits: .none
        case let address: .edge(Pointer(bitPattern: address).unsafelyUnwrapped)
        }
    }

    var isUnlinked: Bool { newerBits.load(ordering: .acquiring) == Self.unlinkedBits }

    func setNewer(_ newer: Newer) {
        switch newer {
        case .unknown: newerBits.store(0, ordering: .relaxed)
        case .unlinked: newerBits.store(Self.unlinkedBits, ordering: .releasing)
        case .none: newerBits.store(Self.noneBits, ordering: .relaxed)
        case .edge(let edge): newerBits.store(UInt(bitPattern: edge), ordering: .relaxed)
        }
    }
}

/// Memory for edges, some at a time: one `malloc` for fifteen.
///
/// A thread takes the places of its slab one after the other, and another slab when they are used up; a place that is
/// given back is not used again. Any thread gives places back, several by one atomic subtraction, and whoever gives back
/// the last of a slab frees it. So no thread ever waits for another, and a graph that is gone has left nothing behind but
/// what its maker's last slab may still give.
enum EdgeSlab {
    private static let capacity = 15
    private static let stride = MemoryLayout<DependencyEdge>.stride
    /// Of places, which are numbered from 1. Objects are aligned to 16 bytes.
    static let placeMask: UInt = 0b1111

    /// What stands at place 0.
    private struct Header: ~Copyable {
        /// Places that are in use or may still be taken. Not one of the explored atomics: no other thread's next step
        /// depends on it.
        let unreturned = Synchronization.Atomic<Int>(capacity)
        /// Places taken. Belongs to the thread whose slab it is.
        var taken = 0
    }

    @inline(__always)
    static func take() -> (memory: UnsafeMutableRawPointer, place: Int) {
        let slab = clinux_edge_slab() ?? makeSlab()
        let header = slab.assumingMemoryBound(to: Header.self)
        let place = header.pointee.taken + 1
        header.pointee.taken = place
        // From here on it may go as soon as its last edge does.
        if place == capacity { clinux_set_edge_slab(nil) }
        return (slab + place * stride, place)
    }

    @inline(never)
    private static func makeSlab() -> UnsafeMutableRawPointer {
        // Not `allocate`, which on Linux asks for an alignment, and takes several times as long.
        guard let slab = malloc((capacity + 1) * stride) else { fatalError("no memory for dependencies") }
        slab.bindMemory(to: Header.self, capacity: 1).initialize(to: Header())
        clinux_set_edge_slab(slab)
        clinux_at_thread_end { EdgeSlab.detachThread() }
        return slab
    }

    /// Places that one thread gives back, one after the other: those of one slab, as neighbours mostly are, in one step.
    /// What it holds back meanwhile is one slab at most.
    struct Places: ~Copyable {
        private var slab: UnsafeMutableRawPointer?
        private var count = 0

        init() {}

        @inline(__always)
        mutating func add(_ edge: DependencyEdge.Pointer, place: Int) {
            let memory = UnsafeMutableRawPointer(edge)
            #if DEBUG
                // Whoever still follows the edge is to notice.
                memset(memory, 0xA5, stride)
            #endif
            let slab = memory - place * stride
            if slab != self.slab {
                self = Places()
                self.slab = slab
            }
            count += 1
        }

        deinit { if let slab { EdgeSlab.returnPlaces(count, of: slab) } }
    }

    private static func returnPlaces(_ count: Int, of slab: UnsafeMutableRawPointer) {
        let header = slab.assumingMemoryBound(to: Header.self)
        // Releasing and acquiring: who frees the slab comes after all uses of its edges.
        let rest = header.pointee.unreturned.wrappingSubtract(count, ordering: .acquiringAndReleasing).newValue
        if rest == 0 { Glibc.free(slab) }
    }

    /// The calling thread ends.
    private static func detachThread() {
        guard let slab = clinux_edge_slab() else { return }
        clinux_set_edge_slab(nil)
        returnPlaces(capacity - slab.assumingMemoryBound(to: Header.self).pointee.taken, of: slab)
    }
}
