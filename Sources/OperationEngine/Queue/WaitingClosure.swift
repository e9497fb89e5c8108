import CLinux

/// A closure that was added to a queue, and for which no thread has asked for an operation object.
///
/// Its memory also serves as the place of a completion block: see `DetailsWord`.
///
/// For its queue it is a ready item of normal priority. The runner for which it is chosen calls it. It gets an object,
/// at its place, when a thread asks for the queue's operations, and when it ends while the queue is observed.
///
/// It belongs to the adding thread until that pushes it into the inbox, then to the queue, and to the runner that has
/// chosen it. The thread that takes it out of the queue frees it.
struct WaitingClosure {
    typealias Pointer = UnsafeMutablePointer<WaitingClosure>

    /// The first property: see `QueueItem.Pointer.closure`.
    private(set) var item = QueueItem(.closure)
    let slabPlace: UInt8
    var block: BlockPlace

    /// A closure in no queue.
    @inline(__always)
    static func make(_ closure: @escaping @Sendable () -> Void) -> QueueItem.Pointer { make(BlockPlace(closure)) }

    @inline(__always)
    static func make(_ block: BlockPlace) -> QueueItem.Pointer {
        let (memory, place) = Slab<WaitingClosure>.take()
        let made = memory.bindMemory(to: WaitingClosure.self, capacity: 1)
        made.initialize(
            to: WaitingClosure(slabPlace: UInt8(truncatingIfNeeded: place), block: block))
        LiveObjects.count(.waitingClosure, 1)
        return memory.assumingMemoryBound(to: QueueItem.self)
    }
}

extension WaitingClosure: InSlabs {
    static var slabCapacity: Int { 250 }
    static var slabOfThread: UnsafeMutableRawPointer? {
        @inline(__always) get { clinux_closure_slab() }
        @inline(__always) set { clinux_set_closure_slab(newValue) }
    }
    static func returnPlacesAtThreadEnd() { clinux_at_thread_end { Slab<WaitingClosure>.detachThread() } }
}

extension QueueItem.Pointer {
    /// The closure of an item that is one's.
    @inline(__always)
    var closure: WaitingClosure.Pointer {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: WaitingClosure.self)
    }
}

extension WaitingClosure.Pointer {
    var asItem: QueueItem.Pointer { UnsafeMutableRawPointer(self).assumingMemoryBound(to: QueueItem.self) }

    /// Frees the memory. The block was taken out of it.
    @inline(__always)
    func free(into places: inout Slab<WaitingClosure>.Places) {
        LiveObjects.count(.waitingClosure, -1)
        places.add(self, place: Int(pointee.slabPlace))
    }

    func free() {
        var places = Slab<WaitingClosure>.Places()
        free(into: &places)
    }
}
