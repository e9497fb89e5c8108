/// All queues of the process, for snapshots of those that no one has at hand.
///
/// A queue enters when it is made, and its core leaves in its deinit. The lock is held while the list is walked, so no
/// core in it goes. A core does not keep its queue alive: `liveOwner` is nil once the queue's deinit has begun. Nothing
/// is released under the lock.
enum QueueRegister {
    private static let lock = FutexLock()
    /// Guarded by `lock`, as are the cores' links.
    nonisolated(unsafe) private static var first: Unmanaged<QueueCore>?

    static func enter(_ core: QueueCore) {
        lock.withLock {
            core.nextRegistered = first
            first?._withUnsafeGuaranteedRef { $0.previousRegistered = .passUnretained(core) }
            first = .passUnretained(core)
            core.isRegistered = true
        }
    }

    /// In the core's deinit.
    static func leave(_ core: QueueCore) {
        lock.withLock {
            guard core.isRegistered else { return }
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
