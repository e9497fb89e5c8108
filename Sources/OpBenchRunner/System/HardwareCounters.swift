import CLinuxMeasure
import Glibc
import OpBenchModel

/// An event that the processor counts.
enum HardwareEvent: CaseIterable, Sendable {
    case instructions, cycles, cacheMisses, branchMisses

    var metric: Metric {
        switch self {
        case .instructions: .hardwareInstructions
        case .cycles: .cycles
        case .cacheMisses: .cacheMisses
        case .branchMisses: .branchMisses
        }
    }

    /// The kernel's number of the event.
    fileprivate var number: UInt64 {
        let number =
            switch self {
            case .instructions: PERF_COUNT_HW_INSTRUCTIONS
            case .cycles: PERF_COUNT_HW_CPU_CYCLES
            case .cacheMisses: PERF_COUNT_HW_CACHE_MISSES
            case .branchMisses: PERF_COUNT_HW_BRANCH_MISSES
            }
        return UInt64(number.rawValue)
    }
}

/// A reading of a counter. The times, in nanoseconds, are those for which the counted threads ran, and for which the
/// processor really counted: less, if there are more counters than the processor has.
struct CounterReading: Sendable, Equatable {
    var count: UInt64 = 0
    var enabled: UInt64 = 0
    var running: UInt64 = 0
}

/// The source of counts: the kernel, or a script in tests.
protocol CounterSource: Sendable {
    /// Begins to count an event in the calling thread, and in all threads that it and they start from now on.
    func open(_ event: HardwareEvent) throws(CounterFailure) -> Int32
    /// Nil if the counter cannot be read.
    func read(_ counter: Int32) -> CounterReading?
    func close(_ counter: Int32)
}

/// The kernel's counters, perf_event_open(2). They count user space alone, on every machine, so that figures of
/// machines with other permissions are comparable, and interrupts are not counted.
struct KernelCounters: CounterSource {
    func open(_ event: HardwareEvent) throws(CounterFailure) -> Int32 {
        let counter = clinux_open_counter(PERF_TYPE_HARDWARE.rawValue, event.number)
        if counter < 0 { throw CounterFailure(code: -counter, paranoia: PerfFailure.paranoia) }
        return counter
    }

    func read(_ counter: Int32) -> CounterReading? {
        var count = clinux_count()
        guard clinux_read_counter(counter, &count) == 0 else { return nil }
        return CounterReading(count: count.value, enabled: count.enabled_ns, running: count.running_ns)
    }

    func close(_ counter: Int32) { _ = Glibc.close(counter) }
}

/// Why an event is not counted.
struct CounterFailure: Error, Hashable {
    /// An errno value.
    let code: Int32
    /// `kernel.perf_event_paranoid`; nil if the kernel has no such events.
    var paranoia: Int?

    /// The strictest setting that lets ordinary users count in user space.
    private static let mostParanoia = 2

    private var isForbiddenByKernel: Bool { (paranoia ?? 0) > Self.mostParanoia }

    var reason: String {
        switch code {
        case ENOENT, ENODEV, EOPNOTSUPP: "this machine, like most virtual machines, lacks such hardware counters"
        case ENOSYS: "the kernel has no performance events"
        case EACCES where isForbiddenByKernel, EPERM where isForbiddenByKernel:
            "kernel.perf_event_paranoid is \(paranoia ?? 0)"
        case EACCES, EPERM: "perf_event_open(2) is not permitted"
        default: "perf_event_open(2): \(String(cString: strerror(code)))"
        }
    }

    var remedy: String {
        switch code {
        case ENOENT, ENODEV, EOPNOTSUPP:
            "measure on hardware, or give the virtual machine a PMU; --metric instructions counts with valgrind instead"
        case ENOSYS: "use a kernel with CONFIG_PERF_EVENTS, or --metric instructions"
        case EACCES where isForbiddenByKernel, EPERM where isForbiddenByKernel:
            "sudo sysctl kernel.perf_event_paranoid=\(Self.mostParanoia), or run as root"
        case EACCES, EPERM: "allow it in the container: --cap-add PERFMON, or --security-opt seccomp=unconfined"
        default: "make `perf stat -e instructions:u true` work"
        }
    }
}

/// The open counters of this process.
struct HardwareCounters: Sendable {
    let source: any CounterSource
    /// In the order of `HardwareEvent.allCases`.
    let counters: [Int32?]
    let failures: [HardwareEvent: CounterFailure]

    /// Opens a counter for each event.
    init(from source: any CounterSource) {
        var (counters, failures): ([Int32?], [HardwareEvent: CounterFailure]) = ([], [:])
        for event in HardwareEvent.allCases {
            do throws(CounterFailure) {
                counters.append(try source.open(event))
            } catch {
                counters.append(nil)
                failures[event] = error
            }
        }
        (self.source, self.counters, self.failures) = (source, counters, failures)
    }

    /// The readings in the order of `HardwareEvent.allCases`.
    func read() -> [CounterReading?] { counters.map { $0.flatMap(source.read) } }
}
