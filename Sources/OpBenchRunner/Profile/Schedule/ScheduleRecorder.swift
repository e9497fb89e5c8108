import CLinux
import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel
import OpBenchProfile

/// Reads at the marks how long each thread of this process ran and waited, proc_pid_schedstat(5). Threads that end
/// within a round are not counted.
final class ScheduleRecorder: ProfileRecorder {
    static let fileName = "schedule.json"

    private let folder: String
    private var sums: [Int32: ThreadSchedules.Schedule] = [:]
    private var duration: Int64 = 0
    private var before: [Int32: ThreadCounts] = [:]
    private var began: Int64 = 0

    init(folder: String) { self.folder = folder }

    func begin() throws {
        if !RunQueue.isCounted {
            throw SamplerError(
                message: "the kernel does not count waiting times", remedy: "sudo sysctl kernel.task_delayacct=1")
        }
    }

    func roundBegins() {
        before = ThreadCounts.all()
        began = MonotonicClock.now()
    }

    func roundDrained() {
        let length = MonotonicClock.now() - began
        duration += length
        for (id, after) in ThreadCounts.all() {
            let first = before[id] ?? ThreadCounts(name: after.name)
            var sum =
                sums[id]
                ?? .init(
                    id: id, name: after.name, running: 0, waiting: 0, voluntary: 0, involuntary: 0, present: 0)
            sum.running += after.running - first.running
            sum.waiting += after.waiting - first.waiting
            sum.voluntary += after.voluntary - first.voluntary
            sum.involuntary += after.involuntary - first.involuntary
            // A new thread's time is counted from its running and waiting alone.
            sum.present += before[id] == nil ? after.running + after.waiting : length
            sums[id] = sum
        }
    }

    func end() throws {
        let schedules = ThreadSchedules(threads: sums.values.sorted { $0.id < $1.id }, duration: duration)
        let text = String(decoding: try JSONEncoder().encode(schedules), as: UTF8.self)
        try WrittenFolder(folder).replace(Self.fileName, by: text)
    }

    /// Reads a recorder's file from a folder.
    ///
    /// - Throws: `DiskError` or a `DecodingError` if there is no valid file.
    static func read(folder: String) throws -> ThreadSchedules {
        let path = "\(folder)/\(fileName)"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DiskError(path: path, code: errno) }
        defer { close(descriptor) }
        return try JSONDecoder().decode(ThreadSchedules.self, from: Data(FileBytes.readAll(descriptor)))
    }
}

/// The kernel's counters of a thread so far.
struct ThreadCounts: Equatable, Sendable {
    var name: String
    /// In nanoseconds.
    var running: Int64 = 0
    var waiting: Int64 = 0
    var voluntary: Int64 = 0
    var involuntary: Int64 = 0

    /// The counters of all threads of this process, by id; empty if the kernel does not count.
    static func all() -> [Int32: ThreadCounts] {
        var threads = [pid_t](repeating: 0, count: 4096)
        let count = clinux_list_threads(-1, &threads, Int32(threads.count))
        var counts: [Int32: ThreadCounts] = [:]
        for thread in threads.prefix(Int(max(0, count))) {
            let folder = "/proc/self/task/\(thread)"
            if let read = ThreadCounts(
                name: SystemFile.line("\(folder)/comm") ?? "", schedule: SystemFile.text("\(folder)/schedstat"),
                status: SystemFile.text("\(folder)/status"))
            {
                counts[thread] = read
            }
        }
        return counts
    }

    init(name: String) { self.name = name }

    /// - Parameters:
    ///   - schedule: nanoseconds run, nanoseconds waited, and the number of time slices.
    ///   - status: lines of names and values.
    init?(name: String, schedule: String, status: String) {
        let numbers = schedule.split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard numbers.count >= 2, let running = numbers[0], let waiting = numbers[1], running >= 0, waiting >= 0 else {
            return nil
        }
        func value(_ key: String) -> Int64 {
            let line = status.split(separator: "\n").first { $0.hasPrefix(key + ":") }
            return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int64($0) } ?? 0
        }
        (self.name, self.running, self.waiting) = (name, running, waiting)
        (voluntary, involuntary) = (value("voluntary_ctxt_switches"), value("nonvoluntary_ctxt_switches"))
    }
}
