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
    private var sums: [Int32: OffCPU.ThreadTime] = [:]
    private var duration: Int64 = 0
    private var before: [Int32: OffCPU.ThreadTime] = [:]
    private var began: Int64 = 0

    init(folder: String) { self.folder = folder }

    func begin() throws {
        if !RunQueue.isCounted {
            throw SamplerError(
                message: "the kernel does not count waiting times", remedy: "sudo sysctl kernel.task_delayacct=1")
        }
    }

    func roundBegins() {
        before = OffCPU.ThreadTime.ofThisProcess()
        began = MonotonicClock.now()
    }

    func roundDrained() {
        let length = MonotonicClock.now() - began
        duration += length
        for (id, after) in OffCPU.ThreadTime.ofThisProcess() {
            let first = before[id] ?? .init(id: id, name: after.name)
            var sum = sums[id] ?? .init(id: id, name: after.name)
            let (running, waiting) = (after.running - first.running, after.waiting - first.waiting)
            sum.running += running
            sum.waiting += waiting
            sum.voluntary += after.voluntary - first.voluntary
            sum.involuntary += after.involuntary - first.involuntary
            // It is unknown when a new thread began.
            if before[id] != nil { sum.blocked += max(0, length - running - waiting) }
            sums[id] = sum
        }
    }

    func end() throws {
        let schedules = ThreadSchedules(threads: sums.values.sorted { $0.id < $1.id }, duration: duration)
        let text = String(decoding: try JSONEncoder().encode(schedules), as: UTF8.self)
        try WrittenFolder(folder).replace(Self.fileName, by: text)
    }

    /// The contents of a recorder's file.
    ///
    /// - Throws: a `DecodingError` if it is not valid.
    static func schedules(_ file: [UInt8]) throws -> ThreadSchedules {
        try JSONDecoder().decode(ThreadSchedules.self, from: Data(file))
    }
}

extension OffCPU.ThreadTime {
    /// The kernel's counters of all threads of this process so far, by id; empty if it does not count.
    static func ofThisProcess() -> [Int32: OffCPU.ThreadTime] {
        var threads = [pid_t](repeating: 0, count: 4096)
        let count = clinux_list_threads(-1, &threads, Int32(threads.count))
        var counts: [Int32: OffCPU.ThreadTime] = [:]
        for thread in threads.prefix(Int(max(0, count))) {
            let folder = "/proc/self/task/\(thread)"
            counts[thread] = OffCPU.ThreadTime(
                id: thread, name: SystemFile.line("\(folder)/comm") ?? "",
                schedule: SystemFile.text("\(folder)/schedstat"), status: SystemFile.text("\(folder)/status"))
        }
        return counts
    }

    /// - Parameters:
    ///   - schedule: nanoseconds run, nanoseconds waited, and the number of time slices.
    ///   - status: lines of names and values.
    init?(id: Int32, name: String, schedule: String, status: String) {
        let numbers = schedule.split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard numbers.count >= 2, let running = numbers[0], let waiting = numbers[1], running >= 0, waiting >= 0 else {
            return nil
        }
        self.init(id: id, name: name)
        (self.running, self.waiting) = (running, waiting)
        voluntary = SystemFile.number("voluntary_ctxt_switches", in: status) ?? 0
        involuntary = SystemFile.number("nonvoluntary_ctxt_switches", in: status) ?? 0
    }
}
