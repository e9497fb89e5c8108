import Synchronization

/// What an operation asks of the queue that it is in: `QueueCore`, of which operations know no more than this.
class OperationHost {
    /// Whether the queue has somebody to tell of the end of each `main`: set for good by the first who asks for the
    /// listener. Releasing and acquiring, for the sake of the operations that are added after that by another thread; those
    /// that end at the same time may go uncounted.
    final let listens = Atomic<Bool>(false)

    @inline(__always)
    final var hasEndOfMainListener: Bool { listens.load(ordering: .acquiring) }

    /// Puts an operation whose phase is `filing` into its list. False if the answer of its overridden `isReady` is out of
    /// date.
    func file(_ operation: Operation, _ answer: Bool?) -> Bool { fatalError("abstract") }

    /// Lets an operation leave that has ended by its own account.
    func withdraw(_ operation: Operation) { fatalError("abstract") }

    /// Has an operation wait again that was chosen, and whose overridden `isReady` says no. False if it has to be asked
    /// again.
    func unchoose(_ operation: Operation) -> Bool { fatalError("abstract") }
}
