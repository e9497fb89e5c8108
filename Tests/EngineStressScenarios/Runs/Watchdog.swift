import Glibc
import TestSupport

/// Looks whether rounds get on. If one does not for long, prints what its scenario knows of it, and aborts.
enum Watchdog {
    private struct Watched {
        let run: StressRun
        var progress: Int
        var since: Patience
    }

    private static let rounds = Guarded<[Watched]>([])
    private static let lookInterval = Duration.seconds(1)

    /// How long a round may stand still, on the patient clock. `OPBENCH_TEST=patience=60` gives it in seconds.
    static let patience: Duration = {
        return .seconds(TestRun.number("patience") ?? (Scale.isSanitized ? 180 : 45))
    }()

    private static let thread = OwnThread {
        while true {
            // A sleep that nothing ends early.
            _ = rounds.wait(within: lookInterval) { _ in false }
            look()
        }
    }

    static func watch(_ run: StressRun, _ body: () -> Void) {
        _ = thread
        rounds.withLock { $0.append(Watched(run: run, progress: -1, since: Patience())) }
        body()
        rounds.withLock { $0.removeAll { $0.run === run } }
    }

    private static func look() {
        let hanging = rounds.withLock { rounds -> StressRun? in
            for index in rounds.indices {
                let progress = rounds[index].run.progressSoFar
                if progress != rounds[index].progress {
                    rounds[index].progress = progress
                    rounds[index].since.renew()
                } else if rounds[index].since.isOver(after: patience) {
                    return rounds[index].run
                }
            }
            return nil
        }
        guard let hanging else { return }
        let violations = hanging.violations.map { "violated: \($0)\n" }.joined()
        say(
            """
            \(hanging.scenario) hangs: nothing has happened for \(patience)
            \(violations)\(Replay.advice(scenario: hanging.scenario, seed: hanging.seed, size: hanging.size))
            """)
        // Ends the process if even the look at the engine's objects does not come back.
        alarm(20)
        say(hanging.stateOfAffairs)
        abort()
    }

    private static func say(_ text: String) {
        _ = (text + "\n").utf8CString.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count - 1) }
    }
}

/// How to play a round again.
public enum Replay {
    public static func advice(scenario: String, seed: UInt64, size: Int) -> String {
        """
        seed \(seed). It makes the same plan each time, but threads meet differently; replay it until it fails again:
            scripts/stress --scenario \(scenario) --seed \(seed) --size \(size) --same-seed --minutes 1
        """
    }
}
