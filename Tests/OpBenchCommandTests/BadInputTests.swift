import Foundation
import OpBenchModel
import Testing

/// Every bad input ends in one message with the place, what is wrong and what is allowed; exit 64; nothing written,
/// nothing run.
struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let message: String
        var testDescription: String { name }

        /// A workload file's whole text.
        init(_ name: String, _ text: String, _ message: String) {
            self.name = name
            self.text = text
            self.message = message
        }

        /// A chain workload with these parameters.
        init(_ name: String, depth: String, _ message: String) {
            self.init(name, Self.chain(parameters: "\"depth\": \(depth)"), message)
        }

        static func chain(parameters: String = "", more: String = "") -> String {
            """
            {"name": "w", "summary": "s", "shape": "chain", "parameters": {\(parameters)}, "backends": ["engine"]\(more)}
            """
        }
    }

    private static let range = "depth is a whole number from 1 to 1000000"
    private static let jsonRemedy = "write one JSON object, without comments or trailing commas"

    static let files: [Case] = [
        Case(
            "not JSON", "hello",
            "w.json:1: not JSON at line 1, column 1: no JSON value begins with 'h'; \(jsonRemedy)"),
        Case(
            "NaN", depth: "NaN",
            "w.json:1: not JSON at line 1, column 73: no JSON value begins with 'N'; \(jsonRemedy)"),
        Case(
            "not an object", "[1]",
            "w.json:1: $: a list stands where an object with the keys of a workload belongs; "
                + "write an object with the keys of a workload"),
        Case(
            "wrong type", depth: #""10""#,
            "w.json:1: $.parameters.depth: a string stands where a whole number from 1 to 1000000 belongs; "
                + "write a whole number from 1 to 1000000"),
        Case("fraction", depth: "1.5", "w.json:1: $.parameters.depth: 1.5 is not a whole number; \(range)"),
        Case("zero", depth: "0", "w.json:1: $.parameters.depth: 0 is out of range; \(range)"),
        Case("negative", depth: "-1", "w.json:1: $.parameters.depth: -1 is out of range; \(range)"),
        Case("10^12", depth: "1000000000000", "w.json:1: $.parameters.depth: 1000000000000 is out of range; \(range)"),
        Case("in a list", depth: "[1, 2, 0]", "w.json:1: $.parameters.depth[2]: 0 is out of range; \(range)"),
        Case(
            "empty list", depth: "[]",
            "w.json:1: $.parameters.depth: an empty list; write a whole number from 1 to 1000000, "
                + "or a list of such values with at least one entry"),
        Case(
            "unknown parameter", Case.chain(parameters: #""dept": 3"#),
            #"w.json:1: $.parameters.dept: unknown key "dept"; did you mean "depth"? "#
                + "known are depth, chains, queues, order, work_ns, max_concurrent, seed"),
        Case(
            "unknown key", Case.chain(more: #", "backend": ["engine"]"#),
            #"w.json:1: $.backend: unknown key "backend"; did you mean "backends"? "#
                + "known are $schema, name, summary, shape, parameters, zip, backends, sample_kinds, metrics, skip, "
                + "expect"),
        Case(
            "duplicate key", Case.chain(more: #", "name": "v""#),
            #"w.json:1: $.name: the key "name" appears twice; keep one of the two"#),
        Case(
            "unknown metric", Case.chain(more: #", "metrics": ["latencies"]"#),
            #"w.json:1: $.metrics[0]: unknown sample kind "latencies"; did you mean "latency"? "#
                + "known are throughput, latency, memory, check"),
        Case(
            "unknown shape",
            #"{"name": "w", "summary": "s", "shape": "chains", "parameters": {}, "backends": ["engine"]}"#,
            #"w.json:1: $.shape: unknown shape "chains"; did you mean "chain"? "#
                + "known are " + Shape.allCases.map(\.rawValue).joined(separator: ", ")),
        Case(
            "too many cells",
            Case.chain(parameters: "\"depth\": \(Array(1...400)), \"chains\": \(Array(1...400))"),
            "w.json:1: $.parameters: the lists multiply into 160000 cells; at most 100000 are allowed; "
                + "shorten the lists or split the file"),
    ]

    @Test(arguments: files)
    func file(_ bad: Case) async throws {
        let folder = try ScratchFolder()
        try folder.write(bad.text, to: "w.json")
        for command in ["run", "list", "validate"] {
            let result = try await OpBenchProcess.run([command, "w.json"], in: folder)
            #expect(result.errors == "Error: \(bad.message)\n")
            #expect(result.output == "")
            #expect(result.status == 64)
        }
        #expect(folder.contents() == ["w.json"])
    }

    static let arguments: [Case] = [
        Case("no such file", "run nope.json", "nope.json: no such file; name a readable file"),
        Case("a folder", "run .", ".: cannot be read: Is a directory; name a readable file"),
        Case(
            "two of one name", "run w.json copy.json",
            #"copy.json: $.name: the name "w" is also that of w.json; "#
                + "give each workload of a run a different name, and each file once"),
        Case(
            "unknown backend", "run w.json --backend engin",
            #"--backend: unknown backend "engin"; did you mean "engine"? known are "#),
        Case(
            "backend of another shape", "run other.json --backend dispatch:inline",
            #"--backend: "dispatch:inline" is defined for none of the given workloads; "#),
        Case(
            "unknown metric", "run w.json --metric memoory",
            #"--metric: unknown metric "memoory"; did you mean "memory"? known are throughput, latency, memory, check"#),
        Case("not NAME=VALUE", "run w.json --set depth", #"--set: "depth" is not NAME=VALUE; "#),
        Case("set twice", "run w.json --set depth=1 --set depth=2", "--set: depth: given twice; "),
        Case(
            "set of an unknown parameter", "run w.json --set dept=1",
            #"--set: dept: unknown parameter "dept"; did you mean "depth"? known are "#),
        Case("set out of range", "run w.json --set depth=0", "--set: depth: 0 is out of range; \(range)"),
        Case("set of nothing", "run w.json --set depth=", "--set: depth: "),
        Case("bad expression", "run w.json --filter (", #"--filter: "(" is not a regular expression: "#),
        Case(
            "matches nothing", "run w.json --filter zzz",
            #"--filter: "zzz" matches no cell; the cell is "w depth=10"; `opbench list FILE…` prints them"#),
        Case(
            "matches nothing, by a slip", "run w.json --filter dephts=10",
            #"--filter: "dephts=10" matches no cell; did you mean "depth"? the cell is"#),
        Case(
            "matches no value", "run w.json --filter depth=11$",
            #"--filter: "depth=11$" matches no cell; depth is 10 here; the cell is"#),
        Case("bad run id", "run w.json --run-id a/b", #"--run-id: "a/b" cannot name a run; "#),
        Case("no blocks", "run w.json --blocks 0", "--blocks is 0; allowed is a whole number from 1 to 1000."),
        Case(
            "no timeout", "run w.json --timeout nan",
            "--timeout is nan; allowed are more than 0 and at most 86400 seconds."),
        Case("bad format", "run w.json --format xml", "The value 'xml' is invalid for '--format <format>'. "),
        Case("resume without a run", "run w.json --resume", "--resume needs the --run-id of the run to continue."),
        Case("existing run", "run w.json --run-id old", "old"),
        Case("unwritable output", "run w.json --output w.json/results", "w.json/results"),
        Case("no files", "run", "Missing expected argument '<file> ...'"),
        Case(
            "unknown command", "rnu w.json",
            "opbench: no subcommand `rnu`; did you mean `run`? `opbench --help` tells of all"),
        Case(
            "unknown command of a command", "baseline sav old",
            "opbench baseline: no subcommand `sav`; did you mean `save`? `opbench baseline --help` tells of all"),
        Case("unknown command, asked for help", "help shape", "opbench: no subcommand `shape`; did you mean `shapes`?"),
        Case("far from any command", "w.json", "opbench: no subcommand `w.json`; there are run, plan, merge, list, "),
        Case("unknown option", "run w.json --block 3", "Unknown option '--block'"),
    ]

    @Test(arguments: arguments)
    func argument(_ bad: Case) async throws {
        let folder = try ScratchFolder()
        try folder.write(Case.chain(parameters: "\"depth\": 10"), to: "w.json")
        try folder.write(Case.chain(parameters: "\"depth\": 20"), to: "copy.json")
        try folder.write(
            #"{"name": "o", "summary": "s", "shape": "independent", "parameters": {}, "backends": ["engine"]}"#,
            to: "other.json")
        try FileManager.default.createDirectory(
            atPath: folder.root + "/results/old", withIntermediateDirectories: true)
        try folder.write("{}", to: "results/old/run.json")
        let before = folder.contents()
        let result = try await OpBenchProcess.run(bad.text.split(separator: " ").map(String.init), in: folder)
        #expect(result.errors.hasPrefix("Error: "))
        #expect(result.errors.contains(bad.message))
        #expect(result.output == "")
        #expect(result.status == 64)
        #expect(folder.contents() == before)
    }

    @Test("a full disk is no bad input, and no success")
    func fullDevice() async throws {
        // Writing to /dev/full fails as a full disk does.
        let folder = try ScratchFolder()
        let result = try await OpBenchProcess.run(["schema"], in: folder, outputTo: "/dev/full")
        #expect(result.errors == "Error: could not write to standard output: No space left on device\n")
        #expect(result.status == 1)
    }

    @Test("validate reports every wrong file, not only the first")
    func severalFiles() async throws {
        let folder = try ScratchFolder()
        try folder.write(Case.chain(), to: "good.json")
        try folder.write(Case.chain(parameters: "\"depth\": 0"), to: "zero.json")
        let result = try await OpBenchProcess.run(["validate", "zero.json", "good.json", "nope.json"], in: folder)
        #expect(
            result.errors == """
                Error: zero.json:1: $.parameters.depth: 0 is out of range; depth is a whole number from 1 to 1000000
                Error: nope.json: no such file; name a readable file

                """)
        #expect(result.output == "good.json: ok, chain, 1 cell on engine\n")
        #expect(result.status == 64)
    }
}
