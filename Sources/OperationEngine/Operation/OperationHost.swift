import Synchronization

/// What operations need from the queue that they are in. `QueueCore` is its only subclass. Operations know no more of
/// queues.
class OperationHost {
    /// Whether the queue has a listener for the end of each `main`. Set for good by the first caller that asks for the
    /// listener. Releasing and acquiring, for operations that another thread adds after that. Operations that end at
    /// the same time may go uncounted.
    final let listens = Atomic<Bool>(false)

    @inline(__always)
    final var hasEndOfMainListener: Bool { listens.load(ordering: .acquiring) }

    /// Puts an operation whose phase is `filing` into its list. Returns false if the answer of its overridden `isReady`
    /// is out of date.
    func file(_ operation: Operation, _ answer: Bool?) -> Bool { fatalError("abstract") }

    /// Takes out an operation that announced its own end.
    func withdraw(_ operation: Operation) { fatalError("abstract") }

    /// Makes a chosen operation wait again because its overridden `isReady` says no. Returns false if it has to be
    /// asked again.
    func unchoose(_ operation: Operation) -> Bool { fatalError("abstract") }
}
