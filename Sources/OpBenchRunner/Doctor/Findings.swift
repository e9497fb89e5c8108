import OpBenchModel
import OpBenchProfile

/// One result of `opbench doctor`.
public struct Finding: Sendable, Equatable {
    /// How good this is for measuring here.
    public enum Weight: Sendable {
        /// Ideal.
        case good
        /// Worth knowing: not needed, nothing to fix, or not reported by the system.
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

    fileprivate static func good(_ subject: String, _ found: String) -> Finding {
        Finding(subject: subject, weight: .good, found: found, remedy: "")
    }

    fileprivate static func note(_ subject: String, _ found: String, _ remedy: String = "") -> Finding {
        Finding(subject: subject, weight: .note, found: found, remedy: remedy)
    }

    fileprivate static func bad(_ subject: String, _ found: String, _ remedy: String) -> Finding {
        Finding(subject: subject, weight: .bad, found: found, remedy: remedy)
    }
}

/// Examines the machine that opbench would measure on, and judges each reading. Thresholds are those that samples are
/// judged by, if there are any.
public enum Doctor {
    /// Examines everything; takes the watched time and a little more.
    ///
    /// - Parameter watchSeconds: how long to watch for other processes.
    public static func examine(watchSeconds: Double) -> [Finding] {
        findings(on: .read(watchSeconds: watchSeconds))
    }

    static func findings(on host: ExaminedHost) -> [Finding] {
        [
            processors(host), choice(host), quota(host), governor(host), turbo(host),
            siblings(host), isolated(host), nodes(host),
            hypervisor(host), foreign(host), clockSource(host), clock(host),
            timer(host), memory(host), randomization(host), allocator(host), environment(host),
            priority(host), build(host),
        ]
            + ProfileKind.allCases.map { kind in
                finding("profile \(kind.rawValue)", host.means[kind], for: "to profile, not for figures")
            } + [
                finding("instructions", host.instructions, for: "for samples of instructions"),
                finding("counters", host.counters, for: "for samples of counters"),
            ]
    }

    private static func quota(_ host: ExaminedHost) -> Finding {
        let subject = "cgroup quota"
        guard let quota = host.quotaProcessors else { return .good(subject, "none") }
        let isThrottled = (host.throttledShare ?? 0) > 0
        let isShort = quota < Double(host.layout.allowed.count)
        return Finding(
            subject: subject, weight: isShort || isThrottled ? .bad : .note,
            found: "\(tenths(quota)) processors" + (isThrottled ? ", throttled just now" : ""),
            remedy: "the kernel stops all threads when it is used up; remove the container's CPU limit "
                + "(`docker run` without `--cpus`), and pin it with `--cpuset-cpus` instead")
    }

    private static func governor(_ host: ExaminedHost) -> Finding {
        switch host.host.surroundings[.governor] {
        case nil: .note("governor", "unknown, as in most virtual machines")
        case "performance"?: .good("governor", "performance")
        case let other?:
            .bad(
                "governor", other,
                "the clock rate follows the load, so that short samples run slower: "
                    + "sudo cpupower frequency-set --governor performance")
        }
    }

    private static func turbo(_ host: ExaminedHost) -> Finding {
        switch host.host.surroundings[.turbo] {
        case nil: .note("turbo", "unknown")
        case "off"?: .good("turbo", "off")
        case let on?:
            .bad(
                "turbo", on,
                "the clock rate depends on heat and on other cores: "
                    + "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, "
                    + "or echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost")
        }
    }

    private static func hypervisor(_ host: ExaminedHost) -> Finding {
        guard host.isVirtual else { return .good("hypervisor", "none") }
        let stolen = host.stolenShare ?? 0
        guard stolen > 0.02 else { return .note("hypervisor", "yes, \(percent(stolen)) stolen") }
        return .bad(
            "hypervisor", "\(percent(stolen)) of a processor stolen",
            "other machines use this host; samples will be flagged noisy. Measure at another time, or on "
                + "a host of your own")
    }

    private static func foreign(_ host: ExaminedHost) -> Finding {
        let subject = "other processes"
        guard let share = host.foreignShare else { return .note(subject, "unknown") }
        let found = "\(percent(share)) of a processor"
        if share > 0.25 {
            return .bad(subject, found, "samples will be flagged noisy; see `top`, and stop what is not needed")
        }
        return share > 0.05 ? .note(subject, found) : .good(subject, found)
    }

    private static let fastClockSources = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"]

    private static func clockSource(_ host: ExaminedHost) -> Finding {
        guard let source = host.clockSource else { return .note("clock source", "unknown") }
        return fastClockSources.contains(source)
            ? .good("clock source", source)
            : .bad(
                "clock source", source,
                "each clock reading may be a system call; see "
                    + "/sys/devices/system/clocksource/clocksource0/available_clocksource for tsc")
    }

    private static func clock(_ host: ExaminedHost) -> Finding {
        let cost = host.clock.cost
        let found = "\(tenths(cost)) ns per reading, steps of \(tenths(host.clock.step)) ns"
        if cost > 200 {
            return .bad(
                "clock", found,
                "latency samples read it five times per operation; check `self_perturbation` before you trust them")
        }
        return cost > 60 ? .note("clock", found) : .good("clock", found)
    }

    private static func timer(_ host: ExaminedHost) -> Finding {
        let delay = host.clock.sleepDelay
        let found = "a sleep ends \(tenths(delay / 1000)) µs late"
        return delay > 1_000_000
            ? .bad("timer", found, "suspensions and arrivals will be late; the machine is overloaded")
            : .good("timer", found)
    }

    private static func memory(_ host: ExaminedHost) -> Finding {
        guard let available = host.availableBytes else { return .note("memory", "unknown") }
        let swapped = host.usedSwapBytes ?? 0
        let found = "\(available >> 20) MiB available" + (swapped > 0 ? ", \(swapped >> 20) MiB swapped out" : "")
        return available < 1 << 30
            ? .bad(
                "memory", found, "samples with many pending operations may be swapped or killed; free some memory")
            : .good("memory", found)
    }

    private static func randomization(_ host: ExaminedHost) -> Finding {
        let subject = "address randomization"
        switch host.host.surroundings[.addressRandomization] {
        case nil: return .note(subject, "unknown")
        case "off"?:
            return .note(
                subject, "off",
                "all processes have the same memory layout, which biases samples: sudo sysctl "
                    + "kernel.randomize_va_space=2, and run opbench without `setarch -R`")
        case let other?: return .good(subject, other)
        }
    }

    private static func allocator(_ host: ExaminedHost) -> Finding {
        guard let lack = host.heapLack else { return .good("allocator", host.host.allocator) }
        return .bad("allocator", lack.reason, "there are no rows of allocations and of the heap: \(lack.remedy)")
    }

    private static func environment(_ host: ExaminedHost) -> Finding {
        let variables = host.host.environment ?? [:]
        if variables.isEmpty { return .good("environment", "no variables that change figures") }
        return .note(
            "environment", SampleEnvironment.words(variables),
            "samples inherit these, without \(SampleEnvironment.allocatorOptions), and `run.json` records them: "
                + "unset those that you do not want to measure")
    }

    private static func finding(_ subject: String, _ answer: ProfileMeans.Answer, for purpose: String) -> Finding {
        Finding(
            subject: subject, weight: answer.lack.isEmpty ? .good : .note,
            found: answer.words, remedy: answer.remedy.isEmpty ? "" : "\(purpose): \(answer.remedy)")
    }

    private static func priority(_ host: ExaminedHost) -> Finding {
        host.mayRaisePriority
            ? .good("thread priorities", "may be raised")
            : .note(
                "thread priorities", "may only be lowered",
                "priorities above 0.5 run at nice 0; allow it with CAP_SYS_NICE or `ulimit -e 40`")
    }

    private static func build(_ host: ExaminedHost) -> Finding {
        let configuration = host.host.configuration
        return configuration == "release"
            ? .good("build", configuration)
            : .bad("build", configuration, "figures of an unoptimized build mean nothing; run scripts/opbench")
    }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    private static func percent(_ share: Double) -> String { "\(tenths(share * 100)) %" }
}

// Judges the processors, and chooses those to measure on.

extension Doctor {
    private static func processors(_ host: ExaminedHost) -> Finding {
        let layout = host.layout
        let (online, allowed) = (layout.online.count, layout.allowed.intersection(layout.online).count)
        let found = allowed == online ? "\(online)" : "\(allowed) of \(online) may be used: \(layout.allowed)"
        return allowed < 2
            ? .bad(
                "processors", found,
                "suspension and latency mean little with one processor; use two processors, or widen `taskset`")
            : .good("processors", found)
    }

    /// The processors to measure on, from the findings below.
    private static func choice(_ host: ExaminedHost) -> Finding {
        guard let choice = host.layout.choice(quota: host.quotaProcessors) else {
            return .good("--cpus", "not needed: all processors are alike")
        }
        return .note(
            "--cpus", choice.words,
            "`opbench run` and `ab` pin all samples to these; use the same for all runs that you compare")
    }

    private static func siblings(_ host: ExaminedHost) -> Finding {
        let (threads, cores) = (host.layout.online.count, host.layout.cores)
        guard let first = cores.first(where: { $0.count > 1 }) else {
            return .good("SMT", "off: one thread per core")
        }
        return .note(
            "SMT", "on: \(counted(threads, "thread")) on \(counted(cores.count, "core")); \(first) are one core",
            "two busy threads of one core run slower than on two cores: measure with --cpus on one "
                + "thread per core, or echo off | sudo tee /sys/devices/system/cpu/smt/control")
    }

    private static func isolated(_ host: ExaminedHost) -> Finding {
        let (isolated, tickless) = (host.layout.isolated, host.layout.tickless)
        if isolated.isEmpty, tickless.isEmpty { return .good("isolated processors", "none") }
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
        return .note("isolated processors", found.joined(separator: ", "), remedies.joined(separator: "; "))
    }

    private static func nodes(_ host: ExaminedHost) -> Finding {
        let nodes = host.layout.nodes
        let found = nodes.map { "node \($0.number): \($0.processors)" }.joined(separator: ", ")
        if nodes.count < 2 { return .good("NUMA", found) }
        return .note(
            "NUMA", found,
            "access to another node's cache lines takes several times as long: keep samples on one node with "
                + "--cpus, unless you want to measure that")
    }
}
