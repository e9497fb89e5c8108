import Glibc

/// The program around the scenarios: `list`, `search`, `random`, `replay`.
public struct ExplorerCommand {
    private let scenarios: [Scenario]

    public init(scenarios: [Scenario]) {
        self.scenarios = scenarios
    }

    private static let usage = """
        usage: scripts/explore                                 as search --long
               scripts/explore list                            every scenario with its property
               scripts/explore search [NAME ...] [--departures N] [--long] [--seconds S]
                                                               every schedule within the bound
               scripts/explore random [NAME ...] [--schedules N] [--seconds S] [--seed FIRST]
                                                               random schedules, one per seed
               scripts/explore soak --minutes N [NAME ...]     rounds of random schedules with fresh seeds
               scripts/explore replay REPLAY [--trace]         one schedule again, step by step

        Without names: all scenarios except those that are broken on purpose. A bound is a number of departures from the
        default schedule, in which a thread runs until it blocks. Seconds are per scenario; --first stops at the
        first failure. Exit status 0: every check held; 1: a schedule failed; 2: bad usage.
        """

    /// The arguments that begin with two dashes, and the others.
    private struct Arguments {
        var names: [String] = []
        var values: [String: String] = [:]
        private static let flags: Set = ["--long", "--trace", "--first"]
        private static let options: Set = ["--departures", "--seconds", "--schedules", "--seed", "--minutes"]

        init?(_ arguments: ArraySlice<String>) {
            var rest = arguments
            while let argument = rest.popFirst() {
                if Self.flags.contains(argument) {
                    values[argument] = ""
                } else if Self.options.contains(argument), let value = rest.popFirst(), Double(value) != nil {
                    values[argument] = value
                } else if argument.hasPrefix("--") {
                    return nil
                } else {
                    names.append(argument)
                }
            }
        }

        func int(_ name: String) -> Int? { values[name].flatMap { Int($0) } }
        func has(_ flag: String) -> Bool { values[flag] != nil }

        var limit: SearchLimit {
            SearchLimit(
                schedules: int("--schedules") ?? .max,
                seconds: values["--seconds"].flatMap { Double($0) } ?? .infinity)
        }
    }

    public func run(_ arguments: [String]) -> Never {
        if arguments == ["--help"] {
            print(Self.usage)
            exit(0)
        }
        guard let command = arguments.first, let options = Arguments(arguments.dropFirst()) else { badUsage() }
        switch command {
        case "list": list()
        case "search": search(options)
        case "random": random(options)
        case "soak": soak(options)
        case "replay": replay(options)
        default: badUsage()
        }
    }

    private func badUsage(_ what: String? = nil) -> Never {
        if let what { print(what) }
        print(Self.usage)
        exit(2)
    }

    private func selected(_ names: [String]) -> [Scenario] {
        if names.isEmpty { return scenarios.filter { !$0.isBroken } }
        return names.map { name in
            guard let scenario = scenarios.first(where: { $0.name == name }) else {
                badUsage("no scenario is called \(name)")
            }
            return scenario
        }
    }

    private func list() -> Never {
        for scenario in scenarios {
            let bounds = "\(scenario.bounds.short) or \(scenario.bounds.long) departures"
            print(
                "\(scenario.name)\(scenario.isBroken ? " (broken on purpose)" : "") [\(bounds)]: \(scenario.property)")
        }
        exit(0)
    }

    private func search(_ options: Arguments) -> Never {
        var hasFailed = false
        for scenario in selected(options.names) {
            let bound =
                options.int("--departures") ?? (options.has("--long") ? scenario.bounds.long : scenario.bounds.short)
            let result = ScheduleRunner(scenario).search(bound: bound, limit: options.limit)
            let extent = result.isExhausted ? "all" : "not all"
            report(scenario, result, "\(extent) with at most \(bound) departures")
            if result.finding != nil { hasFailed = true }
            if hasFailed, options.has("--first") { break }
        }
        exit(hasFailed ? 1 : 0)
    }

    private func random(_ options: Arguments) -> Never {
        var hasFailed = false
        let first = UInt64(options.int("--seed") ?? 1)
        for scenario in selected(options.names) {
            let limit =
                options.has("--schedules") || options.has("--seconds") ? options.limit : SearchLimit(schedules: 1000)
            let result = ScheduleRunner(scenario).searchAtRandom(seeds: first..., limit: limit)
            report(scenario, result, "at random, seeds from \(first)")
            if result.finding != nil { hasFailed = true }
            if hasFailed, options.has("--first") { break }
        }
        exit(hasFailed ? 1 : 0)
    }

    private func soak(_ options: Arguments) -> Never {
        guard let minutes = options.values["--minutes"].flatMap({ Double($0) }) else { badUsage("how many minutes?") }
        let scenarios = selected(options.names)
        let end = SearchLimit(seconds: minutes * 60)
        // Apart from those of other runs, and small enough to be typed again.
        var seed = UInt64(time(nil)) % 1_000_000 * 10_000
        while true {
            for scenario in scenarios {
                if end.isReached(after: 0) { exit(0) }
                let limit = SearchLimit(schedules: 2000, seconds: 10)
                let result = ScheduleRunner(scenario).searchAtRandom(seeds: seed..., limit: limit)
                report(scenario, result, "at random, seeds from \(seed)")
                if result.finding != nil { exit(1) }
            }
            seed += 10_000
        }
    }

    private func report(_ scenario: Scenario, _ result: SearchResult, _ how: String) {
        let counts = "\(result.schedules) schedules, \(how), the longest of \(result.longestSchedule) steps"
        let trace = "trace \(String(result.trace, radix: 16))"
        defer { fflush(nil) }
        guard let finding = result.finding else { return print("passed  \(scenario.name): \(counts), \(trace)") }
        print("FAILED  \(scenario.name): \(finding.failure)\n    after \(counts)\n    replay: \(finding.replay)")
    }

    private func replay(_ options: Arguments) -> Never {
        guard let text = options.names.first, options.names.count == 1, let replay = Replay(text),
            let scenario = scenarios.first(where: { $0.name == replay.scenario })
        else { badUsage("replay what?") }
        let runner = ScheduleRunner(scenario)
        let result = runner.run(.departing(replay.departures), isTraced: options.has("--trace"))
        let trace = String(result.trace, radix: 16)
        print("\(result.failure.map { "FAILED  \($0)" } ?? "passed"), \(result.steps) steps, trace \(trace)")
        if result.departures.map(\.step) != replay.departures.map(\.step) {
            print("departures that could be made: \(Replay(scenario: scenario.name, departures: result.departures))")
        }
        exit(result.failure == nil ? 0 : 1)
    }
}
