import Glibc
import OpBenchModel
import OperationEngine

/// Access to Linux's small text files about the system.
enum SystemFile {
    /// The text; empty if the file is missing.
    static func text(_ path: String) -> String {
        String(decoding: (try? FileBytes.read(path)) ?? [], as: UTF8.self)
    }

    /// The first line without its end; nil if there is none.
    static func line(_ path: String) -> String? {
        text(path).split(separator: "\n").first.map(String.init)
    }

    /// The number after `name:` in a text such as `/proc/self/status`; nil if there is none.
    static func number(_ name: String, in text: String) -> Int? {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// `cpu.stat` of this process's cgroup, in the unified hierarchy or the older one.
    static let cpuStatistics = cgroupFile("cpu.stat")

    /// A file of this process's CPU cgroup, or of the next one around it that is visible and has the file.
    static func cgroupFile(_ name: String) -> String {
        let files = CPUQuota.groups().map { "\($0)/\(name)" }
        return files.first { access($0, R_OK) == 0 } ?? "/sys/fs/cgroup/\(name)"
    }
}
