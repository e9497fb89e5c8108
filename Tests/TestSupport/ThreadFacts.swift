import CLinux
import Foundation
import Testing

/// Linux's figures of threads.
public enum ThreadFacts {
    /// The kernel's id of the calling thread.
    public static var id: Int32 { clinux_gettid() }

    /// Whether the calling thread is the process's first.
    public static var isMain: Bool { clinux_gettid() == getpid() }

    /// The nice value of the calling thread, −20…19.
    public static var nice: Int32 {
        getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(clinux_gettid()))
    }

    /// The nice value of the process's main thread: 0 unless the tests were started by nice(1).
    public static let processNice = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(getpid()))

    /// The nice value that a worker gets, so many steps above the main thread's (contract H6).
    public static func nice(above step: Int32) -> Int32 { min(max(processNice + step, -20), 19) }

    /// The thread priority in force where a worker gets that nice value (contract H7): of bands that have one nice
    /// value, since there is none above 19, that of the one nearest to the middle.
    public static func effectivePriority(above step: Int32) -> Double {
        let nices = [19, 14, 10, 5, 0].map(nice(above:))
        return Double(nices.lastIndex(of: nice(above: step))!) / 8
    }

    /// The name of the calling thread.
    public static var name: String {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return name?.trimmingCharacters(in: .newlines) ?? ""
    }

    /// The number of threads in this process.
    public static var count: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
        return line.flatMap { Int($0.dropFirst("Threads:".count).trimmingCharacters(in: .whitespaces)) } ?? 0
    }

    /// The cores this process may use.
    public static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }
}

/// Runs `body` on `count` threads of their own at once and returns when all have ended.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let start = Rendezvous(count)
    let ended = Counter()
    for index in 0..<count {
        Thread.detachNewThread {
            start.meet()
            body(index)
            ended.add()
        }
    }
    ended.wait(for: count)
}

/// Runs `body` on the calling thread: for calls that block, in the body of an exit test, which counts as async code.
public func synchronously<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

/// Runs `body` on a thread of its own and does not wait for it.
public func onNewThread(_ body: @escaping @Sendable () -> Void) {
    Thread.detachNewThread(body)
}
