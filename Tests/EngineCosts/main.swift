import CountedMalloc
import Glibc

// Plays one scenario, for scripts/engine-costs, which counts the instructions of it by running it under callgrind:
//
//   EngineCosts list                 the scenarios: name, meaning, “steady” or “varies”, tabs between
//   EngineCosts play NAME COUNT      plays it, and does nothing else
//   EngineCosts count NAME COUNT     plays it, and prints its allocations and the bytes held while all were pending,
//                                    “-” where they never are

func fail(_ message: String) -> Never {
    let line = "EngineCosts: \(message)\n"
    _ = line.utf8CString.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count - 1) }
    exit(1)
}

let arguments = CommandLine.arguments.dropFirst()
if arguments == ["list"] {
    for scenario in Scenario.all {
        print(scenario.name, scenario.summary, scenario.varies ? "varies" : "steady", separator: "\t")
    }
    exit(0)
}
guard arguments.count == 3, let command = arguments.first, ["play", "count"].contains(command),
    let scenario = Scenario.all.first(where: { $0.name == CommandLine.arguments[2] }),
    let count = Int(CommandLine.arguments[3]), count > 0
else { fail("usage: EngineCosts list | play NAME COUNT | count NAME COUNT; see list for the names") }

if command == "play" {
    scenario.play(Play(count: count, whilePending: {}))
} else {
    var held: Int64?
    counted_malloc_begin()
    scenario.play(Play(count: count, whilePending: { held = counted_malloc_held_bytes() }))
    let allocations = counted_malloc_allocations()
    print(allocations, held.map(String.init) ?? "-")
}
