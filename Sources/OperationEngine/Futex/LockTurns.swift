import CLinux

/// The backoff of a thread that takes the same lock again and again, for when another thread holds it.
///
/// Two threads that do little between two lock operations are slower together than one of them alone. The data that the
/// lock guards moves to the other processor's cache each time, which takes longer than the work. So a thread that finds
/// the lock held leaves it to the other one for a while, without reading it. When it comes back, the other thread does
/// the same. Threads that do more work seldom meet, and a short backoff is enough. What decides is the length of a
/// *turn*: the average time from one lock operation to the next, since the last meeting.
///
/// Belongs to one thread.
struct LockTurns {
    /// How many times the thread has taken the lock since the last meeting.
    private var count = 0
    private var lastMeeting: Int64 = 0

    /// Up to this length of a turn one thread alone is faster, on the machines on which this was measured.
    private static let shortTurn: Int64 = 450
    /// Several times as long as a short turn.
    private static let whileNanoseconds: Int64 = 2500
    private static let momentNanoseconds: Int64 = 300
    /// How many times a thread backs off before it waits for the lock like any other.
    static let patience = 8

    @inline(__always)
    mutating func begin() { count &+= 1 }

    /// Another thread holds the lock. Returns for how long to back off, in nanoseconds.
    mutating func meet() -> Int64 {
        let now = Deadline.now()
        let isShort = now - lastMeeting < Int64(count) * Self.shortTurn
        return isShort ? Self.whileNanoseconds : Self.momentNanoseconds
    }

    /// The thread has taken the lock after a meeting.
    mutating func part() {
        lastMeeting = Deadline.now()
        count = 0
    }

    static func standAside(for nanoseconds: Int64) {
        let end = Deadline.now() + nanoseconds
        while Deadline.now() < end {
            for _ in 0..<8 { clinux_spin_hint() }
        }
    }
}
