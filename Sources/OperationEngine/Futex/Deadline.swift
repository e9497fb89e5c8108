import CLinux

/// A point in time on the monotonic clock by which a wait gives up.
package struct Deadline {
    /// Nanoseconds of CLOCK_MONOTONIC; nil is never.
    private let instant: Int64?

    static let never = Deadline(instant: nil)

    /// A negative duration gives a deadline that has passed. A duration too long to add up gives `never`.
    init(after duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (nanoseconds, tooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, tooLate) = Self.now().addingReportingOverflow(nanoseconds)
        if overflow || tooLong || tooLate {
            instant = seconds < 0 ? 0 : nil
        } else {
            // The clock starts at 0. An earlier instant has passed as well, and 0 can be subtracted from without
            // overflow.
            instant = max(0, sum)
        }
    }

    private init(instant: Int64?) { self.instant = instant }

    var isNever: Bool { instant == nil }

    /// For `Futex.wait`: −1 without a deadline, 0 when it has passed.
    var remainingNanoseconds: Int64 {
        guard let instant else { return -1 }
        return max(0, instant - Self.now())
    }

    /// Nanoseconds of CLOCK_MONOTONIC.
    package static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
