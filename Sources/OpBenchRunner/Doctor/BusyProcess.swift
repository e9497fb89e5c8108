import Glibc
import OpBenchModel

/// A program whose processes use processors, besides this one and its children.
struct BusyProcess: Sendable, Equatable {
    let name: String
    /// Of one processor's time, all processes of the name together.
    var share: Double

    /// CPU time so far.
    struct Reading {
        let name: String
        let seconds: Double
    }

    /// Of all processes that may be looked at, by their ids.
    static func readings() -> [Int32: Reading] {
        guard let folder = opendir("/proc") else { return [:] }
        defer { closedir(folder) }
        var readings: [Int32: Reading] = [:]
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let id = Int32(name), id != getpid() else { continue }
            if let reading = reading(inStat: SystemFile.text("/proc/\(id)/stat"), besides: getpid()) {
                readings[id] = reading
            }
        }
        return readings
    }

    /// - Parameters:
    ///   - text: of `/proc/PID/stat`, see proc(5). A program's name may have spaces and parentheses.
    ///   - parent: whose children are left out.
    static func reading(inStat text: String, besides parent: Int32) -> Reading? {
        guard let opening = text.firstIndex(of: "("), let closing = text.lastIndex(of: ")"), opening < closing else {
            return nil
        }
        let words = text[text.index(after: closing)...].split(separator: " ")
        // The state is the third field.
        guard words.count > 12, Int32(words[1]) != parent, let user = Double(words[11]), let system = Double(words[12])
        else { return nil }
        return Reading(
            name: String(text[text.index(after: opening)..<closing]),
            seconds: (user + system) / Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Who used the most between two readings, at most three; the greatest first. A process that ended meanwhile is not told.
    /// One that had less time than the bearer of its id before is new. Its name may have changed: threads of the kernel are
    /// called after what they do at the time.
    static func busiest(from before: [Int32: Reading], to after: [Int32: Reading], seconds: Double) -> [BusyProcess] {
        var shares: [String: Double] = [:]
        for (id, reading) in after {
            let earlier = before[id].flatMap { $0.seconds <= reading.seconds ? $0.seconds : nil } ?? 0
            shares[reading.name, default: 0] += (reading.seconds - earlier) / seconds
        }
        let busy = shares.filter { $0.value >= 0.05 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return busy.prefix(3).map { BusyProcess(name: $0.key, share: $0.value) }
    }
}
