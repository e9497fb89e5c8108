/// The list of its queue that an item is in. Guarded by the queue's lock.
///
/// The phase in the state word says what any thread may do with an operation. The place says only where the queue finds
/// it. The two change at different moments: an operation in the phase `enqueued` may be in no list or in the ready
/// list.
struct ListPlace: Equatable {
    enum Kind: UInt8 {
        /// In no list: not added yet, in the inbox, held by the thread that files it, or gone.
        case none
        case waiting
        case ready
        /// A runner has it in hand, or it is among the guests.
        case chosen
        /// The same, and it is counted in `QueueTally.cancelled`.
        case chosenCancelled
    }

    var kind: Kind
    /// The list among the ready ones; kept when it is chosen.
    var level = PriorityLevel.normal
    var band = NiceBand.normal

    var isChosen: Bool { kind == .chosen || kind == .chosenCancelled }

    static let none = ListPlace(kind: .none)
    static let waiting = ListPlace(kind: .waiting)
    /// The place of a closure, which has normal priority.
    static let readyClosure = ListPlace(kind: .ready)
    /// The place of an item that ends without having been started.
    static let slotless = ListPlace(kind: .ready, level: .slotless)
}
