import Foundation
import OpBenchModel
import Synchronization
import TestSupport
import Testing

@testable import OpBenchRunner

/// Two interleaved builds: the plan, the programs that take the samples, and the cells that continue.
@Suite struct SidesTests {
    private static func build(_ path: String) -> BuildFacts {
        BuildFacts(
            path: path, bytes: 1, modified: 1, sha256: nil,
            description: BuildDescription(allocator: "a", configuration: "release", compiler: "c"))
    }

    static let builds = ComparedBuilds(
        base: build("/old"), head: build("/new"), injected: InjectedDefect(slowdown: 0.25, allocations: 2))

    private func plan(_ folder: String = "", resume: Bool = false) throws -> RunPlan {
        let spec = try Fixture.spec(
            "independent", #"{"items": [10, 20]}"#, backends: ["engine", "serial"],
            more: #", "sample_kinds": ["throughput", "memory"]"#)
        var options = RunOptions(directory: folder, runID: "run", resume: resume)
        options.hasSides = true
        (options.refs, options.settings) = (ComparedRefs(base: "main", head: "HEAD"), ["items=10,20"])
        // The larger cell is decided at once.
        options.goesOn = { rows in Set(rows.map(\.cellID).filter { $0.contains("items=10") }) }
        return try RunPlan(specs: [spec], options: options)
    }

    @Test func `the hash of this program equals its file's`() async throws {
        try await #require(BuildFacts.own()).checkUnchanged()
    }

    @Test func `a program or git that gives no answer is not waited for`() async throws {
        let path = "\(try Fixture.folder())/endless"
        ExecutableFile.writeScript("sleep 1000", to: path)
        let program = await #expect(throws: InputError.self) { _ = try await BuildFacts.ask(path, seconds: 0.1) }
        #expect(program?.file == path && program?.message.contains("0.1 s") == true)
        let git = await #expect(throws: BuildError.self) {
            _ = try await Git.run(["-c", "alias.endless=!sleep 1000", "endless"], in: "/", seconds: 0.1)
        }
        #expect(git?.message.contains("0.1 s") == true)
    }

    @Test func `every block has both sides of every backend, adjacent, and neither always comes first`() throws {
        let samples = try plan().samples.filter { $0.kind == .throughput }
        let blocks = Dictionary(grouping: samples) { "\($0.cell.id) \($0.block)" }
        #expect(blocks.count == 2 * 40)
        for block in blocks.values {
            let ordered = block.sorted { $0.position < $1.position }
            #expect(ordered.map(\.position) == [0, 1, 2, 3])
            for pair in [ordered[0...1], ordered[2...3]] {
                #expect(Set(pair.map(\.backend)).count == 1)
                #expect(Set(pair.map(\.side)) == [.base, .head])
            }
        }
        #expect(Set(samples.filter { $0.position == 0 }.map(\.side)) == [.base, .head])
    }

    @Test func `blocks come in stages of 7, 15, 25 and 40, each stage complete before the next`() throws {
        let samples = try plan().samples
        #expect(samples.map(\.stage) == samples.map(\.stage).sorted())
        for sample in samples {
            let expected = sample.kind == .throughput ? [7, 15, 25].count { sample.block >= $0 } : 0
            #expect(sample.stage == expected)
        }
        #expect(samples.contains { $0.block == 39 })
    }

    @Test func `other judged figures come in the same stages as throughput`() throws {
        var options = RunOptions()
        options.hasSides = true
        let spec = try Fixture.spec("open_loop", #"{"rate": 1000, "duration_ns": 1000000}"#)
        options.stagedKinds = [spec.name: [.latency]]
        let blocks = try RunPlan(specs: [spec], options: options).samples.filter { $0.kind == .latency }
        #expect(Set(blocks.map(\.block)) == Set(0..<40))
        #expect(blocks.allSatisfy { sample in sample.stage == [7, 15, 25].count { sample.block >= $0 } })
    }

    @Test func `a given number of blocks applies to every cell, without stages`() throws {
        var options = RunOptions(blocks: 4)
        options.hasSides = true
        let plan = try RunPlan(specs: [Fixture.spec("chain", #"{"depth": 3}"#)], options: options)
        #expect(plan.samples.allSatisfy { $0.stage == 0 && $0.block < 4 })
        #expect(options.stages == [4])
    }

    @Test func `each side's samples are taken by its build, and head's include the injected work`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder)
        let seen = Mutex<[String: Set<Double>]>([:])
        _ = try await runner(plan) { request, executable in
            seen.withLock { _ = $0[executable, default: []].insert(request.kernel.iterationsPerNanosecond) }
        }.run { _ in }
        let kernels = seen.withLock { $0 }
        #expect(Set(kernels.keys) == ["/old", "/new"])
        let base = try #require(kernels["/old"]?.first)
        #expect(kernels["/old"] == [base])
        // The engine's samples; the loop's are unchanged.
        #expect(kernels["/new"] == [base, base * 1.25])
        let facts = try RunFacts.decode("\(folder)/run/run.json")
        #expect(facts.builds == Self.builds && facts.stages == [7, 15, 25, 40])
        #expect(facts.refs?.base == "main" && facts.refs?.head == "HEAD" && facts.settings == ["items=10,20"])
    }

    @Test func `layouts take turns, block by block, and their seeds are in the rows`() async throws {
        let folder = try Fixture.folder()
        var builds = Self.builds
        let seeds = ProgramLayout.seeds(3)
        builds.base.layouts = seeds.base.map { ProgramLayout(seed: $0, path: "/old/\($0)") }
        builds.head.layouts = seeds.head.map { ProgramLayout(seed: $0, path: "/new/\($0)") }
        let plan = try plan(folder)
        let seen = Mutex<Set<String>>([])
        _ = try await runner(plan, by: .two(builds)) { _, executable in
            seen.withLock { _ = $0.insert(executable) }
        }.run { _ in }
        #expect(seen.withLock { $0 } == ["/old/1", "/old/3", "/old/5", "/new/2", "/new/4", "/new/6"])
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder)/run/samples.csv")
        #expect(!rows.isEmpty)
        for row in rows { #expect(row.layout == 2 * (row.block % 3) + (row.side == "base" ? 1 : 2)) }
        #expect(try RunFacts.decode("\(folder)/run/run.json").builds == builds)
        let other = try self.plan(folder, resume: true)
        await #expect(throws: InputError.self) { _ = try await runner(other) { _, _ in }.run { _ in } }
    }

    @Test func `a run of one build takes its layouts, and is not resumed by a program without them`() async throws {
        let folder = try Fixture.folder()
        let spec = try Fixture.spec("chain", #"{"depth": 3}"#)
        var options = RunOptions(blocks: 2, directory: folder, runID: "run")
        var build = Self.build("/own")
        build.layouts = [1, 3].map { ProgramLayout(seed: $0, path: "/own/\($0)") }
        let seen = Mutex<Set<String>>([])
        _ = try await runner(try RunPlan(specs: [spec], options: options), by: .one(build)) { _, executable in
            seen.withLock { _ = $0.insert(executable) }
        }.run { _ in }
        #expect(seen.withLock { $0 } == ["/own/1", "/own/3"])
        options.resume = true
        let plan = try RunPlan(specs: [spec], options: options)
        let own = SamplePrograms.own(await BuildFacts.own())
        await #expect(throws: InputError.self) { _ = try await runner(plan, by: own) { _, _ in }.run { _ in } }
        // Another commit's program is not one with other options.
        let facts = try RunFacts.decode("\(folder)/run/run.json")
        build.layouts = [1, 3].map { ProgramLayout(seed: $0, path: "/moved/\($0)") }
        let moved = facts.difference(from: plan, by: .one(build))
        build.layouts?.append(ProgramLayout(seed: 5, path: "/own/5"))
        let more = facts.difference(from: plan, by: .one(build))
        #expect(moved != nil && more != nil && moved != more)
    }

    @Test func `only undecided cells continue, and a resumed run takes nothing more`() async throws {
        let folder = try Fixture.folder()
        let plan = try plan(folder)
        let totals = Mutex<[Int]>([])
        let first = try await runner(plan) { _, _ in }.run { event in
            if case .narrowed(let total, _) = event { totals.withLock { $0.append(total) } }
        }
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder)/run/samples.csv").filter {
            $0.metric == "status" && $0.sampleID.hasSuffix("throughput") && $0.backend == .engine
        }
        let counts = Dictionary(grouping: rows) { "\($0.cellID) \($0.side)" }.mapValues(\.count)
        #expect(counts == ["w items=10 base": 40, "w items=10 head": 40, "w items=20 base": 7, "w items=20 head": 7])
        #expect(totals.withLock { $0 } == [Int](repeating: first.samplesTaken, count: 3))
        let again = try await runner(try self.plan(folder, resume: true)) { _, _ in }.run { _ in }
        #expect(again.samplesTaken == 0)
    }

    @Test func `a run is not resumed with other builds, nor on another machine`() async throws {
        let folder = try Fixture.folder()
        _ = try await runner(try plan(folder)) { _, _ in }.run { _ in }
        let other = ComparedBuilds(
            base: Self.build("/old"), head: Self.build("/newer"),
            injected: InjectedDefect(slowdown: 0.25, allocations: 2))
        let resumed = try plan(folder, resume: true)
        await #expect(throws: InputError.self) {
            _ = try await runner(resumed, by: .two(other)) { _, _ in }.run { _ in }
        }

        let file = "\(folder)/run/run.json"
        let text = SystemFile.text(file).replacingOccurrences(of: OpBenchRunner.Host.read().hostClass, with: "another")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        await #expect {
            _ = try await runner(resumed) { _, _ in }.run { _ in }
        } throws: {
            "\($0)".contains("\"another\"")
        }
    }

    @Test func `omissions apply to both sides`() throws {
        var options = RunOptions()
        options.hasSides = true
        let spec = try Fixture.spec("chain", #"{"depth": 3, "queues": 2}"#, backends: ["engine", "concurrency"])
        let plan = try RunPlan(specs: [spec], options: options)
        #expect(plan.omissions.map(\.side) == [.base, .head])
    }

    @Test func `programs other than opbench are rejected by name`() async throws {
        for program in ["/bin/true", "/nonexistent/opbench", "/etc/passwd", "/tmp"] {
            await #expect {
                _ = try await ComparedBuilds.examine(base: program, head: program)
            } throws: {
                ($0 as? InputError)?.file == program
            }
        }
    }

    private func runner(
        _ plan: RunPlan, by programs: SamplePrograms = .two(Self.builds),
        _ look: @escaping @Sendable (SampleRequest, String) -> Void
    ) -> PlanRunner {
        PlanRunner(
            plan: plan, by: programs, readCovariates: { Covariates() },
            take: { request, executable in
                look(request, executable)
                var report = SampleReport()
                report.add(.time, "total", 1, phase: "total", operations: 10)
                return ChildResult(ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
            })
    }
}
