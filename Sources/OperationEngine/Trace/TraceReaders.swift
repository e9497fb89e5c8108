import CLinux
import Synchronization

/// A thread that sends events, as the owner of the list of receivers sees it. Another thread may use it after that one.
final class TraceReader: Sendable {
    /// How many events the thread is sending: more than one if a receiver causes others. Written by this thread alone.
    let depth = Atomic<Int>(0)
    /// Whether the thread has to look for lists to release once it has sent them. Relaxed: see `TraceReaders`.
    let isAwaited = Atomic<Bool>(false)
    /// Not one of the atomics that the explorer schedules: a thread gives it up after its last step.
    fileprivate let isTaken = Synchronization.Atomic<Bool>(true)
    private let padding = CacheLine()

    /// Called by the thread before it loads the list, which it uses until `leave`.
    @inline(__always)
    func enter() {
        depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        clinux_fence_compiler()
    }

    /// Called when the list is used no more. Returns whether the caller has to look for lists to release.
    @inline(__always)
    func leave() -> Bool {
        let rest = depth.load(ordering: .relaxed) &- 1
        // Releasing: a thread that reads 0 releases what was used here.
        depth.store(rest, ordering: .releasing)
        clinux_fence_compiler()
        return rest == 0 && isAwaited.load(ordering: .relaxed)
    }

    /// The calling thread's; nil before its first event.
    @inline(__always)
    static var ofThread: Unmanaged<TraceReader>? { clinux_trace_reader().map { Unmanaged.fromOpaque($0) } }
}

/// All threads that have sent events, so that a list of receivers that was replaced is released when no thread uses it any
/// more. Guarded by the lock of the installation.
///
/// An event costs no atomic step for this. The thread that replaces the list pays: it has the kernel put a memory barrier
/// into all running threads, membarrier(2). `TheSleepProtocol` has the argument.
struct TraceReaders {
    /// Never released: there are as many as threads that sent events at the same time.
    private var all: [TraceReader] = []

    /// Makes the calling thread one of them.
    mutating func join() -> Unmanaged<TraceReader> {
        // Acquiring: pairs with the end of the thread that had it, which left `depth` at 0.
        let reader = all.first { !$0.isTaken.load(ordering: .acquiring) } ?? TraceReader()
        if reader.isTaken.exchange(true, ordering: .relaxed) { all.append(reader) }
        let link = Unmanaged.passUnretained(reader)
        clinux_set_trace_reader(link.toOpaque())
        clinux_at_thread_end { TraceReaders.leaveThread() }
        return link
    }

    /// Called at the end of a thread.
    static func leaveThread() {
        guard let reader = TraceReader.ofThread else { return }
        clinux_set_trace_reader(nil)
        reader._withUnsafeGuaranteedRef { $0.isTaken.store(false, ordering: .releasing) }
    }

    /// The threads that may use a list that was replaced just now, each of which will look when it has left. Nil if the
    /// system does not say.
    func awaitThoseInside() -> [TraceReader]? {
        for reader in all { reader.isAwaited.store(true, ordering: .relaxed) }
        return clinux_fence_all_threads() ? all.filter(\.isInside) : nil
    }

    /// No thread has to look any more, except these.
    func awaitOnly(_ awaited: [TraceReader]) {
        for reader in all where reader.isAwaited.load(ordering: .relaxed) {
            reader.isAwaited.store(awaited.contains { $0 === reader }, ordering: .relaxed)
        }
    }
}

extension TraceReader {
    /// Whether it is sending an event.
    var isInside: Bool { depth.load(ordering: .acquiring) > 0 }
}
