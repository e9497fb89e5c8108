import Glibc

/// A failing schedule.
public struct Finding: Sendable {
    public let replay: Replay
    public let failure: String
}

/// The result of a search.
public struct SearchResult: Sendable {
    public var schedules = 0
    public var longestSchedule = 0
    /// Whether every schedule within the bound was run. False if one failed, the time ran out or a log was too short.
    public var isExhausted = false
    public var finding: Finding?
    /// A digest of all that ran: the same whenever the same search is repeated.
    public var trace: UInt64 = 0

    mutating func count(_ run: ScheduleResult) {
        schedules += 1
        longestSchedule = max(longestSchedule, run.steps)
        trace = (trace ^ run.trace) &* 0x100_0000_01B3
    }
}

/// How long a search may go on.
public struct SearchLimit: Sendable {
    let schedules: Int
    private let end: Int64

    public init(schedules: Int = .max, seconds: Double = .infinity) {
        self.schedules = schedules
        end = seconds == .infinity ? .max : Self.now() + Int64(seconds * 1e9)
    }

    func isReached(after schedules: Int) -> Bool { schedules >= self.schedules || Self.now() >= end }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension ScheduleRunner {
    /// Runs every schedule with at most `bound` departures, fewer departures first.
    ///
    /// Departures are made where threads contend: at words and locks that several threads use and one writes, and
    /// wherever a thread blocks. Which words these are is learned on the way; when a new one is found, the search
    /// is repeated with it, until none is.
    public func search(bound: Int, limit: SearchLimit) -> SearchResult {
        var result = SearchResult()
        report.forgetContended()
        // The cheap levels first: they find nearly all of the contended words.
        for level in 0...bound {
            var isComplete = false
            while !isComplete {
                isComplete = true
                guard searchOnce(bound: level, limit: limit, &result, &isComplete) else { return result }
            }
        }
        result.isExhausted = true
        return result
    }

    /// False if the search is over: something failed, or a limit is reached.
    private func searchOnce(
        bound: Int, limit: SearchLimit, _ result: inout SearchResult, _ isComplete: inout Bool
    ) -> Bool {
        // A schedule to run is its parent in this list and one more departure.
        var nodes: [(parent: Int32, departure: Departure)] = []
        var next = -1
        var depths: [UInt8] = []
        while next < nodes.count {
            if limit.isReached(after: result.schedules) { return false }
            var departures: [Departure] = []
            var node = next
            while node >= 0 {
                departures.append(nodes[node].departure)
                node = Int(nodes[node].parent)
            }
            departures.reverse()
            let run = run(.departing(departures))
            result.count(run)
            if let failure = run.failure {
                result.finding = Finding(
                    replay: Replay(scenario: scenario.name, departures: departures), failure: failure)
                return false
            }
            if report.header.pointee.isLogFull { return false }
            if report.header.pointee.hasFoundContended { isComplete = false }
            let depth = next < 0 ? 0 : Int(depths[next])
            if depth < bound {
                for choice in report.choices {
                    for thread in ThreadSet(bits: choice.others) {
                        nodes.append((Int32(next), Departure(step: choice.step, kind: .run, thread: thread)))
                    }
                    for thread in ThreadSet(bits: choice.sleepers) {
                        nodes.append((Int32(next), Departure(step: choice.step, kind: .expire, thread: thread)))
                    }
                    if choice.mayWakeSpuriously {
                        nodes.append((Int32(next), Departure(step: choice.step, kind: .wakeSpuriously, thread: 0)))
                    }
                }
                depths.append(contentsOf: repeatElement(UInt8(depth + 1), count: nodes.count - depths.count))
            }
            next += 1
        }
        return true
    }

    /// Runs random schedules, one per seed: every other a random walk, every other by random priorities.
    public func searchAtRandom(seeds: PartialRangeFrom<UInt64>, limit: SearchLimit) -> SearchResult {
        var result = SearchResult()
        var usualSteps = 500
        for seed in seeds {
            if limit.isReached(after: result.schedules) { break }
            let strategy: Strategy =
                switch seed % 4 {
                case 0: .randomWalk(seed: seed, chance: 20)
                case 2: .randomWalk(seed: seed, chance: 150)
                default: .priorities(seed: seed, changes: Int(seed / 4 % 4) + 1, steps: usualSteps)
                }
            let run = run(strategy)
            result.count(run)
            if let failure = run.failure {
                result.finding = shrink(
                    Finding(replay: Replay(scenario: scenario.name, departures: run.departures), failure: failure))
                break
            }
            usualSteps = max(50, run.steps)
        }
        return result
    }

    /// Leaves out departures that the failure does not need.
    private func shrink(_ finding: Finding) -> Finding {
        var best = finding
        var chunk = max(1, best.replay.departures.count / 2)
        var triesLeft = 400
        while triesLeft > 0 {
            var start = 0
            var hasShrunk = false
            while start < best.replay.departures.count, triesLeft > 0 {
                var fewer = best.replay.departures
                fewer.removeSubrange(start..<min(start + chunk, fewer.count))
                let run = run(.departing(fewer))
                triesLeft -= 1
                if let failure = run.failure {
                    best = Finding(
                        replay: Replay(scenario: scenario.name, departures: run.departures), failure: failure)
                    hasShrunk = true
                } else {
                    start += chunk
                }
            }
            if chunk == 1, !hasShrunk { break }
            chunk = max(1, chunk / 2)
        }
        return best
    }
}
