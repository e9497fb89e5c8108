import protocol Foundation.NSObjectProtocol
import struct Foundation.Notification
import class Foundation.NotificationCenter
import class OperationEngine.OperationQueue

extension NotificationCenter {
    /// Calls `block` for each notification, as an operation of `queue`. It does what Foundation's method of this name
    /// does for a Foundation queue.
    ///
    /// - `post` returns when the queue is empty. By then the block has run, and everything else that was in the queue.
    ///   A queue that is suspended, or has the limit 0, delays `post`. If the poster is an operation of the same queue,
    ///   the block runs at once, inside that operation. So it does on the main thread for the main queue.
    /// - The centre does not keep the queue alive. When the queue is gone, the block is no longer called.
    ///
    /// - Returns: the observer, which `removeObserver` takes. The centre keeps the block until then.
    ///
    /// From any thread.
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        addObserver(forName: name, object: object, queue: nil) { [weak queue] notification in
            guard let queue else { return }
            if OperationQueue.current === queue { return block(notification) }
            // The poster waits, so no two threads use the notification at once.
            nonisolated(unsafe) let notification = notification
            queue.addOperation { block(notification) }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    /// As the method above, for a queue that may be nil. With nil, the block runs in `post`.
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        guard let queue else { return addObserver(forName: name, object: object, queue: nil, using: block) }
        return addObserver(forName: name, object: object, queue: queue, using: block)
    }
}
