import CLinux
import Glibc

/// One of the nine nice values that worker threads run at (contract H6).
///
/// Nice is per thread on Linux, and without privileges a thread that lowered itself cannot come back. So each band has
/// workers of its own, which set their nice value once, when they are born, and never again.
struct NiceBand: Equatable {
    /// 0 is the lowest priority (nice 19), 4 the normal one (nice 0), 8 the highest (nice −20).
    var index: Int { Int(storedIndex) }
    /// A byte: every operation has a band in its `place`.
    private let storedIndex: UInt8

    static let count = 9
    static let normal = NiceBand(index: 4)
    static let normalPriority = 0.5
    private static let niceValues = [19, 14, 10, 5, 0, -5, -10, -15, -20]

    init(index: Int) { storedIndex = UInt8(truncatingIfNeeded: index) }

    /// The band whose nice value is nearest to 38·(0.5 − p), or 40·(0.5 − p) above the middle.
    init(threadPriority: Double) {
        let distance = Self.normalPriority - threadPriority
        self.init(nice: Int((distance * (distance > 0 ? 38 : 40)).rounded(.toNearestOrAwayFromZero)))
    }

    /// The band whose nice value is nearest.
    init(nice: Int) {
        let nearest = Self.niceValues.indices.min { abs(Self.niceValues[$0] - nice) < abs(Self.niceValues[$1] - nice) }
        self.init(index: nearest!)
    }

    var nice: Int32 { Int32(Self.niceValues[index]) }
    /// The thread priority in the middle of the band.
    var threadPriority: Double { Double(index) / 8 }

    /// The band itself, or the normal one if it is above that and this process may not raise priorities.
    var permitted: NiceBand { nice < 0 && !Self.mayRaise[index] ? .normal : self }

    /// Which bands a thread of this process can take. Tried once on a thread of its own, since what counts
    /// (CAP_SYS_NICE, RLIMIT_NICE, security modules) is best asked of the kernel.
    private static let mayRaise: [Bool] = {
        let result = UnsafeMutablePointer<Bool>.allocate(capacity: count)
        result.initialize(repeating: true, count: count)
        defer { result.deallocate() }
        var thread = pthread_t()
        let isCreated = pthread_create(
            &thread, nil,
            { argument in
                let result = argument!.assumingMemoryBound(to: Bool.self)
                for index in NiceBand.normal.index + 1..<NiceBand.count {
                    result[index] = clinux_set_own_nice(NiceBand(index: index).nice) == 0
                }
                return nil
            }, result)
        if isCreated == 0 { pthread_join(thread, nil) }
        return (0..<count).map { isCreated == 0 ? result[$0] : $0 <= normal.index }
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
