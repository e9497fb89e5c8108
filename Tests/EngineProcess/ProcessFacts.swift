import CLinuxMeasure
import Glibc

/// The kernel's and the allocator's figures of this process.
enum ProcessFacts {
    static let isSanitized = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

    /// The threads, by number and name.
    static var threads: [(number: Int32, name: String)] {
        guard let folder = opendir("/proc/self/task") else { return [] }
        defer { closedir(folder) }
        var all: [(Int32, String)] = []
        while let entry = readdir(folder) {
            let number = withUnsafeBytes(of: entry.pointee.d_name) {
                Int32(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self))
            }
            // One that has ended by now has no name.
            if let number, let name = text(of: "/proc/self/task/\(number)/comm") { all.append((number, name)) }
        }
        return all
    }

    /// The number of threads that the engine has started: its workers, the starter and the monitor.
    static var engineThreads: Int {
        threads.count { $0.name.hasPrefix("engine ") }
    }

    /// How often a thread of the process has gone to sleep.
    static var sleeps: Int {
        threads.reduce(0) { sum, thread in
            let status = text(of: "/proc/self/task/\(thread.number)/status") ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }

    /// Processor time of all threads so far, user and system, in microseconds.
    static var processorMicroseconds: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + $1.tv_sec * 1_000_000 + $1.tv_usec }
    }

    /// Bytes that are allocated and not freed, in all threads; what the C library keeps for the next allocation of a
    /// thread (some kilobytes) counts as allocated.
    static var heapBytes: Int {
        if let address = dlsym(nil, "__sanitizer_get_current_allocated_bytes") {
            return unsafeBitCast(address, to: (@convention(c) () -> Int).self)()
        }
        return clinux_heap_in_use()
    }

    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let length = fread(&bytes, 1, bytes.count, file)
        return length == 0 ? nil : String(decoding: bytes[..<length], as: UTF8.self)
    }
}

/// Blocks until the condition holds, looking every millisecond. The test that runs the scenario limits the time.
func waitUntil(_ condition: () -> Bool) {
    while !condition() { pause(milliseconds: 1) }
}

/// Sleeps, waking no other thread.
func pause(milliseconds: Int32) { poll(nil, 0, milliseconds) }
