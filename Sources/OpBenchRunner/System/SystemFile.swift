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

    /// A file of this process's CPU cgroup, or of the next one around it that is visible and has the file.
    static func cgroupFile(_ name: String) -> String {
        let files = cpuCgroups().map { "\($0)/\(name)" }
        return files.first { access($0, R_OK) == 0 } ?? "/sys/fs/cgroup/\(name)"
    }

    /// The folders of this process's CPU cgroup and of those around it, from the inside out, in the unified hierarchy
    /// or the older one. In a container, the outer ones may be invisible.
    ///
    /// - Parameter root: the folder that has `proc` and `sys`.
    static func cpuCgroups(_ root: String = "") -> [String] {
        var folders: [String] = []
        for line in text("\(root)/proc/self/cgroup").split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].isEmpty || fields[1].split(separator: ",").contains("cpu") else {
                continue
            }
            let hierarchy = "\(root)/sys/fs/cgroup" + (fields[1].isEmpty ? "" : "/\(fields[1])")
            var path = fields[2].split(separator: "/")
            while !path.isEmpty {
                folders.append("\(hierarchy)/\(path.joined(separator: "/"))")
                path.removeLast()
            }
            folders.append(hierarchy)
        }
        return folders.filter { access($0, X_OK) == 0 }
    }
}
