import CLinux
import CLinuxMeasure
import Glibc
import OpBenchModel

// Bodies that wait for one another or for the kernel.

/// Computes under one of several locks. Each lock guards a count, as a lock in a program guards something.
final class LockingBody: ChosenBody, @unchecked Sendable {
    private let locks: Int
    private let iterations: UInt64
    private let memory: UnsafeMutableRawPointer

    /// A lock and its count, on lines of the cache of their own.
    private struct Guarded {
        var mutex = pthread_mutex_t()
        /// Written and read with the lock held.
        var entries = 0
    }

    private static let stride = 128

    init(locks: Int, _ iterations: UInt64) {
        (self.locks, self.iterations) = (locks, iterations)
        memory = .allocate(byteCount: locks * Self.stride, alignment: Self.stride)
        super.init()
        for index in 0..<locks {
            let place = (memory + index * Self.stride).bindMemory(to: Guarded.self, capacity: 1)
            place.initialize(to: Guarded())
            pthread_mutex_init(&place.pointee.mutex, nil)
        }
    }

    private func guarded(_ index: Int) -> UnsafeMutablePointer<Guarded> {
        (memory + index * Self.stride).assumingMemoryBound(to: Guarded.self)
    }

    override func run(_ item: Int) {
        let place = guarded(item % locks)
        pthread_mutex_lock(&place.pointee.mutex)
        place.pointee.entries += 1
        WorkKernel.run(iterations)
        pthread_mutex_unlock(&place.pointee.mutex)
    }

    /// The items so far, by lock. Nothing may run it meanwhile.
    var entries: [Int] { (0..<locks).map { guarded($0).pointee.entries } }

    override func release() {
        for index in 0..<locks { pthread_mutex_destroy(&guarded(index).pointee.mutex) }
        memory.deallocate()
    }
}

/// Reads or writes the beginning of one file in the folder for temporary files, which has no name.
final class FileBody: ChosenBody, @unchecked Sendable {
    private let file: Int32
    private let bytes: Int
    private let writes: Bool

    init(bytes: Int, writes: Bool) throws(BodyError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        file = clinux_unnamed_file(folder)
        guard file >= 0 else { throw BodyError("making a file in \(folder)") }
        (self.bytes, self.writes) = (bytes, writes)
        super.init()
        let failure = clinux_move(file, bytes, true, true)
        guard failure == 0 else {
            close(file)
            throw BodyError("writing \(bytes) bytes to a file in \(folder)", failure)
        }
    }

    override func run(_ item: Int) {
        let failure = clinux_move(file, bytes, writes, true)
        if failure != 0 { BrokenRound.report("\(writes ? "pwrite" : "pread"): \(String(cString: strerror(failure)))") }
    }

    override func release() { close(file) }
}

/// Reads from or writes to one pipe, at whose other end a thread writes or reads without an end.
final class PipeBody: ChosenBody, @unchecked Sendable {
    private let own: Int32
    private let others: Int32
    private let thread: OwnThread
    private let bytes: Int
    private let writes: Bool

    private static let threadsPiece = 16_384

    init(bytes: Int, writes: Bool) throws(BodyError) {
        var ends: [Int32] = [0, 0]
        let failure = clinux_pipe(&ends)
        guard failure == 0 else { throw BodyError("making a pipe", failure) }
        let others = ends[writes ? 0 : 1]
        thread = OwnThread {
            // The end of the items' side ends the thread: by EPIPE, or by the end of the data.
            clinux_block_sigpipe()
            while clinux_move(others, Self.threadsPiece, !writes, false) == 0 {}
        }
        (self.own, self.others) = (ends[writes ? 1 : 0], others)
        (self.bytes, self.writes) = (bytes, writes)
    }

    override func run(_ item: Int) {
        let failure = clinux_move(own, bytes, writes, false)
        if failure != 0 { BrokenRound.report("a pipe: \(String(cString: strerror(failure)))") }
    }

    override func release() {
        close(own)
        thread.join()
        close(others)
    }
}
