import CLinux

/// The CPU quota of this process: the least of its control groups and of those around them, cgroups(7).
package enum CPUQuota: Equatable, Sendable {
    case unlimited
    /// The number of processors whose time may be used.
    case processors(Double)

    /// Reads some small files. From any thread.
    ///
    /// - Parameter root: the folder that has `proc` and `sys`; tests pass one.
    /// - Returns: nil if no control group of the process is visible.
    package static func read(root: String = "") -> CPUQuota? {
        let quotas = groups(root).compactMap(quota)
        let numbers = quotas.compactMap(\.number)
        return numbers.min().map(CPUQuota.processors) ?? (quotas.isEmpty ? nil : .unlimited)
    }

    package var number: Double? {
        if case .processors(let number) = self { number } else { nil }
    }

    /// The number of processors that the process may keep busy, at least 1.
    var roundedUp: Int { number.map { max(1, Int(min($0.rounded(.up), Double(Int32.max)))) } ?? .max }

    /// The folders of this process's CPU cgroup and of those around it, from the inside out, in the unified hierarchy
    /// or the older one. In a container, the outer ones may be invisible.
    package static func groups(_ root: String = "") -> [String] {
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
        return folders.filter { clinux_exists($0) }
    }

    /// The quota of one group; nil if its folder has no files of the controller.
    private static func quota(of folder: String) -> CPUQuota? {
        let unified = words("\(folder)/cpu.max")
        if unified.count == 2, let period = Double(unified[1]), period > 0 {
            return Double(unified[0]).map { CPUQuota.processors($0 / period) } ?? .unlimited
        }
        // In version 2, a group without the file, such as the topmost one, has no quota of its own.
        if clinux_exists("\(folder)/cgroup.controllers") { return .unlimited }
        guard let quota = words("\(folder)/cpu.cfs_quota_us").first.flatMap({ Double($0) }),
            let period = words("\(folder)/cpu.cfs_period_us").first.flatMap({ Double($0) }), period > 0
        else { return nil }
        return quota > 0 ? .processors(quota / period) : .unlimited
    }

    private static func words(_ path: String) -> [Substring] { text(path).split(whereSeparator: \.isWhitespace) }

    /// The text of a file; empty if it cannot be read.
    private static func text(_ path: String) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: mostBytes) { buffer, count in
            count = clinux_read_file(path, buffer.baseAddress, buffer.count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// More than these files have.
    private static let mostBytes = 1 << 16
}
