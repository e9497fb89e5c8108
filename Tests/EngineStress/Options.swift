import EngineStressScenarios

/// The options of the command line.
struct Options {
    var minutes: Double?
    var seed: UInt64?
    var size: Int?
    var scenarios = Scenario.all
    var keepsSeed = false

    enum Request {
        case play(Options)
        case help
        case list
        case refuse(String)
    }

    static func parse(_ arguments: [String]) -> Request {
        var options = Options()
        var rest = arguments[...]
        var chosen: [Scenario] = []
        while let option = rest.popFirst() {
            switch option {
            case "--help", "-h": return .help
            case "--list": return .list
            case "--same-seed": options.keepsSeed = true
            case "--minutes", "--seed", "--size", "--scenario":
                guard let value = rest.popFirst() else { return .refuse("\(option) needs a value") }
                if option == "--scenario" {
                    for name in value.split(separator: ",").map(String.init) {
                        guard let scenario = Scenario.named(name) else {
                            return .refuse("there is no scenario \"\(name)\"; see --list")
                        }
                        chosen.append(scenario)
                    }
                } else if !options.set(option, value) {
                    return .refuse("\(option): \"\(value)\" is not a number that makes sense")
                }
            default: return .refuse("unknown option \"\(option)\"; see --help")
            }
        }
        if !chosen.isEmpty { options.scenarios = chosen }
        return .play(options)
    }

    /// False if the value will not do.
    private mutating func set(_ option: String, _ value: String) -> Bool {
        switch option {
        case "--minutes":
            minutes = Double(value)
            return minutes.map { $0 > 0 && $0.isFinite } ?? false
        case "--seed":
            seed = UInt64(value)
            return seed != nil
        default:
            size = Int(value)
            return size.map { $0 >= 10 } ?? false
        }
    }

    static let help = """
        Checks OperationEngine in random programs against a reference model.

        usage: scripts/stress [--minutes N] [--seed S] [--scenario NAME,…] [--size N] [--same-seed]
                              [--sanitize thread|address [--optimized]] [--one-processor] [--list]

          --minutes N         run for N minutes, ten seconds per scenario in rotation; without it, each scenario runs once,
                              for as many rounds as --list says
          --seed S            the first round's seed, the next ones count up; default: a fresh one, which is printed
          --scenario NAME,…   run only these
          --size N            a round's size, in the unit that the scenario counts
          --same-seed         use the first seed in every round: for a failure that depends on the timing of threads
          --sanitize KIND     build with ThreadSanitizer or AddressSanitizer (with leaks), in a separate folder
          --optimized         sanitize the release build, without assertions: finds what only the optimizer causes,
                              and runs more rounds
          --one-processor     use one processor, where threads interleave differently
          --list              print the scenarios

        examples:
          scripts/stress                                   every scenario once, some minutes
          scripts/stress --minutes 60                      as long as asked
          scripts/stress --scenario pairs                  100 rounds of 100,000 pairs
          scripts/stress --scenario pairs --seed 42 --size 1000 --same-seed --minutes 1
          scripts/stress --sanitize thread --minutes 10
          scripts/stress --sanitize address --optimized --scenario leases,abroad

        A violation, a hang or a crash prints the seed and the command that replays it. Exit status: 0 no violation,
        1 a violation, 64 bad usage, 130 ended by Ctrl-C; a hang or a crash ends the process by a signal, or as the
        sanitizer decides. OPBENCH_TEST=patience=SECONDS sets how long a round may make no progress.
        """

    static var list: String {
        let width = (Scenario.all.map(\.name.count).max() ?? 0) + 2
        return Scenario.all.map { scenario in
            let name = scenario.name + String(repeating: " ", count: width - scenario.name.count)
            return "\(name)\(scenario.summary); \(scenario.roundsPerTurn) × \(scenario.size) \(scenario.unit)"
        }.joined(separator: "\n")
    }
}
