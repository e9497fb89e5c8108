// What it means which processors there are, and which to measure on.

import OpBenchModel

extension Doctor {
    static func processors(_ readings: HostReadings) -> Finding {
        let layout = readings.layout
        let (online, allowed) = (layout.online.count, layout.allowed.intersection(layout.online).count)
        let found = allowed == online ? "\(online)" : "\(allowed) of \(online) may be used: \(layout.allowed)"
        if allowed < 2 {
            return Finding(
                subject: "processors", weight: .bad, found: found,
                remedy: "suspension and latency say little with one; use a machine with two, or a wider `taskset`")
        }
        return Finding(subject: "processors", weight: .good, found: found, remedy: "")
    }

    /// Which processors to measure on, from all that follows.
    static func choice(_ readings: HostReadings) -> Finding {
        guard let choice = readings.layout.choice(quota: readings.quotaProcessors) else {
            return Finding(subject: "--cpus", weight: .good, found: "not needed: all are alike", remedy: "")
        }
        return Finding(
            subject: "--cpus", weight: .note, found: choice.words,
            remedy: "`opbench run` and `ab` keep all samples on these; take the same ones for all runs to be compared")
    }

    static func siblings(_ readings: HostReadings) -> Finding {
        let layout = readings.layout
        let shared = layout.cores.filter { $0.count > 1 }
        guard let first = shared.first else {
            return Finding(subject: "SMT", weight: .good, found: "off: one thread per core", remedy: "")
        }
        return Finding(
            subject: "SMT", weight: .note,
            found: "on: \(layout.online.count) threads on \(layout.cores.count) cores; \(first) are one core",
            remedy: "two busy threads of one core run slower than two of different cores: measure with --cpus on one "
                + "thread per core, or echo off | sudo tee /sys/devices/system/cpu/smt/control")
    }

    static func isolated(_ readings: HostReadings) -> Finding {
        let layout = readings.layout
        let (isolated, tickless) = (layout.isolated, layout.tickless)
        if isolated.isEmpty, tickless.isEmpty {
            return Finding(subject: "isolated processors", weight: .good, found: "none", remedy: "")
        }
        var found: [String] = []
        var remedies: [String] = []
        if !isolated.isEmpty {
            found.append("\(isolated)")
            remedies.append(
                "the kernel moves no thread onto or between isolated processors: samples pinned to several of them run on "
                    + "one; for --cpus they serve singly, for serial work")
        }
        if !tickless.isEmpty {
            found.append("\(tickless) without a tick (nohz_full)")
            remedies.append("entering the kernel takes longer without a tick, which every wake-up shows")
        }
        return Finding(
            subject: "isolated processors", weight: .note, found: found.joined(separator: ", "),
            remedy: remedies.joined(separator: "; "))
    }

    static func nodes(_ readings: HostReadings) -> Finding {
        let nodes = readings.layout.nodes
        let found = nodes.map { "node \($0.number): \($0.processors)" }.joined(separator: ", ")
        if nodes.count < 2 { return Finding(subject: "NUMA", weight: .good, found: found, remedy: "") }
        return Finding(
            subject: "NUMA", weight: .note, found: found,
            remedy: "a cache line from another node takes several times as long: keep samples on one with --cpus, "
                + "unless that is what you want to know")
    }
}
