import Foundation
import OpBenchModel
import OpBenchProfile
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench profile` with the real program and real samples.
@Suite(.serialized)
struct ProfileTests {
    private static let small = """
        {"name": "small", "summary": "s", "shape": "chain",
         "parameters": {"depth": 50, "chains": 2, "work_ns": 100}, "backends": ["engine", "dispatch"]}
        """

    /// A sample that takes minutes, so that it is certainly running when something happens to it.
    private static let endless = """
        {"name": "endless", "summary": "s", "shape": "independent",
         "parameters": {"items": 500, "work_ns": 1000000000}, "backends": ["dispatch"]}
        """

    private func profile(
        _ words: [String], in folder: ScratchFolder, outputTo device: String? = nil,
        during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(
            ["profile", "--no-progress", "--seconds", "0.02"] + words, in: folder, outputTo: device, during: during)
    }

    @Test("a trace of each backend: a summary, and three files; no rows")
    func trace() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let result = try await profile(["--kind", "trace", "--output", "out", "small.json"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let cells = ["engine", "dispatch"].map { "out/small_chains=2_depth=50-\($0)" }
        #expect(
            Set(folder.contents())
                == Set(["small.json", "out"] + cells + cells.flatMap { ["\($0)/tail.json", "\($0)/trace.json"] }))
        // All operations, and a chain's span, which contains all of them.
        for fact in ["small chains=2 depth=50", "100", "50", cells[0], cells[1], "trace.json"] {
            #expect(result.output.contains(fact), "\(fact)")
        }
        let json = try JSONSerialization.jsonObject(with: Data(folder.read("\(cells[0])/trace.json").utf8))
        let events = try #require((json as? [String: Any])?["traceEvents"] as? [[String: Any]])
        let slices = events.filter { $0["ph"] as? String == "X" }
        #expect(slices.count { ($0["args"] as? [String: Any])?["operation"] != nil } == 100)
        let names = Set(events.compactMap { ($0["args"] as? [String: Any])?["name"] as? String })
        #expect(names.contains { $0.hasPrefix("engine normal ") }, "\(names)")
        #expect(names.contains("submitter 1"), "\(names)")
        let tails = try JSONDecoder().decode(Tails.self, from: Data(folder.read("\(cells[0])/tail.json").utf8))
        #expect(tails.groups.map(\.operations) == [100] && tails.groups.map(\.slow) == [3])
        // All of Dispatch's own threads have one name.
        let dispatch = try folder.read("\(cells[1])/trace.json")
        #expect(dispatch.contains("\"dispatch 1\"") && !dispatch.contains("-qos"))
    }

    @Test("threads that only wake workers, for example by resuming a queue, do not count as workers")
    func awake() async throws {
        let folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "storm", "summary": "s", "shape": "suspend_resume", "backends": ["engine"],
             "parameters": {"operations": 2000, "toggles": 5, "run_ns": 100000, "hold_ns": 1000000, "work_ns": 1000}}
            """, to: "storm.json")
        let result = try await profile(["--kind", "trace", "--output", "out", "storm.json"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let file = try #require(folder.contents().first { $0.hasSuffix("/trace.json") })
        let json = try JSONSerialization.jsonObject(with: Data(folder.read(file).utf8))
        let events = try #require((json as? [String: Any])?["traceEvents"] as? [[String: Any]])
        let workers = Set(
            events.filter { $0["name"] as? String == "thread_name" }
                .compactMap { ($0["args"] as? [String: Any])?["name"] as? String }
                .filter { $0.hasPrefix("engine normal ") })
        let most = events.filter { $0["ph"] as? String == "C" && $0["name"] as? String == "workers" }
            .compactMap { ($0["args"] as? [String: Any])?["value"] as? Int }.max()
        #expect(try #require(most) <= workers.count, "\(workers)")
    }

    @Test("a cell of each shape has a trace on a queue and by tasks, if they support it", .slow)
    func shapes() async throws {
        let folder = try ScratchFolder()
        let workloads = OpBenchProcess.root.path + "/workloads"
        let more = try FileManager.default.contentsOfDirectory(atPath: workloads + "/more").sorted()
        let files = more.filter { $0.hasSuffix(".json") && !$0.hasPrefix("stall") }.map { "\(workloads)/more/\($0)" }
        // Few operations: the test only checks that each shape can be traced.
        let specs = try WorkloadSpec.overriding(
            try WorkloadSpec.load(files: files),
            with: ["operations": [.integer(300)], "groups": [.integer(20)], "duration_ns": [.integer(20_000_000)]])
        #expect(Set(specs.map(\.shape)).count >= 11)
        let cells = specs.compactMap { $0.cells.first?.id }
        let filter = "^(\(cells.map(NSRegularExpression.escapedPattern).joined(separator: "|")))$"
        let result = try await profile(
            ["--kind", "trace", "--backend", "engine,concurrency", "--filter", filter]
                + ["--set", "operations=300", "--set", "groups=20", "--set", "duration_ns=20000000"]
                + ["--output", "out"] + files,
            in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(folder.contents().count { $0.hasSuffix("-engine/trace.json") } == cells.count, "\(result.output)")
    }

    @Test("CPU time by function, with the share that this machine can attribute", .slow)
    func cpu() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let result = try await profile(
            [
                "--kind", "cpu,heap,offcpu", "--backend", "engine", "--output", "out", "--set", "work_ns=20000",
                "small.json",
            ],
            in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains(/\n *workload: .*[0-9.]+ %/), "\(result.output)")
        let files = folder.contents()
        #expect(files.contains { $0.hasSuffix("-engine/cpu.folded") }, "\(files)")
        #expect(!files.contains { $0.hasSuffix(".data") || $0.hasSuffix(".stacks") || $0.hasSuffix(".heap") })
    }

    @Test("bad usage is rejected, and nothing is written")
    func refusals() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        var text = ""
        for line in [
            "--kind tarce small.json", "--backend nobody small.json", "--filter none small.json",
            "--output . small.json", "--output small.json small.json", "--seconds 0 small.json", "none.json",
        ] {
            let result = try await OpBenchProcess.run(
                ["profile"] + line.split(separator: " ").map(String.init), in: folder)
            #expect(result.status == 64 && folder.contents() == ["small.json"], "\(line)")
            text += "\(line)\n    \(result.errors)"
        }
        Golden("profile").expect(text, "refusals", replacing: [folder.root: "FOLDER"])
    }

    @Test("unsupported cells are reported, and are not failures")
    func unsupported() async throws {
        let folder = try ScratchFolder()
        try folder.write(
            #"{"name": "b", "summary": "s", "shape": "barriers", "parameters": {"operations": 50}, "backends": ["concurrency"]}"#,
            to: "b.json")
        let result = try await profile(["--kind", "trace", "--output", "out", "b.json"], in: folder)
        #expect(result.status == 0)
        #expect(result.errors.contains("unsupported"), "\(result.errors)")
        #expect(folder.contents() == ["b.json", "out"])
    }

    @Test("Ctrl-C leaves no half-written profile and no process")
    func interrupt() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.endless, to: "endless.json")
        let result = try await profile(["--kind", "trace", "--output", "out", "endless.json"], in: folder) { process in
            _ = await eventuallyTrue("its sample runs") { !Self.children(of: process).isEmpty }
            kill(process, SIGINT)
        }
        #expect(result.status == 130, "\(result.errors)")
        #expect(folder.contents() == ["endless.json", "out"])
    }

    @Test("a sample that is killed half way is reported, and leaves nothing")
    func killedSample() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.endless, to: "endless.json")
        let result = try await profile(["--kind", "trace", "--output", "out", "endless.json"], in: folder) { process in
            _ = await eventuallyTrue("its sample runs") { !Self.children(of: process).isEmpty }
            for child in Self.children(of: process) { kill(child, SIGKILL) }
        }
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains("SIGKILL"), "\(result.errors)")
        #expect(folder.contents() == ["endless.json", "out"])
    }

    @Test("output that cannot be written ends with 1")
    func fullDevice() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.small, to: "small.json")
        let result = try await profile(
            ["--kind", "trace", "--backend", "engine", "--output", "out", "small.json"], in: folder,
            outputTo: "/dev/full")
        #expect(result.status == 1 && !result.errors.isEmpty)
    }

    private static func children(of process: Int32) -> [Int32] {
        let text = (try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)) ?? ""
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        let all = threads.map {
            (try? String(contentsOfFile: "/proc/\(process)/task/\($0)/children", encoding: .utf8)) ?? ""
        }
        return (all + [text]).joined(separator: " ").split(separator: " ").compactMap { Int32($0) }
    }
}

/// `opbench explain`, with this program on both sides.
@Suite(.serialized)
struct ExplainTests {
    private static let busy = """
        {"name": "busy", "summary": "s", "shape": "independent",
         "parameters": {"items": 2000, "work_ns": 10000, "max_concurrent": 1}, "backends": ["engine"],
         "sample_kinds": ["throughput"]}
        """

    /// The run `two`, whose head is slower.
    private func measureTwoSides(of workload: String, in folder: ScratchFolder) async throws {
        try folder.write(workload, to: "busy.json")
        let binary = OpBenchProcess.binary
        let measured = try await OpBenchProcess.run(
            [
                "ab", binary, binary, "busy.json", "--no-progress", "--run-id", "two", "--blocks", "2",
                "--inject-slowdown", "1",
            ],
            in: folder)
        #expect(measured.status == 0, "\(measured.errors)")
    }

    /// The last output and Markdown of `explain`, which is repeated until it has what is expected: on a busy machine the
    /// CPU times of eight turns may overlap, which makes nothing significant. Each try writes into its own `graphs-…`.
    private func explain(
        _ words: [String], in folder: ScratchFolder, until isExpected: (String, String) -> Bool
    ) async throws -> (output: String, markdown: String) {
        let patience = Patience()
        var attempt = 0
        while true {
            attempt += 1
            let files = ["--markdown", "why-\(attempt).md", "--output", "explained-\(attempt)"]
            let result = try await OpBenchProcess.run(
                ["explain", "--no-progress", "--seconds", "0.05"] + files + words, in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let markdown = try folder.read("why-\(attempt).md")
            if isExpected(result.output, markdown) || patience.isOver() { return (result.output, markdown) }
        }
    }

    @Test("a slower work kernel is named first, and the unexplained parts have lines", .slow)
    func slowerWork() async throws {
        let folder = try ScratchFolder()
        try await measureTwoSides(of: Self.busy, in: folder)
        func function(_ output: String) -> String {
            output.split(separator: "\n").first { $0.hasPrefix("    ") }.map(String.init) ?? ""
        }
        func isKernel(_ output: String) -> Bool {
            function(output).contains("burn") || function(output).contains("WorkKernel")
        }
        let (output, markdown) = try await explain(["--filter", "busy", "two"], in: folder) { output, _ in
            let first = output.prefix { $0 != "\n" }
            #expect(first.hasPrefix("busy ") && first.contains(" 8 "), "\(output)")
            return isKernel(output)
        }
        #expect(isKernel(output), "\(output)")
        #expect(Self.unexplained(markdown) == 2)
        let files = folder.contents()
        for end in ["explanation.txt", "cpu-base.folded", "cpu-head.folded"] {
            #expect(files.contains { $0.hasSuffix("-engine-\(end)") }, "\(files)")
        }
    }

    /// The number of table rows that only have a difference.
    private static func unexplained(_ markdown: String) -> Int {
        markdown.matches(of: /\| [^|]+ \|  \|  \| [^|]+ \|/).count
    }

    @Test("runs that cannot be explained are rejected, and nothing is written")
    func refusals() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.busy, to: "busy.json")
        var text = ""
        func expectRefusal(of words: [String]) async throws {
            let refused = try await OpBenchProcess.run(
                ["explain", "--output", "explained", "--markdown", "why.md"] + words, in: folder)
            #expect(refused.status == 64)
            // The second run may have done different work, which causes a warning.
            text += refused.errors.split(separator: "\n").filter { $0.hasPrefix("Error: ") }.joined() + "\n"
        }
        try await expectRefusal(of: ["nothing"])
        for name in ["one", "other"] {
            let run = try await OpBenchProcess.run(["run", "--quick", "--run-id", name, "busy.json"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
        }
        try await expectRefusal(of: ["one"])
        // Three backends: without batches one has no figures.
        let run = try await OpBenchProcess.run(
            ["run", "--quick", "--run-id", "three", "--backend", "serial,engine,engine:counted", "busy.json"],
            in: folder)
        #expect(run.status == 0, "\(run.errors)")
        for words in [
            ["engine,engines"], ["engine"], ["engine,engine"], ["engine,serial,dispatch"], ["engine,foundation"],
            ["engine,engine:counted", "--filter", "busy"], ["engine,serial", "--filter", "absent"],
            ["engine,serial", "--backend", "engine"], ["engine,serial", "--policy", "p.json"],
            ["engine,serial", "one"],
        ] {
            try await expectRefusal(of: ["--between"] + words + ["three"])
        }
        // The run's program is now a different one.
        let description = try folder.read("results/one/run.json")
        let digits = try #require(description.firstMatch(of: /"sha256" : "([0-9a-f]{64})"/)).1
        try folder.write(
            description.replacingOccurrences(of: digits, with: String(repeating: "0", count: 64)),
            to: "results/one/run.json")
        try await expectRefusal(of: ["--filter", "busy", "one", "other"])
        try folder.write(
            description.replacingOccurrences(of: OpBenchProcess.binary, with: "/nonexistent/opbench"),
            to: "results/one/run.json")
        try await expectRefusal(of: ["--filter", "busy", "one", "other"])
        Golden("explain").expect(
            text, "refusals", replacing: [OpBenchProcess.binary: "opbench", folder.root: "FOLDER"])
        #expect(!folder.contents().contains { $0.hasPrefix("explained") || $0 == "why.md" })
    }

    @Test("--between ranks what two backends of one run do, with 0 for what only one of them does", .slow)
    func between() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.busy.replacing("10000", with: "0"), to: "busy.json")
        let run = try await OpBenchProcess.run(
            ["run", "--no-progress", "--run-id", "one", "--backend", "serial,engine", "--blocks", "8", "busy.json"],
            in: folder)
        #expect(run.status == 0, "\(run.errors)")
        func own(_ markdown: String) -> String? {
            markdown.split(separator: "\n").first { $0.hasPrefix("| class of code, engine |") }.map(String.init)
        }
        let (output, markdown) = try await explain(["--between", "serial,engine", "one"], in: folder) {
            output, markdown in
            #expect(
                markdown.split(separator: "\n").contains { $0.hasPrefix("| what | serial | engine |") }, "\(output)")
            return own(markdown) != nil
        }
        #expect(own(markdown)?.hasPrefix("| class of code, engine | 0 ns |") == true, "\(output)")
        #expect(!markdown.matches(of: /\| allocations by [^|]+ \| 0 \|/).isEmpty, "\(output)")
        #expect(folder.contents().contains { $0.hasSuffix("-serial-engine-explanation.txt") })
    }

    @Test("between two backends, the cells whose times differ most are chosen, whichever backend is faster")
    func chosenCells() throws {
        let folder = try ScratchFolder()
        var run = WrittenRun(name: "r")
        run.settings = ["depth=1,2,3,4,5,6,7,8"]
        let factors: [Double?] = [1, 2, 0.1, 3, 0.4, 1.5, 4, nil]
        for (place, factor) in factors.enumerated() {
            for block in 0..<8 {
                for (backend, factor) in [(.engine, 1), (.dispatch, factor)] as [(BackendID, Double?)] {
                    guard let factor else { continue }
                    let first = run.rows.count
                    run.add(backend, block: block, .time, factor * Double(100 + block))
                    for index in run.rows.indices[first...] {
                        run.rows[index].cellID = "w depth=\(place + 1)"
                        run.rows[index].parameters = ["depth": "\(place + 1)"]
                    }
                }
            }
        }
        try run.write(to: folder.root)
        let recorded = try MeasuredRun("r", in: folder.root)
        let rows = try recorded.rows(comparing: .engine, with: .dispatch)
        let cells = ExplainedCells(
            rows, of: recorded, between: ExplainedBackends(base: .engine, head: .dispatch))
        func ids(_ filter: String?) throws -> [String] {
            let filter = try filter.map { try CellFilter($0) }
            return try cells.chosen(filter: filter, backends: nil).targets.map(\.cell.id)
        }
        #expect(try ids(nil) == [3, 7, 4, 5, 2].map { "w depth=\($0)" })
        #expect(try cells.chosen(filter: nil, backends: nil).note != nil)
        #expect(try ids("depth=[168]") == [6, 1].map { "w depth=\($0)" })
        #expect(throws: InputError.self) { try ids("depth=8") }
    }
}
