import class FoundationNetworking.URLSession
import class FoundationNetworking.URLSessionConfiguration
import protocol FoundationNetworking.URLSessionDelegate
import class OperationEngine.OperationQueue

extension URLSession {
    /// Makes a session that calls its delegate, and the completion handlers of its tasks, as operations of `queue`.
    ///
    /// `OperationQueue.current` is that queue there. Its limit should be 1. Otherwise the calls may come out of order,
    /// as with Foundation's queues. The session keeps the queue. Its `delegateQueue` is a `ForwardingQueue` with the
    /// queue as its target.
    ///
    /// - Parameters:
    ///   - configuration: copied.
    ///   - delegate: kept until the session is invalidated.
    ///   - queue: the queue that runs the calls.
    public convenience init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue
    ) {
        self.init(configuration: configuration, delegate: delegate, delegateQueue: ForwardingQueue(to: queue))
    }

    /// As the initializer above, for a queue that may be nil. With nil, the session makes a Foundation queue with limit
    /// 1.
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
