import OpBenchModel

/// The CPU quota of this process: the least of its control groups and of those around them.
enum CPUQuota: Equatable, Sendable {
    case unlimited
    /// The number of processors whose time may be used.
    case processors(Double)

    /// - Parameter root: the folder that has `proc` and `sys`; tests pass one.
    /// - Returns: nil if no control group of the process is visible.
    static func read(root: String = "") -> CPUQuota? {
        let quotas = SystemFile.cpuCgroups(root).compactMap(quota)
        let numbers = quotas.compactMap(\.number)
        return numbers.min().map(CPUQuota.processors) ?? (quotas.isEmpty ? nil : .unlimited)
    }

    var number: Double? {
        if case .processors(let number) = self { number } else { nil }
    }

    var words: String { number.map { "\(FigureText.write($0)) processors" } ?? "none" }

    /// The quota of one group; nil if its folder has no files of the controller.
    private static func quota(of folder: String) -> CPUQuota? {
        let unified = SystemFile.text("\(folder)/cpu.max").split(whereSeparator: \.isWhitespace)
        if unified.count == 2, let period = Double(unified[1]), period > 0 {
            return Double(unified[0]).map { CPUQuota.processors($0 / period) } ?? .unlimited
        }
        // In version 2, a group without the file, such as the topmost one, has no quota of its own.
        if SystemFile.line("\(folder)/cgroup.controllers") != nil { return .unlimited }
        guard let quota = SystemFile.line("\(folder)/cpu.cfs_quota_us").flatMap(Double.init),
            let period = SystemFile.line("\(folder)/cpu.cfs_period_us").flatMap(Double.init), period > 0
        else { return nil }
        return quota > 0 ? .processors(quota / period) : .unlimited
    }
}
