import Foundation

/// A clock that goes slower, the more the machine has to do: by it a hang takes as long on a busy machine as on an idle
/// one, counted in what the waited-for could do meanwhile.
///
/// Each look at it adds the time since the one before, divided by how many threads of the whole machine want a core on
/// the average. Time in which nobody looked counts little: waiters look every second, so that then they
/// themselves had no core. Safe to use from any thread.
enum PatientClock {
    private struct State {
        var lastLook = ContinuousClock.now
        var now = Duration.zero
    }

    private static let state = Guarded(State())
    private static let mostBetweenLooks = Duration.seconds(2)

    /// Since the first look.
    static func now() -> Duration {
        let slowdown = slowdown()
        return state.withLock { state in
            let elapsed = state.lastLook.duration(to: .now)
            state.lastLook += elapsed
            state.now += min(elapsed, mostBetweenLooks) / slowdown
            return state.now
        }
    }

    /// How many threads share a core, by what the kernel says of this moment and of the last minute; at least 1.
    static func slowdown() -> Double {
        let fields = ((try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? "").split(separator: " ")
        guard fields.count > 3, let load = Double(fields[0]), let running = Double(fields[3].prefix { $0 != "/" })
        else { return 1 }
        return max(1, max(load, running) / Double(ThreadFacts.cores))
    }
}

/// How long something is waited for, on the patient clock.
public struct Patience: Sendable {
    private var begun = PatientClock.now()

    public init() {}

    /// Whether it has taken longer than that, were the machine idle. To be asked every second or so.
    public func isOver(after limit: Duration = HangLimit.patience) -> Bool { PatientClock.now() - begun > limit }

    /// Begins again: there was progress.
    public mutating func renew() { begun = PatientClock.now() }
}
