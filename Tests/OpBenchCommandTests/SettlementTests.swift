import Foundation
import FoundationXML
import OpBenchLaunch
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// Words as a shell takes them.
struct ShellWordsTests {
    @Test("what is quoted for a shell comes out of it as it went in, in one line")
    func quoting() async throws {
        let words = [
            "w.json", "", "a b", "it's", "'", "\"$HOME\"", "`id`", "a\\b", "*.json", "~", "x'\u{301}", "-n", "é ü",
            "a\nb\u{1B}[2J",
            "\t'\\", "\u{9B}2J", "a=b,c=d", "\u{202E}gpj", "a;b&c|d>e#f!", "[a]{b,c}",
        ]
        let line = ShellWords.joined(words)
        #expect(!line.contains("\n") && line.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x9B })
        let result = try await Program("/bin/bash", ["-c", "printf '%s\\0' \(line)"]).printed()
        let printed = result.bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
        #expect(printed.map { String(decoding: $0, as: UTF8.self) } == words)
    }

    @Test func plainWordsStayPlain() {
        #expect(
            ShellWords.joined(["run", "--blocks", "15", "workloads/a-b_1.json", "x=1,2"])
                == "run --blocks 15 workloads/a-b_1.json x=1,2")
    }
}

/// Command lines of recorded runs, given again.
struct RecordedCommandTests {
    @Test(
        "the same workloads, backends and settings, with other blocks and another name",
        arguments: [
            ("run w.json", "run --blocks 15 --run-id new w.json"),
            (
                "run --quick --run-id old --resume --format csv --no-progress --blocks 7 a.json b.json",
                "run --blocks 15 --run-id new a.json b.json"
            ),
            (
                "run a.json --backend engine,dispatch --metric throughput --set work_ns=0,1 --set items=5 --filter x=1$ --seed 3 "
                    + "--timeout 60 --output out",
                "run --blocks 15 --seed 3 --timeout 60.0 --run-id new --output out --backend engine,dispatch --metric "
                    + "throughput --set work_ns=0,1 --set items=5 --filter x=1$ a.json"
            ),
            ("run --time-budget 30m --calibration main w.json", "run --blocks 15 --run-id new w.json"),
            (
                "run --for-gate --policy p.json w.json",
                "run --for-gate --policy p.json --blocks 15 --run-id new w.json"
            ),
            ("run --filter=-x -- -w.json", "run --blocks 15 --run-id new --filter=-x -- -w.json"),
            (
                "ab old/opbench new/opbench w.json --backend engine --policy p.json",
                "ab --blocks 15 --run-id new --policy p.json --backend engine old/opbench new/opbench w.json"
            ),
            (
                "ab --base-ref v1 --head-ref v2 --build-option=--static-swift-stdlib --backend engine w.json",
                "ab --blocks 15 --run-id new --base-ref v1 --head-ref v2 --build-option=--static-swift-stdlib --backend "
                    + "engine w.json"
            ),
            ("calibrate --output out w.json", "calibrate --blocks 15 --run-id new --output out w.json"),
        ])
    func again(line: String, expected: String) throws {
        let command = try #require(RecordedCommand(["opbench"] + line.split(separator: " ").map(String.init)))
        let words = command.again(blocks: 15, runID: "new")
        #expect(words == expected.split(separator: " ").map(String.init))
        // What is advised is taken, and means the same.
        let once = try #require(RecordedCommand(["opbench"] + words))
        #expect(once.again(blocks: 15, runID: "new") == words)
    }

    @Test(arguments: ["", "compare a b", "run", "run --no-such-option w.json", "old-command w.json"])
    func `what is no measuring command of this program gives none`(line: String) {
        #expect(RecordedCommand(["opbench"] + line.split(separator: " ").map(String.init)) == nil)
    }

    @Test func calibrations() throws {
        let command = try #require(
            RecordedCommand(["opbench", "run", "--blocks", "7", "--backend", "engine", "--output", "out", "w.json"]))
        #expect(
            command.calibrating(in: "there") == ["calibrate", "--output", "there", "--backend", "engine", "w.json"])
        #expect(
            command.interleaved(["a", "b"], ["--run-id", "x"]) == [
                "ab", "--run-id", "x", "--output", "out", "--backend", "engine", "a", "b", "w.json",
            ])
        #expect(command.directory == "out")
        #expect(RecordedCommand(["opbench", "calibrate", "w.json"])?.directory == "results/calibration")
    }
}

/// Inconclusive verdicts come with their reasons and with commands, and these settle them.
@Suite(.serialized)
struct SettlementTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "little", "summary": "s", "shape": "independent", "parameters": {"items": [20, 30], "work_ns": 0},
             "backends": ["engine", "dispatch", "serial"], "sample_kinds": ["throughput"]}
            """, to: "it's little.json")
    }

    private func run(_ words: String...) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(words, in: folder)
    }

    /// The indented lines under a table.
    private func commands(in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains("opbench ") }.map {
            String($0.dropFirst(2))
        }
    }

    @Test(
        "two runs of too few blocks: the commands measure again, with the same work, and then compare as before", .slow)
    func moreBlocks() async throws {
        for name in ["before", "after"] {
            let result = try await run(
                "run", "--blocks", "2", "--backend", "engine,dispatch", "--filter", "items=20", "--run-id", name,
                "--no-progress", "it's little.json")
            #expect(result.status == 0, "\(result.errors)")
        }
        let gate = try await run(
            "gate", "--baseline", "before", "--candidate", "after", "--inconclusive", "fail", "--junit", "junit.xml",
            "--markdown", "summary.md", "--github-annotations", "--csv", "compare.csv")
        #expect(gate.status == 2)
        let advised = commands(in: gate.output)
        let judged = try CSVFile.read(CompareRow.self, file: folder.root + "/compare.csv").filter {
            $0.verdict == .inconclusive
        }
        #expect(judged.map(\.metric).sorted() == ["cpu_time_ratio", "time_ratio"])
        #expect(judged.allSatisfy { $0.settledBy == advised.joined(separator: " && ") })
        let program = ShellWords.quoted(OpBenchProcess.binary)
        let selection = "--backend engine,dispatch --filter items=20 'it'\\''s little.json'"
        #expect(
            advised == [
                "\(program) run --blocks 15 --run-id before-15 \(selection)",
                "\(program) run --blocks 15 --run-id after-15 --calibration before-15 \(selection)",
                "\(program) gate --baseline before-15 --candidate after-15 --inconclusive fail",
            ])
        let line = advised.joined(separator: " && ")
        #expect(gate.errors.contains(": \(line)\n"), "\(gate.errors)")
        #expect(gate.output.contains(": \(line)\n"), "the annotation")
        let markdown = try folder.read("summary.md")
        #expect(advised.allSatisfy { markdown.contains("\n    \($0)\n") })
        let skipped = SkippedMessages()
        let parser = XMLParser(data: Data(try folder.read("junit.xml").utf8))
        parser.delegate = skipped
        #expect(parser.parse())
        #expect(skipped.messages.count == judged.count && skipped.messages.allSatisfy { $0.hasSuffix(line) })

        // As someone would who pastes them.
        let script = advised.dropLast().joined(separator: " && ")
        let measured = try await Program("/bin/sh", ["-c", script], in: folder.root).printed(errorLimit: 100_000)
        #expect(measured.isSuccess, "\(measured.errors)")
        let settled = try await run("gate", "--baseline", "before-15", "--candidate", "after-15", "--format", "csv")
        let row = try #require(
            try CSVFile.read(CompareRow.self, file: try written(settled.output)).first { $0.metric == "time_ratio" })
        #expect(row.ratioLow != nil && row.adjustedProbability != nil, "\(settled.errors)")
        // Their work is the same.
        #expect(try folder.calibration(of: "after-15") == folder.calibration(of: "before-15"))
    }

    private func written(_ text: String) throws -> String {
        try folder.write(text, to: "printed.csv")
        return folder.root + "/printed.csv"
    }

    @Test(
        "a run that has its blocks is not measured again, nor a name taken twice; times of runs apart get a noise floor",
        .slow)
    func others() async throws {
        for (name, blocks) in [("few", "1"), ("many", "15")] {
            let result = try await run(
                "run", "--blocks", blocks, "--backend", "engine,dispatch", "--filter", "items=20", "--run-id", name,
                "--no-progress", "it's little.json")
            #expect(result.status == 0, "\(result.errors)")
        }
        try FileManager.default.createDirectory(
            atPath: folder.root + "/results/few-15", withIntermediateDirectories: true)
        let compared = try await run("compare", "few", "many")
        let selection = "--backend engine,dispatch --filter items=20 'it'\\''s little.json'"
        let program = ShellWords.quoted(OpBenchProcess.binary)
        #expect(
            commands(in: compared.output) == [
                "\(program) run --blocks 15 --run-id few-15-2 --calibration many \(selection)",
                "\(program) compare few-15-2 many",
            ])
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "time", "phase": "total", "max_regression": 0}]}"#, to: "p.json")
        let times = try await run("compare", "many", "few", "--policy", "p.json")
        #expect(
            commands(in: times.output) == [
                "for time in 1 2 3; do \(program) calibrate \(selection); done",
                "\(program) compare many few --policy p.json",
            ])
    }

    @Test("a run that tells of no command, or one of two builds: what is known of it")
    func unknown() async throws {
        let result = try await run("run", "--blocks", "1", "--run-id", "bare", "--no-progress", "it's little.json")
        #expect(result.status == 0, "\(result.errors)")
        let file = "results/bare/run.json"
        let facts = try folder.read(file)
        let arguments = try #require(facts.range(of: #""arguments" : \[[^\]]*\]"#, options: .regularExpression))
        try folder.write(facts.replacingCharacters(in: arguments, with: #""arguments" : ["opbench", "go"]"#), to: file)
        let compared = try await run("compare", "bare", "bare")
        #expect(
            commands(in: compared.output).first?.hasSuffix("run --blocks 15 --run-id bare-15 'it'\\''s little.json'")
                == true)
        try FileManager.default.removeItem(atPath: folder.root + "/" + file)
        let bare = try await run("compare", "bare", "bare")
        // Two runs are taken, even in the place of one.
        let both = commands(in: bare.output).prefix(2).map { $0.drop { $0 != " " } }
        #expect(both == [" run --blocks 15 --run-id bare-15 FILE", " run --blocks 15 --run-id bare-15-2 FILE"])

        let sides = try await run(
            "ab", OpBenchProcess.binary, OpBenchProcess.binary, "--blocks", "1", "--run-id", "two", "--backend",
            "engine", "--no-progress", "it's little.json")
        #expect(sides.status == 0, "\(sides.errors)")
        let program = ShellWords.quoted(OpBenchProcess.binary)
        let again =
            "\(program) ab --blocks 15 --run-id two-15 --backend engine \(program) \(program) 'it'\\''s little.json'"
        #expect(commands(in: sides.output) == [again, "\(program) gate --ab two-15"])
        let gate = try await run("gate", "--ab", "two")
        #expect(commands(in: gate.output) == [again, "\(program) gate --ab two-15"])
    }
}

/// The messages of a JUnit file's skipped tests.
private final class SkippedMessages: NSObject, XMLParserDelegate {
    var messages: [String] = []

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if name == "skipped" { messages.append(attributes["message"] ?? "") }
    }
}
