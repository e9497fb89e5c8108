// One scenario of the engine in a process of its own, for what a test bundle cannot show: the real main thread, fork,
// exit, signals, a count of all threads. `EngineProcess NAME [ARGUMENT…]` runs the scenario, prints one line and
// exits with 0 if it passed, with 77 if it is not permitted what it needs; the test that starts it limits its time.
//
// The main thread belongs to the scenario: nothing here is asynchronous, and the process ends when main.swift does.

let (name, arguments) = (CommandLine.arguments.dropFirst().first ?? "", Array(CommandLine.arguments.dropFirst(2)))
guard let scenario = scenarios[name] else {
    fail("no scenario “\(name)”; there are: \(scenarios.keys.sorted().joined(separator: " "))")
}
scenario(arguments)
print("\(name): passed")
