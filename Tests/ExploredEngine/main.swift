import Interleaving

ExplorerCommand(scenarios: allScenarios).run(CommandLine.arguments.dropFirst().map(\.self))
