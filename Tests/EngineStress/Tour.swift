import EngineStressScenarios
import Glibc
import TestSupport

/// Plays the scenarios in turns until the time is over, and keeps the books.
final class Tour: Sendable {
    private struct Book {
        var rounds = 0
        var operations = 0
        var time = Duration.zero
    }

    private struct State {
        var books: [String: Book] = [:]
        var lastSeed: UInt64
    }

    private let options: Options
    private let firstSeed: UInt64
    private let began = ContinuousClock.now
    private let state: Guarded<State>
    /// A scenario's turn where the time is given, and not the number of rounds.
    private static let turnLength = Duration.seconds(10)

    init(_ options: Options) {
        self.options = options
        firstSeed = options.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
        state = Guarded(State(lastSeed: firstSeed))
    }

    private var deadline: ContinuousClock.Instant? { options.minutes.map { began + .seconds($0 * 60) } }
    private var isOver: Bool { deadline.map { $0 < .now } ?? false }

    /// True if no round was violated.
    func play() -> Bool {
        say("seeds from \(firstSeed)\(options.keepsSeed ? ", always the same" : "")")
        var seed = firstSeed
        repeat {
            for scenario in options.scenarios where !isOver {
                guard turn(of: scenario, &seed) else { return false }
            }
        } while deadline != nil && !isOver
        return true
    }

    private func turn(of scenario: Scenario, _ seed: inout UInt64) -> Bool {
        let size = options.size ?? scenario.size
        let turnBegan = ContinuousClock.now
        var operations = 0
        var rounds = 0
        let isTimed = deadline != nil
        let extent = isTimed ? "rounds of" : "\(scenario.roundsPerTurn) ×"
        say("\(scenario.name): \(extent) \(size) \(scenario.unit), seeds from \(seed)")
        while isTimed ? turnBegan.duration(to: .now) < Self.turnLength && !isOver : rounds < scenario.roundsPerTurn {
            let roundBegan = ContinuousClock.now
            let outcome = scenario.play(seed: seed, size: size)
            enter(outcome, of: scenario, seed: seed, took: roundBegan.duration(to: .now))
            for note in outcome.notes { say("\(scenario.name): \(note)") }
            guard outcome.violations.isEmpty else {
                say("\(scenario.name) VIOLATED")
                for violation in outcome.violations { say("  \(violation)") }
                say(Replay.advice(scenario: scenario.name, seed: seed, size: size))
                return false
            }
            rounds += 1
            operations += outcome.operations
            if !options.keepsSeed { seed &+= 1 }
        }
        say("\(scenario.name): \(rounds) rounds, \(operations) operations, \(seconds(turnBegan.duration(to: .now))) s")
        return true
    }

    private func enter(_ outcome: Scenario.Outcome, of scenario: Scenario, seed: UInt64, took: Duration) {
        state.withLock { state in
            var book = state.books[scenario.name] ?? Book()
            book.rounds += 1
            book.operations += outcome.operations
            book.time += took
            state.books[scenario.name] = book
            state.lastSeed = seed
        }
    }

    /// Also called from the thread that waits for Ctrl-C.
    func printSummary() {
        let state = state.read()
        say("summary: \(seconds(began.duration(to: .now))) s, seeds \(firstSeed)…\(state.lastSeed)")
        for (name, book) in state.books.sorted(by: { $0.key < $1.key }) {
            say("  \(name): \(book.rounds) rounds, \(book.operations) operations, \(seconds(book.time)) s")
        }
        say(
            "  all: \(state.books.values.reduce(0) { $0 + $1.rounds }) rounds, "
                + "\(state.books.values.reduce(0) { $0 + $1.operations }) operations")
    }

    /// Prints the cost of the engine's threads when there is nothing to do.
    func printIdleCost() {
        let (before, looked) = (Self.processorTime, ContinuousClock.now)
        usleep(1_000_000)
        let used = Self.processorTime - before
        say("idle: \(used / .microseconds(1)) µs of processor time in \(seconds(looked.duration(to: .now))) s")
    }

    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func seconds(_ duration: Duration) -> String {
        let tenths = (duration.components.seconds * 10) + duration.components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
