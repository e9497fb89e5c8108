import Dispatch

/// The thread that announces the end of asynchronous operations, in place of whatever they wait for in real life.
///
/// Inlinable, so that it is specialised for a backend of another module as for one of this.
public final class EndingThread<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let lock = PlainLock()
    @usableFromInline let filled = DispatchSemaphore(value: 0)
    @usableFromInline var waiting: [Element] = []
    @usableFromInline var isOver = false
    @usableFromInline var thread: OwnThread?

    /// - Parameter end: ends one; called on the thread, in the order in which they were handed over.
    @inlinable
    public init(_ end: @escaping @Sendable (Element) -> Void) {
        thread = OwnThread { [unowned self] in
            while let batch = next() { for element in batch { end(element) } }
        }
    }

    /// Hands an operation over. The thread is woken only if it had none.
    @inlinable
    public func take(_ element: Element) {
        lock.lock()
        waiting.append(element)
        let isFirst = waiting.count == 1
        lock.unlock()
        if isFirst { filled.signal() }
    }

    /// Ends the thread. Nothing may be handed over any more.
    @inlinable
    public func dismiss() {
        lock.whileLocked { isOver = true }
        filled.signal()
        thread?.join()
    }

    @inlinable
    func next() -> [Element]? {
        filled.wait()
        return lock.whileLocked {
            defer { waiting = [] }
            return isOver ? nil : waiting
        }
    }
}
