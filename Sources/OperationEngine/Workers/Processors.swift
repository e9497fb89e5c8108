import CLinux
import Synchronization

/// The processors that the process may use, and the workers that the engine keeps running on them (contract N15).
///
/// Both numbers are read when the engine is first used. The blocking monitor reads them again while work waits for a
/// worker (`BlockingMonitor.run`). So a new quota of the container takes effect within seconds where it matters, and an
/// idle process reads nothing.
///
/// Relaxed: a pool that sees an old number keeps a worker too many, or too few, until its next look at it.
package enum Processors {
    /// The processors that the main thread may run on, sched_getaffinity(2), or fewer: the CPU quota, rounded up.
    @inline(__always)
    package static var count: Int { known(usable) }

    /// How many workers that do not block a pool keeps running: `OPERATION_ENGINE_WORKERS`, or else `count`.
    @inline(__always)
    package static var workers: Int { known(wanted) }

    /// The same for a program that may run on that many processors.
    package static func workers(on allowed: Int) -> Int {
        fixed ?? max(1, min(allowed, CPUQuota.read()?.roundedUp ?? .max))
    }

    /// All threads of all bands together never exceed this (contract N13).
    static let threadLimit = 512

    /// 0 until they are read.
    private static let usable = Atomic<Int>(0)
    private static let wanted = Atomic<Int>(0)
    /// The quota, rounded up, as last read.
    private static let granted = Atomic<Int>(.max)
    /// From the environment. A value that is no number from 1 to 512 is ignored, with a line on standard error.
    private static let fixed: Int? = {
        guard let value = getenv(variable).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        let number = Processors.number(of: value)
        if number == nil {
            Misuse.write("\(variable) is ignored: \(value.prefix(40).debugDescription) is no number from 1 to 512")
        }
        return number
    }()

    private static let variable = "OPERATION_ENGINE_WORKERS"

    @inline(__always)
    private static func known(_ number: borrowing Atomic<Int>) -> Int {
        let known = number.load(ordering: .relaxed)
        if known > 0 { return known }
        read()
        return number.load(ordering: .relaxed)
    }

    /// The processors that the main thread may run on.
    package static var allowed: Int { max(1, Int(clinux_allowed_processors())) }

    /// Reads all numbers but the variable's. A quota that cannot be read, for want of a file descriptor perhaps, stays as
    /// it was.
    @inline(never)
    static func read() {
        if let quota = CPUQuota.read() { granted.store(quota.roundedUp, ordering: .relaxed) }
        let count = min(allowed, granted.load(ordering: .relaxed))
        usable.store(count, ordering: .relaxed)
        wanted.store(fixed ?? count, ordering: .relaxed)
    }

    /// The workers that the variable's value asks for; nil if it is no number from 1 to 512.
    static func number(of value: String) -> Int? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard value.utf8.allSatisfy(digits.contains), let number = Int(value) else { return nil }
        return (1...threadLimit).contains(number) ? number : nil
    }
}
