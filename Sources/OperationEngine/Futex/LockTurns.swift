import CLinux

/// How long a thread that takes a lock again and again stands aside when it finds it taken by another one.
///
/// Two threads with little to do between one locking and the next are slower together than one alone: whatever the lock
/// guards goes to the other processor's cache at each turn, which takes longer than the work. So who finds the lock taken
/// leaves it to the other one for a while, without looking; when it comes back the other one does likewise. With more to
/// do they seldom meet, and a moment is enough. Which it is, the time of the turns since the last meeting tells.
///
/// Belongs to one thread.
struct LockTurns {
    /// Since the last meeting.
    private var count = 0
    private var lastMeeting: Int64 = 0

    /// Nanoseconds a turn up to which one thread alone is faster, on the machines that this was measured on.
    private static let shortTurn: Int64 = 450
    /// Some ten short turns.
    private static let whileNanoseconds: Int64 = 2500
    private static let momentNanoseconds: Int64 = 300
    /// How often a thread stands aside before it waits for the lock like any other.
    static let patience = 8

    @inline(__always)
    mutating func begin() { count &+= 1 }

    /// The lock is taken. For how long to stand aside, in nanoseconds.
    mutating func meet() -> Int64 {
        let now = Deadline.now()
        let isShort = now - lastMeeting < Int64(count) * Self.shortTurn
        return isShort ? Self.whileNanoseconds : Self.momentNanoseconds
    }

    /// The lock was got after all.
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
