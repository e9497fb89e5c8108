import CLinux
import Synchronization

/// Counts the threads that use the list of trace receivers, so that a list that was replaced is released once no thread
/// uses it any more.
///
/// A thread counts itself in, loads the list, calls its receivers, and counts itself out. There are several counts,
/// *stripes*, so that threads seldom write the same cache line. A thread that has replaced the list waits for nothing: it
/// notes the stripes that it found occupied, and the readers who leave those release the former list.
///
/// **No list is released too early.** It is released when every stripe was found at 0 after the list was replaced. A
/// reader counts itself in and then loads the list; the other thread stores the new list and then reads the count. So
/// if it reads 0, the readers that came before have left, and those that come later load the new list.
///
/// **None is forgotten.** A thread that replaces the list announces that it awaits all stripes, and then reads the
/// counts. A reader that brings its count to 0 then reads the announcement. So either the count is found at 0, or the
/// reader finds its stripe awaited, and reads the counts again, under the same lock.
///
/// All of these accesses are sequentially consistent, the stores and loads of the list included.
struct TraceReaders: ~Copyable, @unchecked Sendable {
    private struct Stripe: ~Copyable {
        let readers = Atomic<Int>(0)
        private let padding = CacheLine()
    }

    private let stripes: UnsafeMutablePointer<Stripe>
    /// A power of two, and at most the number of bits of a word.
    private let count: Int
    /// A bit for each stripe whose readers may use a list that was replaced. Stored under the lock of the installation.
    private let awaited = Atomic<UInt64>(0)

    init() {
        var count = 4
        while count < min(4 * Processors.count, UInt64.bitWidth) { count *= 2 }
        self.count = count
        stripes = .allocate(capacity: count)
        for stripe in 0..<count { (stripes + stripe).initialize(to: Stripe()) }
    }

    /// Returns the list, and the thread's stripe, for `leave`. A forked child's thread may have another one.
    @inline(__always)
    func enter() -> (list: UnsafeMutableRawPointer?, stripe: Int) {
        let stripe = Int(clinux_own_thread()) & (count - 1)
        stripes[stripe].readers.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return (clinux_trace_receivers(), stripe)
    }

    /// Called when the list is used no more. Returns whether the caller has to look for lists to release.
    @inline(__always)
    func leave(_ stripe: Int) -> Bool {
        if stripes[stripe].readers.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue > 0 { return false }
        return awaited.load(ordering: .sequentiallyConsistent) & 1 << UInt64(stripe) != 0
    }

    /// Awaits all stripes: the list was replaced. Under the lock, as are the next two.
    func awaitAll() { awaited.store(.max, ordering: .sequentiallyConsistent) }

    /// Awaits these alone. All others were found at 0 since the list was last replaced.
    func awaitOnly(_ stripes: UInt64) { awaited.store(stripes, ordering: .sequentiallyConsistent) }

    /// The stripes with readers.
    var occupied: UInt64 {
        (0..<count).reduce(0) { occupied, stripe in
            stripes[stripe].readers.load(ordering: .sequentiallyConsistent) == 0
                ? occupied : occupied | 1 << UInt64(stripe)
        }
    }
}
