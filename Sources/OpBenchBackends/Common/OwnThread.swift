import CLinux
import Dispatch
import Glibc
import Synchronization

/// A thread of the suite itself, outside of every pool that a backend might use.
package final class OwnThread: Sendable {
    private static let made = Atomic<Int>(0)

    /// All such threads so far.
    package static var count: Int { made.load(ordering: .relaxed) }

    private let ended = DispatchSemaphore(value: 0)
    private let kernelID = Atomic<Int32>(0)

    package init(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(
            Box { [ended, self] in
                kernelID.store(clinux_gettid(), ordering: .relaxed)
                body()
                ended.signal()
            })
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        precondition(result == 0, "cannot create a thread")
        pthread_detach(thread)
        Self.made.add(1, ordering: .relaxed)
    }

    /// The kernel's number of the thread; nil until the thread runs.
    package var id: Int32? {
        let id = kernelID.load(ordering: .relaxed)
        return id == 0 ? nil : id
    }

    package func join() { ended.wait() }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// The thread that announces the end of asynchronous operations, in place of the events that they wait for in real
/// life.
package final class EndingThread<Element: Sendable>: @unchecked Sendable {
    let lock = PlainLock()
    let filled = DispatchSemaphore(value: 0)
    var waiting: [Element] = []
    var isOver = false
    var thread: OwnThread?

    /// - Parameter end: ends one; called on the thread, in the order in which they were handed over.
    package init(_ end: @escaping @Sendable (Element) -> Void) {
        thread = OwnThread { [unowned self] in
            while let batch = next() { for element in batch { end(element) } }
        }
    }

    /// Hands an operation over. The thread is woken only if it had none.
    package func take(_ element: Element) {
        lock.lock()
        waiting.append(element)
        let isFirst = waiting.count == 1
        lock.unlock()
        if isFirst { filled.signal() }
    }

    /// Ends the thread. Nothing may be handed over any more.
    package func dismiss() {
        lock.whileLocked { isOver = true }
        filled.signal()
        thread?.join()
    }

    func next() -> [Element]? {
        filled.wait()
        return lock.whileLocked {
            defer { waiting = [] }
            return isOver ? nil : waiting
        }
    }
}
