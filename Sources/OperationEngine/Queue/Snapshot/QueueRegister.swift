/// All queues of the process, for snapshots of those that no one has at hand.
///
/// A queue enters in its init, and leaves in its deinit. The lock is held while the list is walked, so no queue in it
/// goes, nor its core. Its `liveOwner` is nil once its deinit has begun. Nothing is released under the lock.
enum QueueRegister {
    private static let lock = FutexLock()
    /// Guarded by `lock`, as are the cores' links.
    nonisolated(unsafe) private static var first: Unmanaged<QueueCore>?

    static func enter(_ core: QueueCore) {
        lock.withLock {
            core.nextRegistered = first
            first?._withUnsafeGuaranteedRef { $0.previousRegistered = .passUnretained(core) }
            first = .passUnretained(core)
        }
    }

    static func leave(_ core: QueueCore) {
        lock.withLock {
            let (before, after) = (core.previousRegistered, core.nextRegistered)
            if let before { before._withUnsafeGuaranteedRef { $0.nextRegistered = after } } else { first = after }
            after?._withUnsafeGuaranteedRef { $0.previousRegistered = before }
        }
    }

    /// The queues that exist, or only those whose cores lie at the addresses.
    static func queues(at addresses: Set<UnsafeMutableRawPointer>? = nil) -> [OperationQueue] {
        if addresses?.isEmpty == true { return [] }
        return lock.withLock {
            var all: [OperationQueue] = []
            var link = first
            while let current = link {
                current._withUnsafeGuaranteedRef {
                    link = $0.nextRegistered
                    guard addresses?.contains(current.toOpaque()) ?? true, let queue = $0.liveOwner else { return }
                    all.append(queue)
                }
            }
            return all
        }
    }
}
