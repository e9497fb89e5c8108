/// The traces of a round's operations: a slot each, and time stamps if the sample takes them. A view: its creator frees
/// the memory.
public struct RoundTraces {
    /// The kinds of stamp; each has a row of `operationCount` numbers. Samples of thread priorities have two more rows
    /// than the common ones. Traced samples take no figures of thread priorities and have four rows instead.
    public enum Stamp: Sendable {
        case submit, submitted, start, end, notified, cpu, nice
        /// The thread's number, from 1; see `ThreadRegister`.
        case worker, submitter
        /// The time that the operation's thread had no processor in its body, and the part of it in the run queue, in
        /// nanoseconds.
        case offProcessor, processorWait

        public static let common = 5
        public static let withThreads = 7
        public static let traced = 9

        /// The index of its row. A switch, because a raw value would be a call into another module.
        @inlinable public var row: Int {
            switch self {
            case .submit: 0
            case .submitted: 1
            case .start: 2
            case .end: 3
            case .notified: 4
            case .cpu, .worker: 5
            case .nice, .submitter: 6
            case .offProcessor: 7
            case .processorWait: 8
            }
        }
    }

    @usableFromInline let slots: UnsafePointer<UInt32>
    @usableFromInline let stamps: UnsafePointer<Int64>
    @usableFromInline let operationCount: Int
    /// Whether there are stamps.
    public let hasStamps: Bool

    public init(
        slots: UnsafePointer<UInt32>, stamps: UnsafePointer<Int64>, operationCount: Int, hasStamps: Bool
    ) {
        self.slots = slots
        self.stamps = stamps
        self.operationCount = operationCount
        self.hasStamps = hasStamps
    }

    @inlinable
    @inline(__always)
    public func slot(_ operation: Int) -> UInt32 { slots[operation] }

    /// A stamp of an operation; 0 if it was not taken. Requires `hasStamps`.
    @inlinable
    @inline(__always)
    public func read(_ kind: Stamp, _ operation: Int) -> Int64 {
        assert(hasStamps)
        return stamps[kind.row * operationCount + operation]
    }

    // MARK: Marks beside the count of runs

    /// Added to an operation's slot at its end if it was cancelled.
    @inlinable public static var cancelledMark: UInt32 { 1 << 16 }
    /// Added to an operation's slot by a notification.
    @inlinable public static var noticeMark: UInt32 { 1 << 16 }
    /// Added to an operation's slot by a barrier that ended while the operation ran.
    @inlinable public static var besideBarrier: UInt32 { 1 << 31 }
}
