import Glibc
import OpBenchModel

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

    /// `cpu.stat` of this process's cgroup, in the unified hierarchy or the older one.
    static let cpuStatistics = cgroupFile("cpu.stat")

    /// A file of this process's CPU cgroup, or of the root if the process's own is not visible.
    static func cgroupFile(_ name: String) -> String {
        for line in text("/proc/self/cgroup").split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let roots: [String]
            if fields[1].isEmpty {
                roots = ["/sys/fs/cgroup\(fields[2])", "/sys/fs/cgroup"]
            } else if fields[1].split(separator: ",").contains("cpu") {
                roots = ["/sys/fs/cgroup/\(fields[1])\(fields[2])", "/sys/fs/cgroup/\(fields[1])"]
            } else {
                continue
            }
            for root in roots where access("\(root)/\(name)", R_OK) == 0 { return "\(root)/\(name)" }
        }
        return "/sys/fs/cgroup/\(name)"
    }
}
