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
    /// The programs that used most of it.
    var busiest: [BusyProcess] = []
    var throttledShare: Double?
    var load: Double?
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
        let processes = BusyProcess.readings()
        let before = Covariates.now()
        MonotonicClock.sleep(until: before.instant + Int64(watchSeconds * 1e9))
        let watched = Interference(before: before, after: .now(), referenceLoopNanoseconds: [])
        let busiest = BusyProcess.busiest(
            from: processes, to: BusyProcess.readings(), seconds: watched.elapsed / 1e9)
        let memory = SystemFile.text("/proc/meminfo")
        return ExaminedHost(
            host: host, layout: .here, quotaProcessors: CPUQuota.read()?.number,
            isVirtual: SystemFile.text("/proc/cpuinfo").contains(" hypervisor"),
            clockSource: SystemFile.line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock: clock, stolenShare: watched.steal.map { $0 / watched.elapsed },
            foreignShare: watched.foreign.map { $0 / watched.elapsed }, busiest: busiest,
            throttledShare: watched.throttled.map { $0 / watched.elapsed }, load: before.load,
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
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
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

/// A program that uses processors, other than this one and its children.
struct BusyProcess: Sendable, Equatable {
    let name: String
    /// The share of one processor's time, summed over all processes with the name.
    var share: Double

    /// The CPU time of a process so far.
    struct Reading {
        let name: String
        let seconds: Double
    }

    /// The readings of all accessible processes, by their ids.
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
    ///   - text: the contents of `/proc/PID/stat`, see proc(5). A program's name may have spaces and parentheses.
    ///   - parent: the process whose children are left out.
    static func reading(inStat text: String, besides parent: Int32) -> Reading? {
        guard let opening = text.firstIndex(of: "("), let closing = text.lastIndex(of: ")"), opening < closing else {
            return nil
        }
        let words = text[text.index(after: closing)...].split(separator: " ")
        // Words begin with the state, the third field.
        guard words.count > 12, Int32(words[1]) != parent, let user = Double(words[11]), let system = Double(words[12])
        else { return nil }
        return Reading(
            name: String(text[text.index(after: opening)..<closing]),
            seconds: (user + system) / Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// The programs that used the most between two readings, at most three, in descending order. Processes that ended
    /// in between are missing. A process whose id had more time before is a new process. Names may change: kernel
    /// threads are named after their current work.
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
