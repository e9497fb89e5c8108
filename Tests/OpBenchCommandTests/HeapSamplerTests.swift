import Foundation
import OpBenchBackends
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile
import TestSupport
import Testing

@testable import OpBenchRunner

/// Runs the built program: jemalloc profiles only processes that were started for profiling.
@Suite("Allocations by jemalloc's profiler", .onOwnThreads)
struct HeapSamplerTests {
    private func output(
        _ flavour: SampleFlavour, _ profile: ProfileOrder?, _ environment: [String: String], backend: String
    ) async throws -> Data {
        let folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "w", "summary": "a test", "shape": "independent", "parameters": {"items": 300, "body": "allocate"},
             "backends": ["\(backend)"]}
            """, to: "w.json")
        let cell = try #require(WorkloadSpec.load(file: folder.root + "/w.json").cells.first)
        var request = SampleRequest(
            cell: cell, backend: BackendID(rawValue: backend), flavour: flavour, targetNanoseconds: 1_000_000,
            kernel: WorkKernel(iterationsPerNanosecond: 0.5), parent: getpid())
        request.profile = profile
        let result = try await ChildProcess(executable: OpBenchProcess.binary).run(
            request: Array(JSONEncoder().encode(request)), environment: environment, timeoutSeconds: 1000)
        #expect(result.ending == .exited(0), "\(result.diagnostics)")
        return AnswerRecord.json(in: result.output)
    }

    /// A sample of several rounds, however slow the machine is.
    private func profiled(_ backend: String, in folder: ScratchFolder, _ environment: [String: String]) async throws
        -> ProfileAnswer
    {
        var target: Int64 = 200_000_000
        while true {
            let order = ProfileOrder(recorder: .heap, folder: folder.root, targetNanoseconds: target)
            let data = try await output(.throughput, order, environment, backend: backend)
            let answer = try JSONDecoder().decode(ProfileAnswer.self, from: data)
            if answer.marks.count > 1 || target > 100_000_000_000 { return answer }
            target *= 8
        }
    }

    private func heap(_ name: String, in folder: ScratchFolder) throws -> HeapProfile {
        try HeapProfile(Array(Data(contentsOf: URL(fileURLWithPath: folder.root + "/" + name))))
    }

    /// A profile has only a part of the allocations of a thread's start, and none of a thread that existed only between
    /// the dumps. So only the counts of a backend without threads are judged on both sides.
    @Test(
        "From the second round on, counts equal jemalloc's counters within 2 per round and 2 per new stack", .slow,
        arguments: ["serial", "engine", "concurrency"])
    func counts(_ backend: String) async throws {
        let folder = try ScratchFolder()
        let answer = try await profiled(backend, in: folder, HeapSampler.environment())
        #expect(answer.report.status == .ok)
        let counted = try folder.read(HeapSampler.countsFile).split { $0 == " " || $0 == "\n" }.compactMap { Int64($0) }
        try #require(counted.count == 2)
        let heaps = try [HeapSampler.liveFile, HeapSampler.allFile].map { try heap($0, in: folder) }
        var totals: [Int64] = []
        for heap in heaps {
            let named = try await Symbolizer().names(of: heap.lookUps, in: heap.map)
            #expect(named.notes == [])
            let profile = heap.profile(.allocations, of: \.all, named.symbols)
            #expect(
                ClassTable(profile, on: .engine).unknownCallersShare <= StackReport.mostUnknownCallers)
            totals.append(profile.total)
        }
        // A line for each stack on each thread, as "  t1: …".
        let threads = try [HeapSampler.liveFile, HeapSampler.allFile].map { file in
            try folder.read(file).split(separator: "\n").filter { $0.hasPrefix("  t") && !$0.hasPrefix("  t*") }
                .map { $0.prefix { $0 != ":" } }
        }
        let (later, new) = (answer.marks.count - 1, threads[1].count - threads[0].count)
        #expect(later > 0)
        #expect(totals[0] > 0 && counted[0] >= 300)
        let (all, profiled) = (counted[1] - counted[0], totals[1] - totals[0])
        let slack = Int64(2 * (later + new))
        #expect(profiled <= all + slack, "\(totals), counted \(counted)")
        #expect(profiled >= (backend == "serial" ? all - slack : all / 2), "\(totals), counted \(counted)")
    }

    @Test("Another process is instructed how to start")
    func notStarted() async throws {
        let folder = try ScratchFolder()
        #expect(throws: SamplerError.self) { try HeapSampler(folder: folder.root).begin() }
    }

    /// Debian has it in libjemalloc-dev.
    @Test(
        "jeprof reads the same figures from the same dump", .slow,
        .enabled(if: access("/usr/bin/jeprof", X_OK) == 0, "no jeprof here"))
    func jeprof() async throws {
        // Each run of jeprof reads all symbols of all libraries for many seconds.
        let comparisons: [(Int, WeightUnit, KeyPath<HeapProfile.Site, HeapProfile.Figures>, String)] = [
            (0, .allocations, \.all, "--alloc_objects"), (9, .bytes, \.live, "--inuse_space"),
        ]
        var isCompared = false
        for (sample, unit, figures, option) in comparisons {
            let folder = try ScratchFolder()
            _ = try await profiled("engine", in: folder, HeapSampler.environment(lgSample: sample))
            let heap = try heap(HeapSampler.allFile, in: folder)
            let symbols = try await Symbolizer().names(of: heap.lookUps, in: heap.map).symbols
            let result = try await Program(
                "/usr/bin/jeprof",
                ["--text", "--show_bytes", option, OpBenchProcess.binary, folder.root + "/" + HeapSampler.allFile]
            ).printed(limit: 1 << 22, seconds: nil)
            let lines = result.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            let profile = heap.profile(unit, of: figures, symbols)
            // For nothing it prints nothing.
            if profile.total == 0, lines.isEmpty { continue }
            let total = try #require(lines.first { $0.first == "Total:" }.flatMap { Double($0[1]) })
            // Sampled figures are rounded, in our output for each site.
            let slack = sample == 0 ? 0 : Double(heap.sites.count) + 1
            #expect(abs(total - Double(profile.total)) <= slack, "\(option)")
            for function in profile.functions() where function.frame.symbol.hasPrefix("swift_") {
                guard let line = lines.first(where: { $0.count == 6 && $0[5] == function.frame.symbol }) else {
                    continue
                }
                isCompared = true
                #expect(abs((Double(line[3]) ?? -1) - Double(function.withCallees)) <= slack, "\(line)")
            }
        }
        #expect(isCompared)
    }
}
