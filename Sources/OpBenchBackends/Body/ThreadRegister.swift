import CLinux
import CLinuxMeasure
import Glibc

/// The threads that submit and execute the operations of a profiled sample, in the order in which they first do.
///
/// Thread-safe. Threads are never taken out: a pool may end them, but what they did stays in the trace.
package enum ThreadRegister {
    package struct Entry: Equatable, Sendable {
        /// The thread's first action.
        package enum Role: String, Sendable {
            case worker, submitter
        }

        /// The kernel's number of the thread.
        package let id: Int32
        package let name: String
        package let role: Role
    }

    private static let lock = PlainLock()
    /// Guarded by `lock`.
    nonisolated(unsafe) private static var entries: [Entry] = []
    /// The name for worker threads without one: `dispatch` makes `dispatch 1`. Guarded by `lock`.
    nonisolated(unsafe) private static var workerName = "worker"
    /// The name of unnamed threads, which they inherit from the thread that made them. Guarded by `lock`.
    nonisolated(unsafe) private static var processName = ""

    /// Sets the name for worker threads without one. Called by the main thread before any thread submits or runs
    /// anything.
    package static func nameWorkers(_ name: String) {
        lock.whileLocked { (workerName, processName) = (name, ownName()) }
    }

    /// The calling thread's number, counted from 1.
    static func ownNumber(as role: Entry.Role) -> UInt32 {
        let number = clinux_thread_number()
        return number > 0 ? number : enter(role)
    }

    package static func all() -> [Entry] { lock.whileLocked { entries } }

    /// Gives an unnamed thread its own name, so that samplers and debuggers can distinguish it.
    private static func enter(_ role: Entry.Role) -> UInt32 {
        lock.whileLocked {
            var name = ownName()
            if name == processName || isDispatchLabel(name) {
                let count = entries.count { $0.role == role } + 1
                name = "\(role == .worker ? workerName : "submitter") \(count)"
                clinux_set_own_name(name)
            }
            entries.append(Entry(id: clinux_gettid(), name: name, role: role))
            let number = UInt32(entries.count)
            clinux_set_thread_number(number)
            return number
        }
    }

    /// Whether a name is Dispatch's for all of its threads of one quality of service: the last fifteen bytes of
    /// `com.apple.root.default-qos`, or of that and `.overcommit`.
    static func isDispatchLabel(_ name: String) -> Bool { name.hasSuffix("-qos") || name.hasSuffix("-qos.overcommit") }

    private static func ownName() -> String {
        var name = [CChar](repeating: 0, count: 16)
        clinux_own_name(&name)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
