/// How one schedule is chosen.
public enum Strategy: Sendable {
    /// The default schedule but for these departures, in the order of their steps.
    case departing([Departure])
    /// At each instant another thread runs with a probability of `chance` in 1024; one of ten such departures is a
    /// timed wait that runs out or a futex wait that returns for no reason.
    case randomWalk(seed: UInt64, chance: Int)
    /// Threads have random priorities, and the one that runs falls below all others at a few random steps
    /// (probabilistic concurrency testing, Burckhardt and others, 2010).
    case priorities(seed: UInt64, changes: Int, steps: Int)
}

/// A small generator of its own, so that a seed means the same everywhere (splitmix64).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// An instant at which a strategy is asked.
struct Instant {
    var step: Int
    /// The thread that comes to this instant.
    var running: Int
    /// The thread that runs by default.
    var preferred: Int
    /// All threads that could run, `preferred` included.
    var able: ThreadSet
    /// The threads whose timed wait could run out.
    var sleepers = ThreadSet()
    /// Whether `running` is about to sleep in a futex wait, which may return for no reason.
    var mayWakeSpuriously = false
}

/// A strategy's decision at one instant: nil for the default.
typealias Verdict = (kind: Departure.Kind, thread: Int)

/// A strategy at work. Belongs to the running thread.
struct Chooser {
    private var departures: ArraySlice<Departure> = []
    private var random = SplitMix(seed: 0)
    private var chance = 0
    private var priorities: [Int] = []
    private var changeSteps: Set<Int> = []
    private var lowest = 0
    private let hasPriorities: Bool
    /// The last step that a departure was given for: only choices after it are new.
    let lastGivenStep: Int

    init(_ strategy: Strategy) {
        switch strategy {
        case .departing(let given):
            departures = given[...]
            hasPriorities = false
            lastGivenStep = given.last?.step ?? 0
        case .randomWalk(let seed, let chance):
            random = SplitMix(seed: seed)
            self.chance = chance
            hasPriorities = false
            lastGivenStep = .max
        case .priorities(let seed, let changes, let steps):
            random = SplitMix(seed: seed)
            for _ in 0..<changes { changeSteps.insert(Int.random(in: 1...max(1, steps), using: &random)) }
            hasPriorities = true
            lastGivenStep = .max
        }
    }

    mutating func noteNewThread() {
        priorities.append(hasPriorities ? Int.random(in: 1...1_000_000, using: &random) : 0)
    }

    /// The thread spins: the others come first.
    mutating func noteSpinning(_ thread: Int) {
        if hasPriorities { sink(thread) }
    }

    private mutating func sink(_ thread: Int) {
        lowest -= 1
        priorities[thread] = lowest
    }

    mutating func choose(_ instant: Instant) -> Verdict? {
        if let next = departures.first {
            guard next.step <= instant.step else { return nil }
            departures.removeFirst()
            return next.step == instant.step ? (next.kind, next.thread) : nil
        }
        if chance > 0 { return walk(instant) }
        guard hasPriorities else { return nil }
        if changeSteps.contains(instant.step) { sink(instant.running) }
        let best = instant.able.max { priorities[$0] < priorities[$1] } ?? instant.preferred
        return best == instant.preferred ? nil : (.run, best)
    }

    private mutating func walk(_ instant: Instant) -> Verdict? {
        guard Int.random(in: 0..<1024, using: &random) < chance else { return nil }
        if Int.random(in: 0..<10, using: &random) == 0 {
            if instant.mayWakeSpuriously { return (.wakeSpuriously, instant.running) }
            if !instant.sleepers.isEmpty {
                return (.expire, instant.sleepers.element(at: .random(in: 0..<instant.sleepers.count, using: &random)))
            }
        }
        let other = instant.able.element(at: .random(in: 0..<instant.able.count, using: &random))
        return other == instant.preferred ? nil : (.run, other)
    }
}
