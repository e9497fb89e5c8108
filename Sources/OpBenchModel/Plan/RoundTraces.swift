/// What the operations of a round left behind: a slot each, and time stamps where the sample takes them. A view: whoever
/// made the traces frees them.
public struct RoundTraces {
    /// The kinds of stamp; each has a row of `operationCount` numbers. Thread priorities have two rows more than the common
    /// ones; traced samples, which take no figures of thread priorities, have three in their place.
    public enum Stamp: Sendable {
        case submit, submitted, start, end, notified, cpu, nice
        /// The number of the thread, counted from 1; see `ThreadRegister`.
        case worker, submitter
        /// For how long the operation's thread had no processor in its body, in nanoseconds.
        case processorWait

        public static let common = 5
        public static let withThreads = 7
        public static let traced = 8

        /// The place of its row. A switch, since a raw value would be a call in another module's code.
        @inlinable public var row: Int {
            switch self {
            case .submit: 0
            case .submitted: 1
            case .start: 2
            case .end: 3
            case .notified: 4
            case .cpu, .worker: 5
            case .nice, .submitter: 6
            case .processorWait: 7
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

    /// A stamp of an operation; 0 if it was not taken. Only where there are stamps.
    @inlinable
    @inline(__always)
    public func read(_ kind: Stamp, _ operation: Int) -> Int64 { stamps[kind.row * operationCount + operation] }

    // MARK: Marks beside the count of runs

    /// What the end of a cancelled operation adds to its slot.
    @inlinable public static var cancelledMark: UInt32 { 1 << 16 }
    /// What a notice of an operation adds to its slot.
    @inlinable public static var noticeMark: UInt32 { 1 << 16 }
    /// What it adds to an operation's slot that a barrier ended while it ran.
    @inlinable public static var besideBarrier: UInt32 { 1 << 31 }
}
