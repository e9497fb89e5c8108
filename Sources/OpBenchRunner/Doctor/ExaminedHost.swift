import CLinux
import Glibc
import OpBenchBackends
import OpBenchModel
import OperationEngine

/// A host with what only `opbench doctor` needs to know about it, unjudged. A reading is nil if the system does not
/// report it.
struct ExaminedHost: Sendable {
    var host: Host
    /// The machine's processors, and those that this process may use.
    var layout: ProcessorLayout
    /// Number of CPUs that the cgroup's quota allows.
    var quotaProcessors: Double?
    var isVirtual: Bool
    var clockSource: String?
    var clock: ClockFacts
    /// Shares of one processor's time, while the machine was watched.
    var stolenShare: Double?
    var foreignShare: Double?
    var throttledShare: Double?
    var mayRaisePriority: Bool
    var availableBytes: Int?
    var usedSwapBytes: Int?
    /// Why there are no memory rows; nil if there are.
    var heapLack: HeapLack?
    /// The methods for making profiles.
    var means: ProfileMeans
    /// The method for counting instructions.
    var instructions: ProfileMeans.Answer
    /// The method for counting the processor's events.
    var counters: ProfileMeans.Answer

    /// Reads everything, and watches the machine for the given time.
    static func read(watchSeconds: Double) -> ExaminedHost {
        let host = Host.read()
        let clock = ClockFacts.measure()
        let before = Covariates.now()
        MonotonicClock.sleep(until: before.instant + Int64(watchSeconds * 1e9))
        let watched = Interference(before: before, after: .now(), referenceLoopNanoseconds: [])
        let memory = SystemFile.text("/proc/meminfo")
        return ExaminedHost(
            host: host, layout: .here, quotaProcessors: CPUQuota.read()?.number,
            isVirtual: SystemFile.text("/proc/cpuinfo").contains(" hypervisor"),
            clockSource: SystemFile.line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock: clock, stolenShare: watched.steal.map { $0 / watched.elapsed },
            foreignShare: watched.foreign.map { $0 / watched.elapsed },
            throttledShare: watched.throttled.map { $0 / watched.elapsed },
            mayRaisePriority: mayRaisePriority, availableBytes: bytes("MemAvailable", in: memory),
            usedSwapBytes: usedSwap(in: memory), heapLack: heapLack, means: .probe(),
            instructions: ProfileMeans.ofInstructions(), counters: HardwareCounters.means())
    }

    private static var heapLack: HeapLack? {
        do {
            _ = try HeapProbe()
            return nil
        } catch {
            return error
        }
    }

    /// Tries it on a separate thread, since lowering the nice value cannot be undone.
    private static var mayRaisePriority: Bool {
        let flag = Flag()
        OwnThread { if clinux_set_own_nice(-1) == 0 { flag.set() } }.join()
        return flag.isSet
    }

    /// A line of `/proc/meminfo`.
    static func bytes(_ name: String, in text: String) -> Int? {
        SystemFile.number(name, in: text).map { $0 * 1024 }
    }

    static func usedSwap(in text: String) -> Int? {
        guard let total = bytes("SwapTotal", in: text), let free = bytes("SwapFree", in: text) else { return nil }
        return total - free
    }
}

/// Properties of the clock behind all figures, and of the timer, on this machine, in nanoseconds.
struct ClockFacts: Sendable {
    /// The cost of one reading.
    var cost: Double
    /// The smallest step between two different readings.
    var step: Double
    /// The median delay of a sleep of a millisecond.
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
