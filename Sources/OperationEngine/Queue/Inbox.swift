import Synchronization

/// Where operations enter a queue without its lock: a stack that is taken as a whole, through the operations' `next`.
///
/// Any thread pushes; whoever holds the queue's lock takes everything by one exchange and reverses it, which gives the
/// order of pushing. There is no pop of single items, hence no ABA problem.
struct Inbox: ~Copyable {
    private let top = Atomic<UnsafeMutableRawPointer?>(nil)

    /// Sequentially consistent, as are `push` and `takeAll`: see `QueueCore.signal` for what depends on it.
    var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == nil }

    /// Pushes a run of operations, already linked from `last` back to `first` by `next`.
    func push(first: Operation, last: Operation) {
        let newTop = Unmanaged.passUnretained(last).toOpaque()
        var current = top.load(ordering: .relaxed)
        while true {
            first.next = current.map { Unmanaged.fromOpaque($0) }
            let (exchanged, original) = top.weakCompareExchange(
                expected: current, desired: newTop, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            if exchanged { return }
            current = original
        }
    }

    /// Empties the inbox and calls `body` for each operation in the order of pushing. Only under the queue's lock.
    func takeAll(_ body: (Operation) -> Void) {
        guard !isEmpty else { return }
        var link = top.exchange(nil, ordering: .sequentiallyConsistent).map { Unmanaged<Operation>.fromOpaque($0) }
        var reversed: Unmanaged<Operation>?
        while let current = link {
            current._withUnsafeGuaranteedRef { operation in
                link = operation.next
                operation.next = reversed
            }
            reversed = current
        }
        while let current = reversed {
            current._withUnsafeGuaranteedRef { operation in
                reversed = operation.next
                body(operation)
            }
        }
    }
}
