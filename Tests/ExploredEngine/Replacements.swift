// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The engine's sources are compiled here with these declarations in place of the imported ones: what a module declares
// itself shadows what it imports, if the signature is the same. So every atomic access, lock, sleep and thread of the engine is the explorer's.
import CLinux
import Interleaving

typealias Atomic = ExploredAtomic

// MARK: Locks and sleeping

/// In place of Futex/FutexLock.swift, which `ExploredFutex` explores.
struct FutexLock: ~Copyable, Sendable {
    private let explored = ExploredLock()

    func lock(file: StaticString = #fileID, line: UInt = #line) { explored.lock(file: file, line: line) }
    func lock(inTurns turns: inout LockTurns, file: StaticString = #fileID, line: UInt = #line) {
        explored.lock(file: file, line: line)
    }
    func unlock(file: StaticString = #fileID, line: UInt = #line) { explored.unlock(file: file, line: line) }

    func withLock<Result: ~Copyable>(
        file: StaticString = #fileID, line: UInt = #line, _ body: () -> Result
    ) -> Result {
        lock(file: file, line: line)
        defer { unlock(file: file, line: line) }
        return body()
    }
}

enum Futex {
    @discardableResult
    static func wait(
        _ word: borrowing Atomic<UInt32>, expected: UInt32, timeoutNanoseconds: Int64 = -1,
        file: StaticString = #fileID, line: UInt = #line
    ) -> Bool {
        withUnsafePointer(to: word) {
            let address = UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self)
            return ExploredSystem.futexWait(address, expected, timeoutNanoseconds, file: file, line: line) != ETIMEDOUT
        }
    }

    static func wake(
        _ word: borrowing Atomic<UInt32>, count: Int32, file: StaticString = #fileID, line: UInt = #line
    ) {
        withUnsafePointer(to: word) {
            let address = UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self)
            ExploredSystem.futexWake(address, count, file: file, line: line)
        }
    }

    @discardableResult
    static func waitOnLowHalf(
        of word: borrowing Atomic<UInt64>, expected: UInt64, timeoutNanoseconds: Int64,
        file: StaticString = #fileID, line: UInt = #line
    ) -> Bool {
        withUnsafePointer(to: word) {
            let address = UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self)
            let expected = UInt32(truncatingIfNeeded: expected)
            return ExploredSystem.futexWait(address, expected, timeoutNanoseconds, file: file, line: line) != ETIMEDOUT
        }
    }

    static func wakeAllOnLowHalf(
        of word: borrowing Atomic<UInt64>, file: StaticString = #fileID, line: UInt = #line
    ) {
        withUnsafePointer(to: word) {
            let address = UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self)
            ExploredSystem.futexWake(address, .max, file: file, line: line)
        }
    }
}

/// In place of Workers/BriefSpin.swift: one look. A thread that spins here does not go on before another one has written
/// something, so no schedule within the bounds would ever look in vain, and reach the sleep behind.
struct BriefSpin {
    static let forDrained = BriefSpin()
    static func prepare() {}
    func wait(until condition: () -> Bool) -> Bool { condition() }
}

/// In place of Workers/Processors.swift and Workers/CPUQuota.swift, which read the real machine's.
enum Processors {
    static var count: Int { ExploredSystem.processors }
    static var workers: Int { ExploredSystem.processors }
    static let threadLimit = 512
    static func read() {}
}

/// In place of Queue/Snapshot/QueueRegister.swift: its lock would be one more step of every scenario.
enum QueueRegister {
    static func enter(_ core: QueueCore) {}
    static func leave(_ core: QueueCore) {}
    static func queues(at addresses: Set<UnsafeMutableRawPointer>? = nil) -> [OperationQueue] { [] }
}

// MARK: Threads

func clinux_start_thread(
    _ thread: UnsafeMutablePointer<clinux_thread>!,
    _ body: (@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)!,
    _ argument: UnsafeMutableRawPointer!
) -> Int32 {
    nonisolated(unsafe) let argument = argument
    let body = body!
    _ = ExploredSystem.startThread { _ = body(argument) }
    return 0
}

/// Only `NiceBand.mayRaise` joins a thread; no scenario uses raised priorities.
func clinux_join_thread(_ thread: clinux_thread) { fatalError("no explored code joins a thread") }

@discardableResult
func sched_yield() -> Int32 {
    ExploredSystem.spin()
    return 0
}

func clinux_spin_hint() { ExploredSystem.spin() }
func clinux_gettid() -> pid_t { pid_t(ExploredSystem.currentThread) }
/// Ends of threads come when the explorer does not see them.
func clinux_at_thread_end(_ leave: (@convention(c) () -> Void)!) {}
func clinux_set_own_name(_ name: UnsafePointer<CChar>!) {}
func clinux_set_own_worker_name(_ kind: UnsafePointer<CChar>!, _ number: Int32) {}
func clinux_set_own_nice(_ nice: Int32) -> Int32 { 0 }
func clinux_watch_forks(_ inChild: @convention(c) () -> Void) {}
func clinux_use_main_threads_processors() -> Int32 { 0 }

// MARK: Tracing

private let traceReceivers = Atomic<UnsafeMutableRawPointer?>(nil)

/// Sets no marks: only what a scenario sends itself is traced.
func clinux_set_trace(_ receivers: UnsafeMutableRawPointer!, _ marks: UInt8) {
    traceReceivers.store(receivers, ordering: .sequentiallyConsistent)
}
/// All accesses of explored atomics are sequentially consistent.
func clinux_fence_all_threads() -> Bool { true }
func clinux_trace_receivers() -> UnsafeMutableRawPointer! { traceReceivers.load(ordering: .sequentiallyConsistent) }

// MARK: Time

@discardableResult
func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>) -> Int32 {
    time.pointee = timespec(
        tv_sec: Int(ExploredSystem.now / 1_000_000_000), tv_nsec: Int(ExploredSystem.now % 1_000_000_000))
    return 0
}

func clinux_own_cpu_clock() -> Int32 { Int32(ExploredSystem.currentThread) }
func clinux_cpu_clock_ns(_ clock: Int32) -> Int64 { ExploredSystem.processorTime(of: Int(clock)) }

// MARK: What the kernel says of threads

/// Locks sleep out of the engine's sight here, and no mark is moved.
func clinux_set_sleep_mark(_ mark: UnsafeMutablePointer<UInt32>!) {}
func clinux_leave_shared_files() -> Int32 { 0 }
func clinux_open_own_threads() -> Int32 { 0 }
/// None that could hold a lock: that is the explorer's own.
func clinux_list_threads(_ folder: Int32, _ threads: UnsafeMutablePointer<pid_t>!, _ capacity: Int32) -> Int32 { 0 }

func clinux_thread_state(_ folder: Int32, _ thread: pid_t) -> Int32 {
    Int32(UInt8(ascii: ExploredSystem.isAsleep(Int(thread)) ? "S" : "R"))
}

func clinux_thread_sleep(_ folder: Int32, _ thread: pid_t) -> Int32 { ExploredSystem.isAsleep(Int(thread)) ? 1 : 0 }
