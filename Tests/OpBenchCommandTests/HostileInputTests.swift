import Foundation
import OpBenchLaunch
import TestSupport
import Testing

@testable import OpBenchModel

/// Commands on hostile input: files that are not what they seem, fields that try to be commands, names that
/// lead elsewhere.
@Suite("Hostile input", .serialized) struct HostileInputTests {
    private let folder: ScratchFolder
    private let golden = Golden("hostile-input")

    init() throws {
        folder = try ScratchFolder()
        try writeRun("base", seconds: 0.5)
        try writeRun("slow", seconds: 0.6)
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "time", "max_regression": 0.01}]}"#, to: "policy.json")
    }

    /// Names that a class can be given.
    private static let command = "a\n::error title=x::pwned\r\n##[error]pwned\u{9B}31m|<b>\"\u{301}"

    private func writeRun(_ name: String, seconds: Double, operationClass: String = command) throws {
        var rows: [SampleRow] = []
        for block in 0..<20 {
            let time = 1e9 * seconds * (1 + Double(block % 7) / 1000)
            for (name_, value) in [("", time), (operationClass, time)] {
                rows.append(
                    SampleRow(
                        runID: name, sampleID: "\(block)-throughput", timestampUTC: "", workload: "w", cellID: "w",
                        backend: .engine, block: block, position: 0, phase: "total", operationClass: name_, status: .ok,
                        metric: "time", stat: "total", value: value, operations: 1000, parameters: [:]))
            }
        }
        try folder.write(CSVFile.text(of: rows), to: "results/\(name)/samples.csv")
    }

    private func run(_ line: String, _ more: String...) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.runHere(line.split(separator: " ").map(String.init) + more, in: folder)
    }

    /// The lines that GitHub's runner would interpret as a command although opbench did not intend one.
    private func commands(in text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map(String.init).filter {
            let isOurs = $0.hasPrefix("::error title=") || $0.hasPrefix("::warning title=")
            return $0.contains("##[") || $0.hasPrefix("::") && (!isOurs || $0.hasPrefix("::error title=x"))
        }
    }

    // MARK: Fields

    @Test(
        "A class named `::error` never reaches the runner as a command",
        arguments: [
            "compare base slow --policy policy.json", "compare base slow --all --format csv",
            "compare base slow --all --format markdown",
            "gate --baseline base --candidate slow --policy policy.json --github-annotations",
            "show base", "compare base slow --ignore-parameters ::error::x",
        ])
    func workflowCommands(line: String) async throws {
        let result = try await run(line)
        #expect([0, 2, 7, 64].contains(result.status))
        #expect(commands(in: result.output) == [] && commands(in: result.errors) == [])
        #expect(!(result.output + result.errors).unicodeScalars.contains { $0 == "\u{9B}" || $0 == "\r" })
    }

    // MARK: Figures

    @Test(
        "Figures beyond a Double are rejected; those at the allowed limits are judged",
        arguments: [
            ("1e308", "5e-324", true), ("5e-324", "1e308", true), ("0", "1e308", true), ("1e61", "1", true),
            ("1e60", "1e-60", false), ("-1e60", "0", true), ("1e-400", "1", true), ("0", "0", false),
            ("1e-60", "1e-60", false),
        ])
    func extremes(first: String, second: String, isRefused: Bool) async throws {
        let header = String(try folder.read("results/base/samples.csv").split(separator: "\n")[0])
        func write(_ name: String, _ values: [String]) throws {
            var text = header + "\n"
            for block in 0..<20 {
                for (index, backend) in ["engine", "dispatch"].enumerated() {
                    let value = values[(block / 2 + index) % 2]
                    for (metric, stat, unit, direction) in [
                        ("time", "total", "ns", "lower"), ("throughput_ops", "rate", "1/s", "higher"),
                    ] {
                        text +=
                            "\(SchemaVersion.current),\(name),\(block)-throughput,,,w,w,\(backend),,,\(block),0,total,,,ok,,\(metric),"
                            + "\(stat),\(value),\(unit),\(direction),false,1,\n"
                    }
                }
            }
            try folder.write(text, to: "results/\(name)/samples.csv")
        }
        try write("one", [first, second])
        try write("two", [second, first])
        for line in [
            "compare one two --all", "compare one two --all --format csv", "gate --baseline one --candidate two",
        ] {
            let result = try await run(line)
            if isRefused {
                #expect(result.status == 64, "\(result.errors)")
                #expect(result.errors.contains("samples.csv"), "\(result.errors)")
                continue
            }
            #expect([0, 2, 5, 7].contains(result.status), "\(line): \(result.errors)")
            #expect(!result.output.contains(",inf") && !result.output.contains(": inf"))
        }
    }

    // MARK: Report files

    @Test("A job's summary grows; without room for one report, none is written")
    func reports() async throws {
        try folder.write("# before\n", to: "steps.md")
        let result = try await OpBenchProcess.run(
            ["compare", "base", "slow", "--markdown", "steps.md"], in: folder,
            environment: ["GITHUB_STEP_SUMMARY": "steps.md"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try folder.read("steps.md").hasPrefix("# before\n\n#"))
        let full = try await run("compare base slow --csv /dev/full --junit second.xml")
        #expect(full.status == 1 && full.errors.contains("/dev/full"))
        #expect(!folder.contents().contains("second.xml"))
    }

    @Test("/dev/stdout is the standard output, after the printed text, even if that is a file")
    func standardOutput() async throws {
        let result = try await OpBenchProcess.run(
            ["compare", "base", "slow", "--policy", "policy.json", "--csv", "/dev/stdout"], in: folder)
        let lines = result.output.split(separator: "\n").map(String.init)
        let header = lines.firstIndex(of: CompareRow.columns.joined(separator: ","))
        #expect(result.status == 0 && header ?? 0 > 0, "\(result.output)")
    }

    @Test("A report that cannot be written is bad input, reported before anything is read or printed")
    func badReports() async throws {
        var text = ""
        for path in ["none/x.csv", ".", "", "results", "policy.json/x"] {
            let result = try await run("compare nowhere slow --csv", path)
            #expect(result.status == 64 && result.output == "", "\(path)")
            #expect(path.isEmpty || result.errors.contains(path))
            text += result.errors
        }
        golden.expect(text, "reports that cannot be written", replacing: [folder.root: "FOLDER"])
    }

    @Test("Every file is created with the mode that the umask allows")
    func modes() async throws {
        try folder.write(
            #"""
            {"name": "m", "summary": "s", "shape": "independent", "parameters": {"items": 10, "work_ns": 0},
             "backends": ["serial"], "sample_kinds": ["throughput"]}
            """#, to: "m.json")
        let script = """
            umask 027
            "$0" run --quick --no-progress --run-id m m.json && "$0" baseline m \
            && "$0" compare m m --csv c.csv --markdown m.md --junit j.xml
            """
        let result = try await Program("/bin/sh", ["-c", script, OpBenchProcess.binary], in: folder.root)
            .printed(errorLimit: 1 << 20)
        #expect(result.isSuccess, "\(result.errors)")
        let files =
            ["c.csv", "m.md", "j.xml"]
            + ["samples.csv", "summary.csv", "run.json"].flatMap {
                ["results/m/\($0)", "results/baseline/m/\($0)"]
            }
        for name in files + ["results/m", "results/baseline/m"] {
            var facts = stat()
            #expect(stat("\(folder.root)/\(name)", &facts) == 0)
            #expect(facts.st_mode & 0o777 == (files.contains(name) ? 0o640 : 0o750), "\(name)")
        }
    }

    // MARK: Names

    @Test("Folders without a name and names already in use are bad usage")
    func names() async throws {
        try folder.write(
            #"{"name": "m", "summary": "s", "shape": "chain", "parameters": {}, "backends": ["serial"]}"#, to: "m.json")
        let before = folder.contents()
        var text = ""
        for (line, last) in [
            ("run m.json --output", ""), ("baseline base --results", ""), ("compare base slow --results", ""),
            ("run m.json --run-id", "baseline"),
        ] {
            let result = try await run(line, last)
            #expect(result.status == 64 && folder.contents() == before, "\(line) \(last)")
            text += "\(line) '\(last)'\n    \(result.errors.prefix { $0 != "\n" })\n"
        }
        golden.expect(text, "names")
    }

    @Test(
        "Only regular files are accepted as workloads, policies and descriptions of runs; others are rejected at once")
    func notFiles() async throws {
        mkfifo(folder.root + "/fifo", 0o600)
        symlink("/dev/zero", folder.root + "/results/base/run.json")
        var text = ""
        for line in [
            "validate fifo", "run fifo", "list /dev/zero", "compare slow slow --policy fifo", "compare base slow",
            "baseline base", "run --calibration base fifo",
        ] {
            let result = try await run(line)
            #expect(result.status == 64, "\(line)")
            text += "\(line)\n    \(result.errors)"
        }
        golden.expect(text, "no regular files", replacing: [folder.root: "FOLDER"])
    }

    @Test("Lists with far too many values, too many samples, a file of line ends: rejected, with the limit")
    func limits() async throws {
        try folder.write(
            "{\"name\": \"w\", \"summary\": \"s\", \"shape\": \"chain\", \"parameters\": {\"depth\": \(Array(1...150_000))}, "
                + "\"backends\": [\"engine\"]}", to: "values.json")
        let values = try await run("validate values.json")
        try folder.write(
            "{\"name\": \"w\", \"summary\": \"s\", \"shape\": \"chain\", \"parameters\": {\"depth\": \(Array(1...9000))}, "
                + "\"backends\": [\"engine\"]}", to: "cells.json")
        let samples = try await run("list cells.json")
        try folder.write(String(repeating: "\n", count: 1 << 22), to: "results/base/samples.csv")
        let lines = try await run("compare base slow")
        #expect([values, samples, lines].map(\.status) == [64, 64, 64])
        golden.expect(values.errors + samples.errors + lines.errors, "limits", replacing: [folder.root: "FOLDER"])
    }
}
