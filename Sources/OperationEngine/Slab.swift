import CLinux
import Synchronization

/// A type whose values lie in slabs.
protocol InSlabs: ~Copyable {
    /// Values for which a slab has places.
    static var slabCapacity: Int { get }
    /// The slab that the calling thread takes places from.
    static var slabOfThread: UnsafeMutableRawPointer? { get set }
    /// Has `Slab.detachThread` called when the calling thread ends.
    static func returnPlacesAtThreadEnd()
}

/// Memory for many small values of one type: one `malloc` for a slab of them.
///
/// A thread takes the places of its slab one after another, and then another slab. A place that is returned is not used
/// again. Any thread returns places, several with one atomic subtraction, and the thread that returns the last place of
/// a slab frees the slab. So no thread waits for another, and what is released leaves no memory behind except the
/// unused places of its maker's last slab.
enum Slab<Element: InSlabs & ~Copyable> {
    private static var stride: Int {
        @inline(__always) get { MemoryLayout<Element>.stride }
    }

    /// The slab's place 0. The others count from 1.
    @inline(__always)
    static func take() -> (memory: UnsafeMutableRawPointer, place: Int) {
        let slab = Element.slabOfThread ?? makeSlab()
        let header = slab.assumingMemoryBound(to: SlabHeader.self)
        let place = header.pointee.taken &+ 1
        header.pointee.taken = place
        // From here on the slab may be freed with its last value.
        if place == Element.slabCapacity { Element.slabOfThread = nil }
        return (slab + place &* stride, place)
    }

    /// The number of an element's slab, which no other slab of the process has or will have.
    static func number(of element: UnsafeMutablePointer<Element>, place: Int) -> UInt64 {
        (UnsafeMutableRawPointer(element) - place &* stride).assumingMemoryBound(to: SlabHeader.self).pointee.number
    }

    @inline(never)
    private static func makeSlab() -> UnsafeMutableRawPointer {
        // Not `allocate`: on Linux it asks for an alignment, and takes several times as long.
        guard let slab = malloc((Element.slabCapacity + 1) * stride) else { fatalError("no memory for a slab") }
        slab.bindMemory(to: SlabHeader.self, capacity: 1).initialize(to: SlabHeader(capacity: Element.slabCapacity))
        Element.slabOfThread = slab
        Element.returnPlacesAtThreadEnd()
        return slab
    }

    /// Collects places that one thread returns one after another. Places of the same slab, as neighbours mostly are,
    /// are returned in one step. It holds back places of one slab at most.
    struct Places: ~Copyable {
        private var slab: UnsafeMutableRawPointer?
        private var count = 0

        init() {}

        @inline(__always)
        mutating func add(_ element: UnsafeMutablePointer<Element>, place: Int) {
            let memory = UnsafeMutableRawPointer(element)
            #if DEBUG
                // A thread that still uses the value shall crash.
                memset(memory, 0xA5, stride)
            #endif
            let slab = memory - place &* stride
            if slab != self.slab {
                self = Places()
                self.slab = slab
            }
            count &+= 1
        }

        deinit { if let slab { Slab.returnPlaces(count, of: slab) } }
    }

    private static func returnPlaces(_ count: Int, of slab: UnsafeMutableRawPointer) {
        let header = slab.assumingMemoryBound(to: SlabHeader.self)
        // Releasing and acquiring: the thread that frees the slab comes after all uses of its values.
        let rest = header.pointee.unreturned.wrappingSubtract(count, ordering: .acquiringAndReleasing).newValue
        if rest == 0 { CLinux.free(slab) }
    }

    /// Called when the thread ends: returns the places that it has not taken.
    static func detachThread() {
        guard let slab = Element.slabOfThread else { return }
        Element.slabOfThread = nil
        returnPlaces(Element.slabCapacity - slab.assumingMemoryBound(to: SlabHeader.self).pointee.taken, of: slab)
    }
}

private struct SlabHeader: ~Copyable {
    /// Places that are in use or may still be taken. Not one of the atomics that the explorer schedules, because no
    /// other thread's next step depends on it.
    let unreturned: Synchronization.Atomic<Int>
    /// Places taken. Belongs to the slab's thread.
    var taken = 0
    let number: UInt64

    /// Relaxed: the number is all that threads exchange. Like `unreturned`, not one of the explorer's.
    private static let numbers = Synchronization.Atomic<UInt64>(0)

    init(capacity: Int) {
        unreturned = Synchronization.Atomic(capacity)
        number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

/// Keeps fields apart that different processors write, where their cache lines are of 64 bytes.
struct CacheLine {
    private let bytes: [64 of UInt8] = .init(repeating: 0)
}
