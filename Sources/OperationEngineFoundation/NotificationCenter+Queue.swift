import protocol Foundation.NSObjectProtocol
import struct Foundation.Notification
import class Foundation.NotificationCenter
import class OperationEngine.OperationQueue

extension NotificationCenter {
    /// Calls `block` for each notification, as an operation of `queue`: what Foundation's method of this name does for a
    /// queue of its own, and in the same way.
    ///
    /// - `post` returns when the queue is empty: the block has run by then, and whatever else was in the queue. A queue
    ///   that is suspended, or limited to 0, holds it up. Where the poster is an operation of the same queue, the block
    ///   runs at once, inside of it; so it does on the main thread for the main queue.
    /// - The centre does not keep the queue alive. When it is gone, the block is no longer called.
    ///
    /// - Returns: what `removeObserver` takes. The centre keeps the block until then.
    ///
    /// From any thread.
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        addObserver(forName: name, object: object, queue: nil) { [weak queue] notification in
            guard let queue else { return }
            if OperationQueue.current === queue { return block(notification) }
            // The poster waits, so that no two threads have it at once.
            nonisolated(unsafe) let notification = notification
            queue.addOperation { block(notification) }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    /// As the method with a queue that is none, for a variable that may be nil: then the block runs in `post`.
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        guard let queue else { return addObserver(forName: name, object: object, queue: nil, using: block) }
        return addObserver(forName: name, object: object, queue: queue, using: block)
    }
}
