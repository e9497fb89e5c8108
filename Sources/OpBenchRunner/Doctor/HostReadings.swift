import CLinux
import Glibc
import OpBenchBackends
import OpBenchModel

/// What `opbench doctor` reads of the machine, before anything is judged. What the system does not tell is nil.
struct HostReadings: Sendable {
    /// Which processors there are, and which this process may use.
    var layout: ProcessorLayout
    /// CPUs that the cgroup's quota allows.
    var quotaProcessors: Double?
    var governor: String?
    /// Whether processors may run faster than they can for long.
    var hasTurbo: Bool?
    var isVirtual: Bool
    var clockSource: String?
    /// What one reading of the clock takes, and the smallest step between two readings that differ, in nanoseconds.
    var clockCost: Double
    var clockStep: Double
    /// By how much a sleep of a millisecond is late, the median of some, in nanoseconds.
    var sleepDelay: Double
    /// Of one processor's time, while the machine was watched.
    var stolenShare: Double?
    var foreignShare: Double?
    /// Whose processes used the most of it.
    var busiest: [BusyProcess] = []
    var throttledShare: Double?
    var load: Double?
    /// `kernel.randomize_va_space`.
    var addressRandomization: Int?
    var mayRaisePriority: Bool
    var availableBytes: Int?
    var usedSwapBytes: Int?
    var allocator: String
    /// Why there are no rows of memory; nil if there are some.
    var heapLack: HeapLack?
    /// The variables of the environment that change the cost of any program.
    var environment: [String: String] = [:]
    /// `debug` or `release`.
    var configuration: String
    /// How profiles can be made.
    var means: ProfileMeans
    /// How instructions can be counted.
    var instructions: ProfileMeans.Answer

    /// Reads everything, and watches the machine for that long.
    static func take(watchSeconds: Double) -> HostReadings {
        let host = HostFacts.gather(git: nil)
        let clock = ClockFacts.measure()
        let processes = BusyProcess.readings()
        let before = Covariates.now()
        MonotonicClock.sleep(until: before.instant + Int64(watchSeconds * 1e9))
        let watched = Interference(before: before, after: .now(), referenceLoopNanoseconds: [])
        let busiest = BusyProcess.busiest(
            from: processes, to: BusyProcess.readings(), seconds: watched.elapsed / 1e9)
        let memory = SystemFile.text("/proc/meminfo")
        return HostReadings(
            layout: .here, quotaProcessors: host.cgroupCores, governor: host.governor, hasTurbo: hasTurbo,
            isVirtual: SystemFile.text("/proc/cpuinfo").contains(" hypervisor"),
            clockSource: SystemFile.line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clockCost: clock.cost, clockStep: clock.step, sleepDelay: clock.sleepDelay,
            stolenShare: watched.steal.map { $0 / watched.elapsed },
            foreignShare: watched.foreign.map { $0 / watched.elapsed }, busiest: busiest,
            throttledShare: watched.throttled.map { $0 / watched.elapsed }, load: before.load,
            addressRandomization: SystemFile.line("/proc/sys/kernel/randomize_va_space").flatMap { Int($0) },
            mayRaisePriority: mayRaisePriority, availableBytes: bytes("MemAvailable", in: memory),
            usedSwapBytes: usedSwap(in: memory), allocator: host.allocator, heapLack: heapLack,
            environment: SampleEnvironment.found(),
            configuration: host.configuration, means: .probe(),
            instructions: ProfileMeans.ofInstructions())
    }

    private static var heapLack: HeapLack? {
        do {
            _ = try HeapProbe()
            return nil
        } catch {
            return error
        }
    }

    /// intel_pstate says it the other way round than the other drivers.
    private static var hasTurbo: Bool? {
        if let line = SystemFile.line("/sys/devices/system/cpu/intel_pstate/no_turbo") { return line == "0" }
        return SystemFile.line("/sys/devices/system/cpu/cpufreq/boost").map { $0 == "1" }
    }

    /// Asks a thread of its own, which the process does not miss afterwards.
    private static var mayRaisePriority: Bool {
        let flag = Flag()
        OwnThread { if clinux_set_own_nice(-1) == 0 { flag.set() } }.join()
        return flag.isSet
    }

    /// A line of `/proc/meminfo`.
    static func bytes(_ name: String, in text: String) -> Int? {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    static func usedSwap(in text: String) -> Int? {
        guard let total = bytes("SwapTotal", in: text), let free = bytes("SwapFree", in: text) else { return nil }
        return total - free
    }
}

/// The one clock of all figures, and the timer, as they are here.
private struct ClockFacts {
    var cost: Double
    var step: Double
    var sleepDelay: Double

    static func measure() -> ClockFacts {
        let readings = 20_000
        var fastest = Int64.max
        for _ in 0..<5 {
            let start = MonotonicClock.now()
            for _ in 0..<readings { _ = MonotonicClock.now() }
            fastest = min(fastest, MonotonicClock.now() - start)
        }
        let delays = (0..<20).map { _ in
            let due = MonotonicClock.now() + 1_000_000
            MonotonicClock.sleep(until: due)
            return MonotonicClock.now() - due
        }
        return ClockFacts(
            cost: Double(fastest) / Double(readings), step: Double(MonotonicClock.resolution()),
            sleepDelay: Double(delays.sorted()[10]))
    }
}

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
