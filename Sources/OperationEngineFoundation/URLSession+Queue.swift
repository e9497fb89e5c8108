import class FoundationNetworking.URLSession
import class FoundationNetworking.URLSessionConfiguration
import protocol FoundationNetworking.URLSessionDelegate
import class OperationEngine.OperationQueue

extension URLSession {
    /// A session that calls its delegate, and the completion handlers of its tasks, as operations of `queue`.
    ///
    /// `OperationQueue.current` is that queue there. Its limit should be 1: the session does not see to the order of the
    /// calls otherwise, with Foundation's queues as little. The session keeps the queue; its `delegateQueue` is a
    /// `ForwardingQueue` with the queue behind it.
    ///
    /// - Parameters:
    ///   - configuration: copied.
    ///   - delegate: kept until the session is invalidated.
    ///   - queue: what runs the calls.
    public convenience init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue
    ) {
        self.init(configuration: configuration, delegate: delegate, delegateQueue: ForwardingQueue(to: queue))
    }

    /// As the initializer with a queue that is none, for a variable that may be nil: then the session makes a queue of
    /// Foundation's, with limit 1.
    @_disfavoredOverload
    public convenience init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        if let queue {
            self.init(configuration: configuration, delegate: delegate, delegateQueue: queue)
        } else {
            self.init(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }
    }
}
