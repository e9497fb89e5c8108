import OpBenchModel
import OpBenchProfile

// Judges each reading. Thresholds are those that samples are judged by, if there are any.

extension Doctor {
    static func quota(_ readings: HostReadings) -> Finding {
        guard let quota = readings.quotaProcessors else {
            return Finding(subject: "cgroup quota", weight: .good, found: "none", remedy: "")
        }
        let isThrottled = (readings.throttledShare ?? 0) > 0
        let isShort = quota < Double(readings.layout.allowed.count)
        return Finding(
            subject: "cgroup quota", weight: isShort || isThrottled ? .bad : .note,
            found: "\(tenths(quota)) processors" + (isThrottled ? ", throttled just now" : ""),
            remedy: "the kernel stops all threads when it is used up; remove the container's CPU limit "
                + "(`docker run` without `--cpus`), and pin it with `--cpuset-cpus` instead")
    }

    static func governor(_ readings: HostReadings) -> Finding {
        switch readings.governor {
        case nil:
            Finding(subject: "governor", weight: .note, found: "unknown, as in most virtual machines", remedy: "")
        case "performance"?: Finding(subject: "governor", weight: .good, found: "performance", remedy: "")
        case let other?:
            Finding(
                subject: "governor", weight: .bad, found: other,
                remedy: "the clock rate follows the load, so that short samples run slower: "
                    + "sudo cpupower frequency-set --governor performance")
        }
    }

    static func turbo(_ readings: HostReadings) -> Finding {
        switch readings.hasTurbo {
        case nil: Finding(subject: "turbo", weight: .note, found: "unknown", remedy: "")
        case false?: Finding(subject: "turbo", weight: .good, found: "off", remedy: "")
        case true?:
            Finding(
                subject: "turbo", weight: .bad, found: "on",
                remedy: "the clock rate depends on heat and on other cores: "
                    + "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, "
                    + "or echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost")
        }
    }

    static func hypervisor(_ readings: HostReadings) -> Finding {
        guard readings.isVirtual else {
            return Finding(subject: "hypervisor", weight: .good, found: "none", remedy: "")
        }
        let stolen = readings.stolenShare ?? 0
        guard stolen > 0.02 else {
            return Finding(subject: "hypervisor", weight: .note, found: "yes, \(percent(stolen)) stolen", remedy: "")
        }
        return Finding(
            subject: "hypervisor", weight: .bad, found: "\(percent(stolen)) of a processor stolen",
            remedy: "other machines use this host; samples will be flagged noisy. Measure at another time, or on "
                + "a host of your own")
    }

    static func foreign(_ readings: HostReadings) -> Finding {
        guard let share = readings.foreignShare else {
            return Finding(subject: "other processes", weight: .note, found: "unknown", remedy: "")
        }
        let names = readings.busiest.map { "\($0.name) \(percent($0.share))" }.joined(separator: ", ")
        let found = "\(percent(share)) of a processor" + (names.isEmpty ? "" : ": \(names)")
        if share > 0.25 {
            return Finding(
                subject: "other processes", weight: .bad, found: found,
                remedy: "samples will be flagged noisy; see `top`, and stop what is not needed")
        }
        return Finding(subject: "other processes", weight: share > 0.05 ? .note : .good, found: found, remedy: "")
    }

    static func load(_ readings: HostReadings) -> Finding {
        guard let load = readings.load else {
            return Finding(subject: "load", weight: .note, found: "unknown", remedy: "")
        }
        let isHigh = load > 0.5 * Double(readings.layout.online.count)
        return Finding(
            subject: "load", weight: isHigh ? .note : .good, found: tenths(load),
            remedy: isHigh ? "the machine was busy within the last minute; wait until it is not" : "")
    }

    static func clockSource(_ readings: HostReadings) -> Finding {
        let fast = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"]
        guard let source = readings.clockSource else {
            return Finding(subject: "clock source", weight: .note, found: "unknown", remedy: "")
        }
        let isFast = fast.contains(source)
        return Finding(
            subject: "clock source", weight: isFast ? .good : .bad, found: source,
            remedy: isFast
                ? ""
                : "each clock reading may be a system call; see "
                    + "/sys/devices/system/clocksource/clocksource0/available_clocksource for tsc")
    }

    static func clock(_ readings: HostReadings) -> Finding {
        let isDear = readings.clockCost > 200
        return Finding(
            subject: "clock", weight: isDear ? .bad : readings.clockCost > 60 ? .note : .good,
            found: "\(tenths(readings.clockCost)) ns per reading, steps of \(tenths(readings.clockStep)) ns",
            remedy: isDear
                ? "latency samples read it five times per operation; check `self_perturbation` before you trust them"
                : ""
        )
    }

    static func timer(_ readings: HostReadings) -> Finding {
        let isLate = readings.sleepDelay > 1_000_000
        return Finding(
            subject: "timer", weight: isLate ? .bad : .good,
            found: "a sleep ends \(tenths(readings.sleepDelay / 1000)) µs late",
            remedy: isLate ? "suspensions and arrivals will be late; the machine is overloaded" : "")
    }

    static func memory(_ readings: HostReadings) -> Finding {
        guard let available = readings.availableBytes else {
            return Finding(subject: "memory", weight: .note, found: "unknown", remedy: "")
        }
        let swapped = readings.usedSwapBytes ?? 0
        let found =
            "\(mebibytes(available)) MiB available" + (swapped > 0 ? ", \(mebibytes(swapped)) MiB swapped out" : "")
        let isShort = available < 1 << 30
        return Finding(
            subject: "memory", weight: isShort ? .bad : .good, found: found,
            remedy: isShort ? "samples with many pending operations may be swapped or killed; free some memory" : "")
    }

    static func randomization(_ readings: HostReadings) -> Finding {
        let value = readings.addressRandomization
        return Finding(
            subject: "address randomization", weight: value == nil || value == "off" ? .note : .good,
            found: value ?? "unknown",
            remedy: value == "off"
                ? "all processes have the same memory layout, which biases samples: sudo sysctl "
                    + "kernel.randomize_va_space=2, and run opbench without `setarch -R`" : "")
    }

    static func allocator(_ readings: HostReadings) -> Finding {
        guard let lack = readings.heapLack else {
            return Finding(subject: "allocator", weight: .good, found: readings.allocator, remedy: "")
        }
        return Finding(
            subject: "allocator", weight: .bad, found: lack.reason,
            remedy: "there are no rows of allocations and of the heap: \(lack.remedy)")
    }

    static func environment(_ readings: HostReadings) -> Finding {
        if readings.environment.isEmpty {
            return Finding(
                subject: "environment", weight: .good, found: "no variables that change figures", remedy: "")
        }
        return Finding(
            subject: "environment", weight: .note, found: SampleEnvironment.words(readings.environment),
            remedy:
                "samples inherit these, without \(SampleEnvironment.allocatorOptions), and `run.json` records them: "
                + "unset those that you do not want to measure")
    }

    static func profile(_ kind: ProfileKind, _ readings: HostReadings) -> Finding {
        finding("profile \(kind.rawValue)", readings.means[kind], for: "to profile, not for figures")
    }

    static func instructions(_ readings: HostReadings) -> Finding {
        finding(
            "instructions", readings.instructions, for: "for samples of instructions")
    }

    static func counters(_ readings: HostReadings) -> Finding {
        finding("counters", readings.counters, for: "for samples of counters")
    }

    private static func finding(_ subject: String, _ answer: ProfileMeans.Answer, for purpose: String) -> Finding {
        Finding(
            subject: subject, weight: answer.means == nil ? .bad : answer.lack.isEmpty ? .good : .note,
            found: answer.words, remedy: answer.remedy.isEmpty ? "" : "\(purpose): \(answer.remedy)")
    }

    static func priority(_ readings: HostReadings) -> Finding {
        readings.mayRaisePriority
            ? Finding(subject: "thread priorities", weight: .good, found: "may be raised", remedy: "")
            : Finding(
                subject: "thread priorities", weight: .note, found: "may only be lowered",
                remedy: "priorities above 0.5 run at nice 0; allow it with CAP_SYS_NICE or `ulimit -e 40`")
    }

    static func build(_ readings: HostReadings) -> Finding {
        readings.configuration == "release"
            ? Finding(subject: "build", weight: .good, found: "release", remedy: "")
            : Finding(
                subject: "build", weight: .bad, found: readings.configuration,
                remedy: "figures of an unoptimized build mean nothing; run scripts/opbench")
    }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    private static func percent(_ share: Double) -> String { "\(tenths(share * 100)) %" }

    private static func mebibytes(_ bytes: Int) -> Int { bytes >> 20 }
}

/// One result of `opbench doctor`.
public struct Finding: Sendable, Equatable, Codable {
    /// How good this is for measuring here.
    public enum Weight: String, Sendable, CaseIterable, Codable {
        /// Ideal.
        case good
        /// Worth knowing: there is nothing to fix, or the system does not report it.
        case note
        /// Degrades figures, or prevents some.
        case bad
    }

    public let subject: String
    public let weight: Weight
    /// The finding, in words.
    public let found: String
    /// The effect on figures, and a remedy; empty if all is well.
    public let remedy: String
}

/// Examines the machine that opbench would measure on.
public enum Doctor {
    /// Examines everything; takes the watched time and a little more.
    ///
    /// - Parameter watchSeconds: how long to watch for other processes.
    public static func examine(watchSeconds: Double) -> [Finding] {
        findings(from: .take(watchSeconds: watchSeconds))
    }

    static func findings(from readings: HostReadings) -> [Finding] {
        [
            processors(readings), choice(readings), quota(readings), governor(readings), turbo(readings),
            siblings(readings), isolated(readings), nodes(readings),
            hypervisor(readings), foreign(readings), load(readings), clockSource(readings), clock(readings),
            timer(readings), memory(readings), randomization(readings), allocator(readings), environment(readings),
            priority(readings), build(readings),
        ] + ProfileKind.allCases.map { profile($0, readings) } + [instructions(readings), counters(readings)]
    }
}

// Judges the processors, and chooses those to measure on.

extension Doctor {
    static func processors(_ readings: HostReadings) -> Finding {
        let layout = readings.layout
        let (online, allowed) = (layout.online.count, layout.allowed.intersection(layout.online).count)
        let found = allowed == online ? "\(online)" : "\(allowed) of \(online) may be used: \(layout.allowed)"
        if allowed < 2 {
            return Finding(
                subject: "processors", weight: .bad, found: found,
                remedy: "suspension and latency mean little with one processor; use two processors, or widen `taskset`")
        }
        return Finding(subject: "processors", weight: .good, found: found, remedy: "")
    }

    /// The processors to measure on, from the findings below.
    static func choice(_ readings: HostReadings) -> Finding {
        guard let choice = readings.layout.choice(quota: readings.quotaProcessors) else {
            return Finding(subject: "--cpus", weight: .good, found: "not needed: all processors are alike", remedy: "")
        }
        return Finding(
            subject: "--cpus", weight: .note, found: choice.words,
            remedy: "`opbench run` and `ab` pin all samples to these; use the same for all runs that you compare")
    }

    static func siblings(_ readings: HostReadings) -> Finding {
        let layout = readings.layout
        let shared = layout.cores.filter { $0.count > 1 }
        guard let first = shared.first else {
            return Finding(subject: "SMT", weight: .good, found: "off: one thread per core", remedy: "")
        }
        return Finding(
            subject: "SMT", weight: .note,
            found:
                "on: \(counted(layout.online.count, "thread")) on \(counted(layout.cores.count, "core")); \(first) are one core",
            remedy: "two busy threads of one core run slower than on two cores: measure with --cpus on one "
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
                "the kernel moves no thread onto or between isolated processors: samples pinned to several run on one "
                    + "of them; with --cpus, use a single one, for serial work")
        }
        if !tickless.isEmpty {
            found.append("\(tickless) without a tick (nohz_full)")
            remedies.append("entering the kernel takes longer without a tick, which slows every wake-up")
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
            remedy: "access to another node's cache lines takes several times as long: keep samples on one node with "
                + "--cpus, unless you want to measure that")
    }
}
