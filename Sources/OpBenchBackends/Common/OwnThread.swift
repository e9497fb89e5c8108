import CLinux
import Dispatch
import Glibc
import Synchronization

/// A thread of the suite's own, outside of every pool that a backend might use.
public final class OwnThread: Sendable {
    private static let made = Atomic<Int>(0)

    /// All such threads so far.
    package static var count: Int { made.load(ordering: .relaxed) }

    private let ended = DispatchSemaphore(value: 0)
    private let kernelID = Atomic<Int32>(0)

    public init(_ body: @escaping @Sendable () -> Void) {
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

    public func join() { ended.wait() }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
