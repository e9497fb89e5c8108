import CLinux
import Synchronization

/// One dependency of one operation. Made by `addDependency`, freed by `removeDependency` or with the dependent. Where
/// both ends have no other, none is made: see `SuccessorList`.
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
    /// The dependent's next older dependency. Written by the adding thread before it publishes the edge. From then on
    /// guarded by the dependent's `lock`.
    var nextOfDependent = DependencyLink.end
    /// The next older entry in the dependency's `SuccessorList`. Guarded by that list.
    var older = DependencyLink.none
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

    /// An edge in no list. Takes over a reference to the dependency.
    @inline(__always)
    static func make(of dependent: Operation, on dependency: Unmanaged<Operation>) -> Pointer {
        let (memory, place) = Slab<DependencyEdge>.take()
        let edge = memory.bindMemory(to: DependencyEdge.self, capacity: 1)
        edge.initialize(to: DependencyEdge(dependent: dependent, place: place, dependency: dependency))
        LiveObjects.count(.dependencyEdge, 1)
        return edge
    }

    /// Frees an edge in no list. The caller releases the dependency, which is returned.
    @inline(__always)
    static func free(_ edge: Pointer, into places: inout Slab<DependencyEdge>.Places) -> Unmanaged<Operation> {
        let dependency = edge.pointee.dependency
        let place = Int(edge.pointee.dependentAndPlace & Self.placeMask)
        edge.deinitialize(count: 1)
        LiveObjects.count(.dependencyEdge, -1)
        places.add(edge, place: place)
        return dependency
    }

    /// For a place's number in an object's address. Objects are aligned to 16 bytes.
    private static let placeMask: UInt = 0b1111

    var dependent: Unmanaged<Operation> {
        .fromOpaque(UnsafeRawPointer(bitPattern: dependentAndPlace & ~Self.placeMask).unsafelyUnwrapped)
    }

    /// A dependent's `state`. It is the first stored property, behind the object's header of two words: `checkLayout`
    /// checks it. Not read through a reference, which might retain the dependent.
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

extension DependencyEdge: InSlabs {
    static var slabCapacity: Int { 15 }
    static var slabOfThread: UnsafeMutableRawPointer? {
        @inline(__always) get { clinux_edge_slab() }
        @inline(__always) set { clinux_set_edge_slab(newValue) }
    }
    static func returnPlacesAtThreadEnd() { clinux_at_thread_end { Slab<DependencyEdge>.detachThread() } }
}
