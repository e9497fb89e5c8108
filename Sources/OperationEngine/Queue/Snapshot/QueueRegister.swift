/// All queues of the process, for snapshots of those that no one has at hand.
///
/// A queue enters in its init, and leaves in its deinit. The lock is held while the list is walked, so no queue in it
/// goes, nor its core. Its `liveOwner` is nil once its deinit has begun. Nothing is released under the lock.
enum QueueRegister {
    private static let lock = FutexLock()
    /// Guarded by `lock`.
    nonisolated(unsafe) private static var cores = LinkedList<QueueCore>()

    static func enter(_ core: QueueCore) { lock.withLock { cores.append(core) } }

    static func leave(_ core: QueueCore) { lock.withLock { cores.remove(core) } }

    /// The queues that exist, or only those whose cores lie at the addresses.
    static func queues(at addresses: Set<UnsafeMutableRawPointer>? = nil) -> [OperationQueue] {
        if addresses?.isEmpty == true { return [] }
        return lock.withLock {
            var all: [OperationQueue] = []
            cores.visit {
                let isMeant = addresses?.contains(Unmanaged.passUnretained($0).toOpaque()) ?? true
                if isMeant, let queue = $0.liveOwner { all.append(queue) }
            }
            return all
        }
    }
}
