import CLinuxMeasure
import Glibc
import OpBenchModel

/// The work of an item where the workload chooses another body than the kernel's, with what it needs for that: memory,
/// files. Made before the clock of a sample's first round, released after its last one.
///
/// Several threads run it at once, with different items. A subclass's fields do not change after `init`, unless it says
/// who owns them.
package class ChosenBody: @unchecked Sendable {
    init() {}

    /// Does what the item of that number does.
    func run(_ item: Int) {}

    /// Gives back what it holds. Called once, when nothing runs it any more.
    func release() {}

    /// Nil, with a broken round, if the machine or the program lacks what the body needs.
    static func made(_ plan: PlannedBody, _ kernel: WorkKernel) -> ChosenBody? {
        do {
            return try make(plan.choice, plan, kernel)
        } catch {
            BrokenRound.report("the body \(plan.choice.name) cannot run: \(error.reason)")
            return nil
        }
    }

    static func make(
        _ choice: BodyChoice, _ plan: PlannedBody, _ kernel: WorkKernel
    ) throws(BodyError) -> ChosenBody {
        switch choice.name {
        case BodyChoice.cpu.name: ComputingBody(kernel.iterations(nanoseconds: plan.workNanoseconds))
        case "memory": try MemoryBody(bytes: choice.integer("footprint_bytes"), stride: choice.integer("stride_bytes"))
        case "allocate": AllocatingBody(count: choice.integer("count"), bytes: choice.integer("size_bytes"))
        case "sleep": SleepingBody(nanoseconds: Int64(choice.integer("sleep_ns")))
        case "lock":
            LockingBody(locks: choice.integer("locks"), kernel.iterations(nanoseconds: choice.integer("hold_ns")))
        case "file_read": try FileBody(bytes: choice.integer("bytes"), writes: false)
        case "file_write": try FileBody(bytes: choice.integer("bytes"), writes: true)
        case "pipe_read": try PipeBody(bytes: choice.integer("bytes"), writes: false)
        case "pipe_write": try PipeBody(bytes: choice.integer("bytes"), writes: true)
        case BodyDefinition.mix: try MixedBody(choice.parts, plan, kernel)
        default: try DeclaredBody(choice.name)
        }
    }
}

/// Why a body cannot get what it needs.
struct BodyError: Error {
    let reason: String

    init(reason: String) { self.reason = reason }

    /// - Parameters:
    ///   - action: what failed, in words.
    ///   - code: the reason, an errno value.
    init(_ action: String, _ code: Int32 = errno) { reason = "\(action): \(String(cString: strerror(code)))" }
}

/// The kernel's work as a part of a mix.
private final class ComputingBody: ChosenBody, @unchecked Sendable {
    private let iterations: UInt64

    init(_ iterations: UInt64) { self.iterations = iterations }

    override func run(_ item: Int) { WorkKernel.run(iterations) }
}

/// Reads memory that all items share. Nothing writes to it.
private final class MemoryBody: ChosenBody, @unchecked Sendable {
    private let block: UnsafeMutableRawPointer
    private let bytes: Int
    private let stride: Int

    init(bytes: Int, stride: Int) throws(BodyError) {
        guard let block = clinux_map(bytes) else { throw BodyError("mmap of \(bytes) bytes") }
        // Private pages that nothing has written to could all be the one page of zeros.
        memset(block, 1, bytes)
        (self.block, self.bytes, self.stride) = (block, bytes, stride)
    }

    override func run(_ item: Int) { _ = clinux_stride(block, bytes, stride) }

    override func release() { clinux_unmap(block, bytes) }
}

/// Allocates blocks from the process's heap and frees them.
private final class AllocatingBody: ChosenBody, @unchecked Sendable {
    private let count: Int
    private let bytes: Int

    init(count: Int, bytes: Int) { (self.count, self.bytes) = (count, bytes) }

    override func run(_ item: Int) {
        let made = clinux_allocate(count, bytes)
        if made < count {
            BrokenRound.report("malloc gave an item \(made) of \(counted(count, "block")) of \(bytes) bytes")
        }
    }
}

private final class SleepingBody: ChosenBody, @unchecked Sendable {
    private let nanoseconds: Int64

    init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    override func run(_ item: Int) { MonotonicClock.sleep(until: MonotonicClock.now() + nanoseconds) }
}
