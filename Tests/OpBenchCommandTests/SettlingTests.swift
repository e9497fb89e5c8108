import Foundation
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// What is advised for each kind of doubt: commands that this program takes, with nothing left to be filled in.
struct SettlingTests {
    private let folder: ScratchFolder
    private let golden = Golden("settling")
    private var results: String { folder.root + "/results" }

    init() throws { folder = try ScratchFolder() }

    /// A run of the engine and Dispatch, with the given facts.
    private func run(_ name: String, blocks: Int = 20, _ change: (inout WrittenRun) -> Void = { _ in }) throws
        -> RecordedRun
    {
        var run = WrittenRun(name: name)
        for block in 0..<blocks {
            for backend in [BackendID.engine, .dispatch] { run.add(backend, block: block, .time, 1) }
        }
        change(&run)
        try run.write(to: results)
        return try RecordedRun(name, in: results)
    }

    private func row(_ doubt: Doubt) -> CompareRow {
        var row = CompareRow(
            cellID: "w depth=10", backend: .engine, phase: "total", operationClass: "", metric: "time", stat: "total",
            verdict: .inconclusive)
        (row.doubt, row.base, row.head, row.threshold) = (doubt, 0, 3, 0.05)
        return row
    }

    private func goal(_ doubt: Doubt, of run: RecordedRun) -> GoalRow {
        var row = GoalRow(
            runID: run.samples[0].runID, cellID: "w depth=10", backend: .engine, phase: "total", operationClass: "",
            metric: "time", stat: "total", verdict: .inconclusive)
        (row.doubt, row.value) = (doubt, 3)
        return row
    }

    private func settling(_ compared: Settling.Compared, policy: String? = nil) -> Settling {
        Settling(
            compared: compared, folder: "results",
            comparing: { names in
                switch names.count {
                case 1: ["gate", "--ab", names[0]]
                default: ["gate", "--baseline", names[0], "--candidate", names[1]]
                }
            }, policy: policy)
    }

    /// Without the program's name.
    private func commands(_ settlement: Settlement) -> [String] {
        settlement.commands.map { command in
            command.replacingOccurrences(of: ShellWords.ofThisProgram([]) + " ", with: "opbench ")
        }
    }

    private static let doubts: [Doubt] = [
        .noNoiseFloor, .tooFewBlocks(7, enough: 15), .wideInterval(blocks: 7, enough: 15),
        .wideInterval(blocks: 20, enough: nil), .likelyChance(blocks: 20, enough: 40),
        .likelyChance(blocks: 20, enough: nil), .tooManyBlocks(41, most: 40), .noRatio,
    ]

    @Test("each doubt of each comparison has one reason and commands that parse, without a blank to fill in", .slow)
    func complete() throws {
        let (base, head) = (try run("base"), try run("head"))
        var text = ""
        for doubt in Self.doubts {
            let two = settling(.runs(base: base, head: head)).settlements(of: [row(doubt)])
            let sides = settling(.sides(head), policy: "p.json").settlements(of: [row(doubt)])
            let goals = settling(.goals([head])).settlements(of: [goal(doubt, of: head)])
            // Two sides are compared by their difference where there is no ratio.
            let settlements = doubt == .noRatio ? [goals] : [two, sides, goals]
            #expect(settlements.allSatisfy { $0.count == 1 && !$0[0].commands.isEmpty })
            for settlement in settlements.joined() {
                text += "\(settlement.finding); \(settlement.advice)\n"
                text += commands(settlement).map { "    \($0)\n" }.joined()
            }
            for command in settlements.joined().flatMap(commands) {
                #expect(!command.contains("FILE") && !command.contains("OLD"), "\(command)")
                // Calibrations stand in a loop; a policy is written by the shell.
                let call = command.replacingOccurrences(of: "for time in 1 2 3; do ", with: "")
                    .replacingOccurrences(of: "; done", with: "")
                guard !call.hasPrefix("printf ") else { continue }
                let words = call.split(separator: " ").map(String.init)
                #expect(words.first == "opbench", "\(command)")
                #expect(throws: Never.self, "\(command)") { _ = try OpBench.parseAsRoot(Array(words.dropFirst())) }
            }
        }
        golden.expect(text, "each doubt: of two runs, of two sides, of goals")
    }

    @Test("of many reasons the three most frequent are named")
    func reasons() throws {
        let doubts: [Doubt] =
            Array(repeating: .tooFewBlocks(7, enough: 15), count: 3)
            + [.tooFewBlocks(10, enough: 15), .wideInterval(blocks: 7, enough: 15), .tooFewBlocks(9, enough: 15)]
            + [.tooFewBlocks(8, enough: 15), .wideInterval(blocks: 7, enough: 15), .tooFewBlocks(8, enough: 15)]
        let settlements = settling(.sides(try run("many"))).settlements(of: doubts.map { row($0) })
        golden.expect(settlements.map(\.finding).joined(separator: "\n"), "many reasons")
    }

    @Test("rows name what settles them, those of a rule for themselves; what is too long to be repeated is left out")
    func rows() throws {
        let settling = settling(.sides(try run("two") { $0.arguments = ["opbench", "ab", "a", "b", "w.json"] }))
        var passed = row(.tooFewBlocks(7, enough: 15))
        (passed.doubt, passed.verdict) = (nil, .pass)
        let rows = [row(.tooFewBlocks(7, enough: 15)), row(.noNoiseFloor), passed]
        let commands = settling.settled(rows).map(\.settledBy)
        #expect(commands[0].contains(" ab --blocks 15 --run-id two-15 a b w.json && "))
        #expect(!commands[1].isEmpty && commands[1] != commands[0] && commands[2].isEmpty)
        let report = ComparisonReport(rows: rows, outcome: nil, settling: settling)
        #expect(report.rows.map(\.settledBy) == commands)
        try folder.write(CSVFile.text(of: report.rows), to: "compare.csv")
        let read = try CSVFile.read(CompareRow.self, file: folder.root + "/compare.csv")
        #expect(read.map(\.settledBy) == commands)
        #expect(read.map(\.reason) == rows.map { $0.doubt?.words ?? "" })
        #expect(RowJSON.text(of: report.rows).contains("\"reason\": \"\(Doubt.tooFewBlocks(7, enough: 15).words)\""))
        let long = (0..<300).map { "a-workload-with-a-name-\($0).json" }
        let many = self.settling(.sides(try run("many") { $0.arguments = ["opbench", "ab", "a", "b"] + long }))
        #expect(many.settled([row(.tooFewBlocks(7, enough: 15))]).map(\.settledBy) == [""])
        let judged = try run("goals")
        var other = goal(.noRatio, of: judged)
        other.figure.metric = "cpu_time"
        let ofGoals = self.settling(.goals([judged])).settled([goal(.noRatio, of: judged), other]).map(\.settledBy)
        #expect(ofGoals[0].contains("\"time\"") && !ofGoals[0].contains("cpu_time") && ofGoals[1].contains("cpu_time"))
    }

    @Test("two runs that no number of blocks tells apart: their commits, interleaved, or their programs")
    func interleaved() throws {
        let old = try run("old") { $0.commit = "aaaa" }
        let new = try run("new") { $0.commit = "bbbb" }
        let doubt = row(.wideInterval(blocks: 20, enough: nil))
        let commits = settling(.runs(base: old, head: new), policy: "p.json").settlements(of: [doubt])
        #expect(
            commands(commits[0]) == [
                "opbench ab --base-ref aaaa --head-ref bbbb --run-id new-ab --policy p.json --backend engine,dispatch w.json",
                "opbench gate --ab new-ab --policy p.json",
            ])
        let (one, other) = (OpBenchProcess.binary, OpBenchProcess.program("pthread-queue"))
        let from = try run("from") { ($0.commit, $0.program) = ("aaaa", (one, "1")) }
        let to = try run("to") { ($0.commit, $0.isDirty, $0.program) = ("bbbb", true, (other, "2")) }
        let programs = settling(.runs(base: from, head: to)).settlements(of: [doubt])
        let words = ShellWords.joined([one, other])
        // The program that took the newer run.
        let judging = ShellWords.quoted(other)
        #expect(
            commands(programs[0])
                == [
                    "\(judging) ab --run-id to-ab --backend engine,dispatch \(words) w.json",
                    "opbench gate --ab to-ab",
                ])
        // Another file has taken the place of the program.
        let gone = try run("gone") { $0.program = (other, "3") }
        let again = settling(.runs(base: gone, head: to)).settlements(of: [doubt])
        #expect(commands(again[0]).first == "opbench doctor")
        #expect(again[0].commands[1].hasPrefix("\(ShellWords.quoted(other)) run --blocks 100 --run-id gone-100 "))
    }

    @Test("what another program has measured is measured again by that one, and compared by this")
    func otherPrograms() throws {
        let mine = OpBenchProcess.program("pthread-queue")
        let doubt = row(.tooFewBlocks(7, enough: 15))
        let run = try run("kit", blocks: 7) { ($0.program, $0.arguments) = ((mine, "1"), ["./mine", "run", "w.json"]) }
        let calls = settling(.goals([run])).settlements(of: [goal(.tooFewBlocks(7, enough: 15), of: run)])[0].commands
        #expect(calls[0] == "\(ShellWords.quoted(mine)) run --blocks 15 --run-id kit-15 w.json")
        #expect(calls[1].hasPrefix(ShellWords.ofThisProgram(["gate"])))
        // Its file is gone: as it was called.
        let gone = try self.run("gone", blocks: 7) {
            ($0.program, $0.arguments) = (("/nowhere/mine", "1"), ["./mine", "run", "w.json"])
        }
        let two = settling(.runs(base: gone, head: gone)).settlements(of: [doubt])[0].commands
        #expect(two[0] == "./mine run --blocks 15 --run-id gone-15 w.json")
        let floors = settling(.runs(base: gone, head: gone)).settlements(of: [row(.noNoiseFloor)])[0].commands
        #expect(floors[0] == "for time in 1 2 3; do ./mine calibrate w.json; done")
        // This one by another path.
        let own = try self.run("own", blocks: 7) { $0.program = (OwnProgram.path!, "1") }
        let same = settling(.sides(own)).settlements(of: [doubt])[0].commands
        #expect(same[0].hasPrefix(ShellWords.ofThisProgram(["run"])))
    }

    @Test("two builds that no number of blocks tells apart: as many as the exact test takes, on a quieter machine")
    func sides() throws {
        let two = try run("two") { $0.arguments = ["opbench", "ab", "a", "b", "w.json"] }
        let settlement = settling(.sides(two)).settlements(of: [row(.wideInterval(blocks: 25, enough: nil))])[0]
        #expect(
            commands(settlement) == [
                "opbench doctor", "opbench ab --blocks 40 --run-id two-40 a b w.json", "opbench gate --ab two-40",
            ])
        #expect(settlement.advice.contains("scripts/ci/policy.json"))
        var latency = row(.wideInterval(blocks: 25, enough: nil))
        latency.figure.metric = "submit_latency"
        #expect(!settling(.sides(two)).settlements(of: [latency])[0].advice.contains("cpu_time"))
    }

    @Test("two builds that a script compares: the script again, and none of the places that its reader does not have")
    func comparedByScript() throws {
        let two = try run("two") {
            $0.arguments = ["/job/.build/refs/judge/opbench", "ab", "--base-ref", "main", "w.json"]
        }
        var settling = settling(.sides(two))
        settling.script = "scripts/ci/compare --base-ref main w.json"
        func commands(_ doubt: Doubt) -> [String] { settling.settlements(of: [row(doubt)])[0].commands }
        #expect(
            commands(.wideInterval(blocks: 25, enough: nil)) == [
                "scripts/ci/compare --base-ref main w.json --blocks 40"
            ])
        #expect(commands(.tooFewBlocks(7, enough: 15)) == ["scripts/ci/compare --base-ref main w.json --blocks 15"])
    }

    @Test("a count that rises from 0 fails the gate of two builds")
    func risenFromNothing() async throws {
        var run = WrittenRun(name: "two")
        for block in 0..<15 {
            for (side, value) in [("base", 0.0), ("head", 3000.0)] {
                run.add(.engine, block: block, .rounds, 1, side: side, phase: "", stat: "total")
                run.add(.engine, block: block, .inversions, value, side: side, phase: "", stat: "total")
            }
        }
        try run.write(to: results)
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "inversions", "max_regression": 0.1}]}"#, to: "p.json")
        let gate = try await OpBenchProcess.run(["gate", "--ab", "two", "--policy", "p.json"], in: folder)
        #expect(gate.status == 2, "\(gate.errors)")
    }
}

/// `opbench run --for-gate`
struct ForGateTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "little", "summary": "s", "shape": "independent", "parameters": {"items": 20, "work_ns": 0},
             "backends": ["engine", "dispatch"]}
            """, to: "w.json")
    }

    @Test(
        "with another way to say the same: refused",
        arguments: [
            ["--for-gate", "--quick"], ["--for-gate", "--metric", "latency"], ["--for-gate", "--time-budget", "1m"],
            ["--policy", "p.json"],
        ])
    func refused(options: [String]) {
        #expect(throws: (any Error).self) { try OpBench.parseAsRoot(["run"] + options + ["w.json"]) }
    }

    @Test("a policy decides kinds and blocks; its mistakes are told with those of the workloads")
    func policy() throws {
        let file = folder.root + "/w.json"
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "start_latency", "max_regression": 0.1, "min_blocks": 9}]}"#,
            to: "p.json")
        let policy = folder.root + "/p.json"
        let command = try ListCommand.parse(["--for-gate", "--policy", policy, file])
        let (selection, blocks) = try command.gate.load(command.selection, command.plan)
        #expect(selection.specs[0].sampleKinds == [.latency] && blocks == [.latency: 9])
        let more = try ListCommand.parse(["--for-gate", "--blocks", "30", "--backend", "engine", file])
        let standard = try more.gate.load(more.selection, more.plan)
        #expect(standard.blocks == [.throughput: 30])
        #expect(standard.selection.warnings.contains { $0.contains("dispatch") })
        try folder.write(#"{"version": 1, "rules": [{"metric": "tim", "max_regression": -1}]}"#, to: "p.json")
        try folder.write(#"{"name": "W"}"#, to: "w.json")
        let errors = try #require(throws: InputErrors.self) { try command.gate.load(command.selection, command.plan) }
        #expect(errors.errors.map(\.path) == ["$", "$.name", "$.rules[0].max_regression", "$.rules[0].metric"])
    }

    @Test("of the backends it takes those that are judged and those of their ratios, or those that are named")
    func backends() throws {
        try folder.write(
            """
            {"name": "little", "summary": "s", "shape": "independent", "parameters": {"items": 20, "work_ns": 0},
             "backends": ["serial", "engine", "foundation", "dispatch"]}
            """, to: "w.json")
        let command = try ListCommand.parse(["--for-gate", folder.root + "/w.json"])
        let needed = try command.gate.load(command.selection, command.plan).selection
        #expect(needed.specs.map(\.backends) == [[.engine, .dispatch]])
        let named = try ListCommand.parse(["--for-gate", "--backend", "foundation", folder.root + "/w.json"])
        let selection = try named.gate.load(named.selection, named.plan).selection
        #expect(selection.specs.map(\.backends) == [[.foundation]])
    }

    @Test("what it takes lets the default gate reach a verdict: no figure is short of blocks", .slow)
    func gate() async throws {
        for name in ["before", "after"] {
            let result = try await OpBenchProcess.run(
                ["run", "--for-gate", "--run-id", name, "--no-progress", "w.json"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let samples = try CSVFile.read(SampleRow.self, file: folder.root + "/results/before/samples.csv")
        #expect(Set(samples.filter { $0.metric == "time" && $0.phase == "total" }.map(\.block)).count == 15)
        #expect(!samples.contains { $0.metric == "start_latency" })
        let gate = try await OpBenchProcess.run(
            ["gate", "--baseline", "before", "--candidate", "after", "--csv", "compare.csv"], in: folder)
        #expect([0, 2, 7].contains(gate.status), "\(gate.errors)")
        let judged = try CSVFile.read(CompareRow.self, file: folder.root + "/compare.csv").filter {
            $0.verdict != .unjudged
        }
        let counts: Set = ["allocations", "unreleased_bytes"]
        #expect(Set(judged.map(\.metric)).subtracting(counts) == ["time_ratio", "cpu_time_ratio"])
        #expect(judged.allSatisfy { counts.contains($0.metric) || $0.adjustedProbability != nil })
        let list = try RunList(in: folder.root + "/results")
        #expect(Set(list.rows.map(\.name)) == ["before", "after"] && list.rows.allSatisfy { $0.state == .finished })
        #expect(list.rows.allSatisfy { $0.blocks == 15 && $0.badSamples == 0 })
    }
}
