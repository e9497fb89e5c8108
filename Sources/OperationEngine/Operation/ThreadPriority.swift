import CLinux

/// One of the nine steps of nice values that worker threads run at. The steps are relative to the main thread's nice
/// value, so a process that was started with nice(1) stays nice (contract H6).
///
/// Nice values are per thread on Linux. Without privileges a thread that has lowered its priority cannot raise it
/// again. So each band has workers of its own, which set their nice value once, when they start.
struct NiceBand: Equatable {
    /// 0 is the lowest priority (19 above the main thread's nice value), 4 the normal one, 8 the highest (20 below).
    var index: Int { Int(storedIndex) }
    /// A byte: every operation has a band in its `place`.
    private let storedIndex: UInt8

    static let count = 9
    static let normal = NiceBand(index: 4)
    static let normalPriority = 0.5
    private static let steps = [19, 14, 10, 5, 0, -5, -10, -15, -20]
    /// The nice value of the main thread when the engine was first used, getpriority(2).
    static let base = clinux_thread_nice(clinux_getpid())

    init(index: Int) { storedIndex = UInt8(truncatingIfNeeded: index) }

    /// The band whose nice value is nearest to 38·(0.5 − p), or 40·(0.5 − p) above the middle.
    init(threadPriority: Double) {
        let distance = Self.normalPriority - threadPriority
        self.init(nice: Int((distance * (distance > 0 ? 38 : 40)).rounded(.toNearestOrAwayFromZero)))
    }

    /// The band whose step is nearest.
    init(nice: Int) {
        let nearest = Self.steps.indices.min { abs(Self.steps[$0] - nice) < abs(Self.steps[$1] - nice) }
        self.init(index: nearest!)
    }

    /// The nice value of its workers.
    var nice: Int32 { min(max(Self.base + Int32(Self.steps[index]), -20), 19) }
    /// For the names of threads, of six letters at most. No global: see `WorkerPool.prepareForThreads`.
    private var name: StaticString {
        switch index {
        case 0: "idle"
        case 1: "lowest"
        case 2: "lower"
        case 3: "low"
        case 4: "normal"
        case 5: "high"
        case 6: "higher"
        case 7: "urgent"
        default: "top"
        }
    }

    /// Names the calling thread as a worker: "engine normal 1".
    func nameOwnThread(_ number: Int) {
        name.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) { clinux_set_own_worker_name($0.baseAddress, Int32(number)) }
        }
    }

    /// The thread priority in the middle of the band.
    var threadPriority: Double { Double(index) / 8 }

    /// The band that a thread really gets if it asks for this one. If this process may not raise priorities, that is
    /// the normal band. Several bands may have the same nice value, because there is none below −20 or above 19; then
    /// it is the one nearest to the normal band.
    var permitted: NiceBand {
        if self == .normal || index > Self.normal.index && !Self.mayRaise[index] { return .normal }
        let nice = nice
        var band = self
        while band != .normal {
            let nearer = NiceBand(index: band.index + (band.index < Self.normal.index ? 1 : -1))
            if nearer.nice != nice { break }
            band = nearer
        }
        return band
    }

    /// Which bands a thread of this process can take. Tried once on a thread of its own, because only the kernel knows
    /// what decides (CAP_SYS_NICE, RLIMIT_NICE, security modules).
    private static let mayRaise: [Bool] = {
        let result = UnsafeMutablePointer<Bool>.allocate(capacity: count)
        result.initialize(repeating: true, count: count)
        defer { result.deallocate() }
        var thread = clinux_thread()
        let failure = clinux_start_thread(
            &thread,
            { argument in
                let result = argument!.assumingMemoryBound(to: Bool.self)
                // As a worker does, whatever nice value the asking thread has.
                _ = clinux_set_own_nice(NiceBand.base)
                for index in NiceBand.normal.index + 1..<NiceBand.count {
                    result[index] = clinux_set_own_nice(NiceBand(index: index).nice) == 0
                }
                return nil
            }, result)
        if failure == 0 { clinux_join_thread(thread) }
        return (0..<count).map { failure == 0 ? result[$0] : $0 <= normal.index }
    }()
}

/// A set of bands in one word.
struct BandSet: Equatable, Sequence {
    private(set) var bits: UInt32 = 0

    init() {}
    init(_ band: NiceBand) { insert(band) }
    init(bits: UInt32) { self.bits = bits }

    var isEmpty: Bool { bits == 0 }
    func contains(_ band: NiceBand) -> Bool { bits & 1 << UInt32(band.index) != 0 }
    @inline(__always)
    mutating func insert(_ band: NiceBand) { bits |= 1 << UInt32(band.index) }
    mutating func remove(_ band: NiceBand) { bits &= ~(1 << UInt32(band.index)) }

    func makeIterator() -> Iterator { Iterator(rest: bits) }

    struct Iterator: IteratorProtocol {
        fileprivate var rest: UInt32

        mutating func next() -> NiceBand? {
            guard rest != 0 else { return nil }
            defer { rest &= rest - 1 }
            return NiceBand(index: rest.trailingZeroBitCount)
        }
    }
}

/// The kind of work that an operation or a queue does. It affects threads only, never the order in which a queue
/// chooses operations (contract N14).
public enum QualityOfService: Int, Sendable {
    /// Work that a user watches, such as an animation.
    case userInteractive = 33
    /// Work that a user waits for.
    case userInitiated = 25
    /// Long work whose progress a user may follow.
    case utility = 17
    /// Work that no user sees.
    case background = 9
    /// Unspecified.
    case `default` = -1

    /// The band for this quality of service. Never one that needs a privilege.
    var band: NiceBand {
        switch self {
        case .background: NiceBand(nice: 10).permitted
        case .utility: NiceBand(nice: 5).permitted
        case .userInteractive, .userInitiated, .default: .normal
        }
    }
}
