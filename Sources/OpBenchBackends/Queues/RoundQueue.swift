import OpBenchModel

/// A queue of closures, on which a `QueueRound` executes the shapes.
///
/// Conforming types are final or never overridden, so that a round that is compiled for one calls its methods directly.
package protocol RoundQueue: AnyObject, Sendable {
    typealias Work = @Sendable () -> Void

    /// Whether the queue is known to run each closure once. Rounds on other queues look for closures that are lost, run
    /// twice or run late.
    static var isTrusted: Bool { get }
    /// Whether the queue reports the end of an operation by a call of its own: a completion block. Otherwise the report
    /// is the last act of the operation's closure.
    static var hasCompletionBlocks: Bool { get }
    /// Whether the round must count the ends, because the queue cannot wait for all that was submitted.
    var needsCount: Bool { get }

    func submit(_ work: @escaping Work)
    /// Calls `notification` when `work` has ended. Used only if `hasCompletionBlocks`.
    func submit(_ work: @escaping Work, thenNotify notification: @escaping Work)
    /// Runs `work` alone, after everything submitted before and before everything submitted later.
    func submitBarrier(_ work: @escaping Work)
    /// Returns when everything that was submitted has ended.
    ///
    /// - Parameter isCounted: whether the round has already seen every operation end, and waits only for what the queue
    ///   does after that.
    func drain(isCounted: Bool)
    func suspend()
    func resume()
}

/// A queue of operation objects as well: the engine's and Foundation's.
///
/// Each library has its own subclasses of `Operation`, since a class cannot inherit from a type parameter.
/// `LibraryTests` compares the two files.
protocol ObjectQueue: RoundQueue {
    associatedtype Item: QueuedItem
    /// The subclass that `announcing` makes.
    associatedtype Announcing: AnnouncingItem

    init(limit: Int?, isSuspended: Bool)

    func add(_ item: Item)
    func add(_ items: [Item])
    func cancelAll()
    static func block(_ work: @escaping Work) -> Item
    /// A `BlockOperation` of several blocks, which run those operations of the plan.
    static func group(_ numbers: Range<Int>, _ body: OperationBody) -> Item
    /// A subclass with `main` overridden.
    static func numbered(_ number: Int, _ body: OperationBody) -> Item
    /// The same, with an object that it keeps.
    static func laden(_ number: Int, _ body: OperationBody, _ payload: AnyObject) -> Item
    /// A subclass with `start` overridden, whose end is announced by `ender`, or by `start` itself.
    static func announcing(_ number: Int, _ body: OperationBody, _ ender: EndingThread<Announcing>?) -> Item
    /// Makes the body notice when the item of that number finishes.
    ///
    /// - Returns: the observation, to be kept until the round is torn down; nil where the item keeps it.
    func observe(_ item: Item, _ number: Int, _ body: OperationBody) -> AnyObject?
}

/// The members of `Operation` that rounds use.
protocol QueuedItem: AnyObject, Sendable {
    var isCancelled: Bool { get }
    var isFinished: Bool { get }
    var completionBlock: (@Sendable () -> Void)? { get set }
    func addDependency(_ other: Self)
    func start()
    func cancel()
    func waitUntilFinished()
    func setQueuePriority(_ rawValue: Int)
    func setThreadPriority(_ priority: Double)
}

/// An asynchronous operation whose end another thread announces.
protocol AnnouncingItem: AnyObject, Sendable {
    func end()
}
