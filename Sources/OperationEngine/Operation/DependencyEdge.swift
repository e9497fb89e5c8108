import CLinux
import Glibc
import Synchronization

/// One dependency of one operation. Made by `addDependency`, freed by `removeDependency` or with the dependent.
///
/// The edge retains the dependency, so that `dependencies` can list it after it has finished (contract E11). It does
/// not retain the dependent. A thread that follows an edge in the dependency's `SuccessorList` has locked that list.
/// The dependent's deinit has to lock it too, to take the edge out before the memory goes (contract E21). The dependent
/// must not be retained there either, not even for a moment: the lock's holder might end up with the last release. So
/// the holder uses the dependent's state through a pointer. It uses the dependent itself only once it has brought the
/// dependent into the phase `filing`, in which its queue keeps it alive.
struct DependencyEdge: ~Copyable {
    typealias Pointer = UnsafeMutablePointer<DependencyEdge>

    /// The dependent's address and, in the bits that its alignment leaves free, the edge's place in its slab.
    private let dependentAndPlace: UInt
    let dependency: Unmanaged<Operation>
    /// The dependent's next older edge. Written by the adding thread before it publishes the edge. From then on guarded
    /// by the dependent's `lock`.
    var nextOfDependent: Pointer?
    /// The next older edge in the dependency's `SuccessorList`. Guarded by that list.
    var older: Pointer?
    /// The next newer edge there, or a mark. Written by the thread that has locked the list, and read without the lock
    /// by `SuccessorList.remove`. A thread that reads `unlinked` acquires what the lock's holder has released. So it
    /// comes after everything that the holder does with the edge, and with a dependent that its queue does not keep
    /// alive.
    private let newerBits: Atomic<UInt>

    enum Newer: Equatable {
        /// The edge was pushed, and the list was not walked since.
        case unknown
        /// In no list. The edges of a list that is released in one batch are not marked: that list is empty from then
        /// on.
        case unlinked
        /// It is the newest edge, or was when the list was last walked.
        case none
        case edge(Pointer)
    }

    private init(dependent: Operation, place: Int, dependency: Unmanaged<Operation>) {
        dependentAndPlace = UInt(bitPattern: Unmanaged.passUnretained(dependent).toOpaque()) | UInt(place)
        self.dependency = dependency
        newerBits = Atomic(Self.unlinkedBits)
    }

    /// An edge in no list. Retains the dependency.
    @inline(__always)
    static func make(of dependent: Operation, on dependency: Operation) -> Pointer {
        let (memory, place) = EdgeSlab.take()
        let edge = memory.bindMemory(to: DependencyEdge.self, capacity: 1)
        edge.initialize(
            to: DependencyEdge(dependent: dependent, place: place, dependency: .passRetained(dependency)))
        LiveObjects.count(.dependencyEdge, 1)
        // Both are the dependent's address and a constant. So a release build compares nothing where the layout is as
        // `state(of:)` takes it to be, and traps at the first dependency where it is not.
        precondition(state(of: .passUnretained(dependent)) == withUnsafePointer(to: dependent.state) { $0 })
        return edge
    }

    /// Frees an edge in no list. The caller releases the dependency, which is returned.
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

    /// A dependent's `state`. It is the first stored property, behind the object's header of two words: `make` checks
    /// it. Not read through a reference, which might retain the dependent.
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

/// Memory for edges: one `malloc` for fifteen of them.
///
/// A thread takes the places of its slab one after another, and then another slab. A place that is returned is not used
/// again. Any thread returns places, several with one atomic subtraction, and the thread that returns the last place of
/// a slab frees the slab. So no thread waits for another, and a released graph leaves no memory behind except the
/// unused places of its maker's last slab.
enum EdgeSlab {
    private static let capacity = 15
    private static let stride = MemoryLayout<DependencyEdge>.stride
    /// For a place's number, which counts from 1, in an object's address. Objects are aligned to 16 bytes.
    static let placeMask: UInt = 0b1111

    /// The slab's place 0.
    private struct Header: ~Copyable {
        /// Places that are in use or may still be taken. Not one of the atomics that the explorer schedules, because no
        /// other thread's next step depends on it.
        let unreturned = Synchronization.Atomic<Int>(capacity)
        /// Places taken. Belongs to the slab's thread.
        var taken = 0
    }

    @inline(__always)
    static func take() -> (memory: UnsafeMutableRawPointer, place: Int) {
        let slab = clinux_edge_slab() ?? makeSlab()
        let header = slab.assumingMemoryBound(to: Header.self)
        let place = header.pointee.taken &+ 1
        header.pointee.taken = place
        // From here on the slab may be freed with its last edge.
        if place == capacity { clinux_set_edge_slab(nil) }
        return (slab + place &* stride, place)
    }

    @inline(never)
    private static func makeSlab() -> UnsafeMutableRawPointer {
        // Not `allocate`: on Linux it asks for an alignment, and takes several times as long.
        guard let slab = malloc((capacity + 1) * stride) else { fatalError("no memory for dependencies") }
        slab.bindMemory(to: Header.self, capacity: 1).initialize(to: Header())
        clinux_set_edge_slab(slab)
        clinux_at_thread_end { EdgeSlab.detachThread() }
        return slab
    }

    /// Collects places that one thread returns one after another. Places of the same slab, as neighbours mostly are,
    /// are returned in one step. It holds back places of one slab at most.
    struct Places: ~Copyable {
        private var slab: UnsafeMutableRawPointer?
        private var count = 0

        init() {}

        @inline(__always)
        mutating func add(_ edge: DependencyEdge.Pointer, place: Int) {
            let memory = UnsafeMutableRawPointer(edge)
            #if DEBUG
                // A thread that still follows the edge shall crash.
                memset(memory, 0xA5, stride)
            #endif
            let slab = memory - place &* stride
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
        // Releasing and acquiring: the thread that frees the slab comes after all uses of its edges.
        let rest = header.pointee.unreturned.wrappingSubtract(count, ordering: .acquiringAndReleasing).newValue
        if rest == 0 { Glibc.free(slab) }
    }

    /// Called when the thread ends: returns the places that it has not taken.
    private static func detachThread() {
        guard let slab = clinux_edge_slab() else { return }
        clinux_set_edge_slab(nil)
        returnPlaces(capacity - slab.assumingMemoryBound(to: Header.self).pointee.taken, of: slab)
    }
}
