import Foundation
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

/// Every bad input ends with one message that gives the place, the mistake and the allowed input; exit 64; nothing is
/// written or run.
struct BadInputTests {
    private static let golden = Golden("bad-input")

    /// A workload with this depth, and more members.
    private static func chain(depth: Int = 10, more: String = "") -> String {
        """
        {"name": "w", "summary": "s", "shape": "chain", "parameters": {"depth": \(depth)}, "backends": ["engine"]\(more)}
        """
    }

    @Test("an invalid workload; OpBenchModelTests has all mistakes", arguments: ["run", "list", "validate"])
    func file(command: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.chain(depth: 0, more: #", "backend": ["engine"]"#), to: "w.json")
        try await OpBenchProcess.expectRefusal(
            of: [command, "w.json"], naming: #"w.json:1: $.parameters.depth: 1000000 $.backend: "backends""#,
            in: folder, Self.golden, "a workload", isHere: false)
    }

    static let arguments: [(line: String, names: String)] = [
        ("run nope.json", "nope.json:"), ("run .", ".:"), ("run w.json copy.json", #"copy.json: $.name: "w" w.json"#),
        ("run w.json --backend engin", #"--backend: "engin" "engine""#),
        ("run other.json --backend engine:graph", #"--backend: "engine:graph""#),
        ("run w.json --metric memoory", #"--metric: "memoory" "memory" throughput"#),
        ("run w.json --set depth", #"--set: "depth" NAME=VALUE"#),
        ("run w.json --set depth=1 --set depth=2", "--set: depth:"),
        ("run w.json --set dept=1", #"--set: dept: "depth" chains"#),
        ("run w.json --set depth=0", "--set: depth: 1000000"), ("run w.json --set depth=", "--set: depth:"),
        ("run w.json --filter (", #"--filter: "(""#), ("run w.json --filter zzz", #"--filter: "zzz" depth=10"#),
        ("run w.json --filter dephts=10", #"--filter: "dephts=10" "depth""#),
        ("run w.json --filter depth=11$", #"--filter: "depth=11$" depth=10"#),
        ("run w.json --run-id a/b", #"--run-id: "a/b""#), ("run w.json --blocks 0", "--blocks 1000"),
        ("run w.json --timeout nan", "--timeout 86400"), ("run w.json --format xml", "'xml' --format table csv"),
        ("run w.json --seed -1", "--seed '-1'"), ("run w.json --precision 2.5", "--precision '2.5' 0.01% 100%"),
        ("run w.json --blocks -3", "--blocks -3 1000"), ("run w.json --time-budget -1m", "--time-budget '-1m' 90s"),
        ("run w.json --cpus 0-", "--cpus '0-' 0-3"),
        ("show empty", "results/empty: samples.csv"), ("show kept", "results/baseline/kept: samples.csv"),
        ("run w.json --resume", "--resume --run-id"), ("run w.json --run-id old", "old"),
        ("run w.json --output w.json/results", "w.json/results: --output"), ("run", "<file>"),
        ("rnu w.json", #""rnu" "run" --help"#), ("history trnd", #""trnd" "trend""#),
        ("help descibe", #""descibe" "describe""#), ("w.json", #""w.json" run list --help"#),
        ("run w.json --block 3", "--block --blocks"),
    ]

    private static let refusedByRunner = ["run w.json --run-id old", "run w.json --output w.json/results"]

    @Test(arguments: arguments)
    func argument(line: String, names: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.chain(), to: "w.json")
        try folder.write(Self.chain(depth: 20), to: "copy.json")
        try folder.write(
            #"{"name": "o", "summary": "s", "shape": "independent", "parameters": {}, "backends": ["engine"]}"#,
            to: "other.json")
        try folder.write("{}", to: "results/old/run.json")
        for name in ["empty", "baseline/kept"] { try folder.write("{}", to: "results/\(name)/run.json") }
        // Swift's own messages about expressions vary between versions.
        var replacements: [String: String] = [:]
        do { _ = try Regex("(") } catch { replacements["\(error)"] = "WHAT SWIFT SAYS" }
        try await OpBenchProcess.expectRefusal(
            of: line.split(separator: " ").map(String.init), naming: names, in: folder, Self.golden,
            replacing: replacements, isHere: !Self.refusedByRunner.contains(line))
    }

    private static let hasOneTBB = BackendID.available.contains(BackendID(rawValue: "tbb"))

    @Test(
        "a program without oneTBB reads files that name it, refuses to measure them, and says how to build it in",
        .enabled(if: !hasOneTBB))
    func missingLibrary() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.chain(), to: "w.json")
        try folder.write(Self.chain().replacing(#""engine""#, with: #""engine", "tbb""#), to: "t.json")
        for line in ["run w.json --backend engine,tbb:flow", "run t.json", "list t.json", "profile t.json"] {
            let result = try await OpBenchProcess.runHere(line.split(separator: " ").map(String.init), in: folder)
            #expect(result.status == 64 && result.output == "", "\(line): \(result.errors)")
            #expect(result.errors.contains("OPBENCH_PEERS=1"), "\(line): \(result.errors)")
        }
        #expect(try await OpBenchProcess.runHere(["validate", "t.json"], in: folder).status == 0)
        #expect(try await OpBenchProcess.runHere(["list", "t.json", "--backend", "engine"], in: folder).status == 0)
    }

    @Test("a full disk is neither bad input nor success")
    func fullDevice() async throws {
        // Writing to /dev/full fails like a full disk.
        let folder = try ScratchFolder()
        let result = try await OpBenchProcess.run(["describe", "workload-schema"], in: folder, outputTo: "/dev/full")
        #expect(result.status == 1)
        Self.golden.expect(result.errors, "opbench describe workload-schema, to a full disk")
    }

    @Test("validate reports every wrong file, not only the first")
    func severalFiles() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.chain(), to: "good.json")
        try folder.write(Self.chain(depth: 0), to: "zero.json")
        let result = try await OpBenchProcess.runHere(["validate", "zero.json", "good.json", "nope.json"], in: folder)
        #expect(result.status == 64 && result.output.contains("good.json:"))
        #expect(["zero.json:1: $.parameters.depth:", "nope.json:"].allSatisfy(result.errors.contains))
        Self.golden.expect(result.errors + result.output, "opbench validate zero.json good.json nope.json")
    }
}
