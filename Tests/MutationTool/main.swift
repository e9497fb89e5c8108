import Foundation

// Breaks the engine's guards one at a time, and says what noticed. See scripts/mutate.

let usage = """
    usage: mutate check                                every old text occurs once
           mutate run [--tier protocol|contract] [--only NAME,NAME] [--from NAME] [--wide] [--trusting]
                                                       builds a copy with all of them, runs each, and stores results;
                                                       --wide: all tests, not only those of the mutation's lines;
                                                       --trusting: without a run of the tests before the first mutation
           mutate table                                the stored results, for people
    """

func fail(_ message: String, _ status: Int32) -> Never {
    FileHandle.standardError.write(Data("mutate: \(message)\n".utf8))
    exit(status)
}

let root = URL(filePath: FileManager.default.currentDirectoryPath)
let definitions = root.appending(path: "Tests/Mutations")
let artefacts =
    ProcessInfo.processInfo.environment["OPBENCH_ARTEFACTS"].map { URL(filePath: $0) }
    ?? root.appending(path: ".build/artefacts")
let results = ResultFile(url: artefacts.appending(path: "mutations.csv"))

do {
    let mutations = try MutationReader.readAll(in: definitions)
    switch CommandLine.arguments.dropFirst().first {
    case "check":
        try check(mutations, root: root)
        print("\(mutations.count) mutations, each old text once")
    case "run":
        try MutationRun(
            root: root, mutations: mutations, results: results, arguments: CommandLine.arguments.dropFirst(2)
        )
        .run()
    case "table": print(try results.table())
    default: fail(usage, 64)
    }
} catch { fail("\(error)", 1) }
