import Synchronization

/// What the holder of a lease may choose: items of this band, and only while the queue runs on this target.
struct Lease {
    let band: NiceBand
    let target: LeaseTarget
}

/// Where the leases of a queue go: into the engine's pool, or into a queue of Dispatch.
///
/// Each setting of a Dispatch queue gives a new number. A lease for an earlier setting may lie there for long. Its
/// number shows that, and it chooses nothing. So no operation runs where the queue no longer runs.
struct LeaseTarget: Equatable {
    private let number: UInt64

    static let pool = LeaseTarget(number: 0)

    static func next() -> LeaseTarget { LeaseTarget(number: lastNumber.wrappingAdd(1, ordering: .relaxed).newValue) }

    private static let lastNumber = Atomic<UInt64>(0)
}
