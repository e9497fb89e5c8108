import Glibc

/// The one clock of all figures: CLOCK_MONOTONIC, in nanoseconds, the same for all processes of a machine.
package enum MonotonicClock {
    @inline(__always)
    package static func now() -> Int64 { read(CLOCK_MONOTONIC) }

    /// CPU time used by the calling thread, in nanoseconds.
    @inline(__always)
    package static func threadCPU() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

    @inline(__always)
    static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The shortest time that the clock resolves, in nanoseconds: the least difference other than 0 between successive
    /// readings. clock_getres(2) returns only the unit, and a reading takes longer than that.
    package static func resolution() -> Int64 {
        var least = Int64.max
        var last = now()
        var readings = 0
        // Waits for a clock that ticks slowly.
        while readings < 10_000 || least == .max {
            let next = now()
            if next > last { least = min(least, next - last) }
            last = next
            readings += 1
        }
        return least
    }

    /// Sleeps until that instant; returns at once if it has passed.
    package static func sleep(until instant: Int64) {
        var time = timespec(tv_sec: Int(instant / 1_000_000_000), tv_nsec: Int(instant % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
