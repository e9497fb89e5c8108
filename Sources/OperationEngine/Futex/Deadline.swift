import CLinux

/// A point in time on the monotonic clock by which a wait gives up.
package struct Deadline {
    /// Nanoseconds of CLOCK_MONOTONIC; nil is never.
    private let instant: Int64?

    static let never = Deadline(instant: nil)

    /// A negative duration gives a deadline that has passed. A duration too long to add up gives `never`.
    init(after duration: Duration) {
        let (sum, isTooLate) = Self.now().addingReportingOverflow(max(0, duration.wholeNanoseconds))
        instant = isTooLate ? nil : sum
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

extension Duration {
    /// The nanoseconds; of a longer duration, as many as an `Int64` holds.
    var wholeNanoseconds: Int64 {
        // Compared first: `components` traps if the seconds exceed an `Int64`.
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
