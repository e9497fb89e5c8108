import Foundation
import OpBenchBackends
import OpBenchModel
import OpBenchProfile
import TestSupport
import Testing

@testable import OpBenchRunner

@Suite("Instructions by callgrind", .serialized) struct CallgrindTests {
    @Test func `missing tools are reported with a remedy before anything runs`() throws {
        let answer = Callgrind(program: "/nowhere/valgrind").means()
        #expect(answer.means == nil && answer.words.contains(answer.lack))
        let error = #expect(throws: InputError.self) { try answer.require(by: "--instructions") }
        #expect(error?.file == "--instructions" && error?.remedy.contains("apt-get install valgrind") == true)
        #expect(throws: Never.self) { try ProfileMeans.Answer(.callgrind).require(by: "--instructions") }
    }

    @Test func `a failing valgrind is reported with its own message`() throws {
        let folder = try Fixture.folder()
        func answer(_ script: String) -> ProfileMeans.Answer {
            let program = "\(folder)/valgrind"
            ExecutableFile.writeScript(script, to: program)
            return Callgrind(program: program).means()
        }
        let failing = answer("echo 'valgrind: failed to start tool callgrind' >&2; exit 1")
        #expect(failing.means == nil && !failing.remedy.isEmpty)
        #expect(failing.lack.contains("valgrind: failed to start tool callgrind"))
        #expect(answer("kill -9 $$").lack.contains("SIGKILL"))
        #expect(answer("exit 0").means == .callgrind)
    }

    @Test func `a tool runs the program in the sample's process`() async throws {
        let child = ChildProcess(executable: "/bin/echo", tool: ["env", "LC_ALL=C"])
        let result = try await child.run(request: [], environment: [:], timeoutSeconds: 60)
        #expect(result.ending == .exited(0))
        #expect(String(decoding: result.output, as: UTF8.self) == "__sample\n")
    }

    @Test func `a build that does not understand the order is named`() async throws {
        let program = "\(try Fixture.folder())/opbench"
        ExecutableFile.writeScript("exit 64", to: program)
        let taker = ProfileTaker(
            target: ProfileTarget(cell: try Fixture.cell("independent"), backend: .engine), kernel: Fixture.kernel,
            options: ProfileOptions(directory: ""), means: ProfileMeans(.init()),
            child: ChildProcess(executable: program), stage: try ProfileFolder(try Fixture.folder()).stage())
        let failure = await #expect(throws: ProfileFailure.self) {
            try await taker.take(.instructions, limits: .init(operations: 1, rounds: 1))
        }
        #expect(failure?.description.contains(program) == true)
    }

    @Test func `a missing profile is reported`() throws {
        let folder = try WrittenFolder(try Fixture.folder())
        #expect(throws: ProfileFailure.self) { try Callgrind.read(rounds: 1, from: folder) }
    }

    /// The profile of one round, with a function that executed this many instructions.
    private static func file(_ counts: [Int]) -> String {
        let lines = counts.enumerated().map { "fn=(\($0 + 1)) f\($0)\n1 \($1)\n" }
        return "events: Ir\n" + lines.joined() + "totals: \(counts.reduce(0, +))\n"
    }

    @Test func `the round with the fewest instructions counts, with all its phases`() throws {
        let folder = try WrittenFolder(try Fixture.folder())
        for (number, counts) in [[50], [20, 7], [40], [30], [10], [90]].enumerated() {
            try folder.replace("callgrind.\(number + 1)", by: Self.file(counts))
        }
        #expect(try Callgrind.read(rounds: 6, from: folder).total == 10)
        let phased = try Callgrind.read(rounds: 3, phases: 2, from: folder)
        #expect(phased.total == 70)
        #expect(phased.functions().map(\.own) == [70])
        #expect(throws: ProfileFailure.self) { try Callgrind.read(rounds: 7, from: folder) }
        try folder.replace("callgrind.3", by: "events: Ir\n")
        #expect(throws: StackFileError.self) { try Callgrind.read(rounds: 6, from: folder) }
    }

    /// A 64-bit file whose sections have these names.
    private static func program(_ names: String) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 192 + names.utf8.count)
        bytes.replaceSubrange(0..<6, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        // Headers of 64 bytes from 64 on; the second is that of the names, which begin at 192.
        bytes[0x28] = 64
        bytes[0x3A] = 64
        bytes[0x3E] = 1
        bytes[128 + 0x18] = 192
        bytes[128 + 0x20] = UInt8(names.utf8.count)
        bytes.replaceSubrange(192..., with: names.utf8)
        return bytes
    }

    @Test func `a copy has the program's symbols, but no debug information that a tool would find`() throws {
        let folder = try Fixture.folder()
        func copy(_ bytes: [UInt8], _ name: String) throws -> [UInt8] {
            try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
            let copy = try UndebuggedCopy(of: "\(folder)/\(name)", at: "\(folder)/copy of \(name)")
            #expect(copy.environment["LD_LIBRARY_PATH"]?.hasSuffix(folder) == true)
            return [UInt8](try Data(contentsOf: URL(filePath: copy.path)))
        }
        let program = Self.program("\0.text\0.symtab\0.debug_info\0.gnu_debuglink\0.rela.debug_line\0")
        let expected = Self.program("\0.text\0.symtab\0.xebug_info\0.gnu_xebuglink\0.rela.xebug_line\0")
        #expect(try copy(program, "program") == expected)
        for (name, bytes) in [
            ("script", Array("#!/bin/sh\n# debug\n".utf8)), ("short", Array(program.prefix(100))),
            ("header", Array(program.prefix(64))), ("empty", []),
            ("odd", program.prefix(0x28) + [UInt8](repeating: 0xFF, count: 152)),
        ] {
            #expect(try copy(bytes, name) == bytes)
        }
        #expect(throws: DiskError.self) { try UndebuggedCopy(of: "\(folder)/none", at: "\(folder)/other") }
        #expect(throws: DiskError.self) { try UndebuggedCopy(of: "\(folder)/program", at: "\(folder)/no/where") }
    }

    @Test func `the way of counting instructions is noted, also if one side's turn failed`() {
        func sample(_ operations: Int?) -> ExplainedSample {
            var sample = ExplainedSample(time: 1, cpuTime: 1)
            sample.instructions = operations.map { .init(StackProfile(unit: .instructions), operations: $0) }
            return sample
        }
        func note(_ operations: Int?...) -> String? {
            Explainer.note(onInstructionsOf: operations.map(sample), rounds: 10)
        }
        let notes = [note(2000, 2000), note(2000, nil, 2000, nil)].compactMap(\.self)
        Golden("instructions-note").expect(notes.joined(separator: "\n"), "both turns of both sides, one turn of two")
        #expect(note(nil, nil) == nil)
    }

    @Test func `the number of counted operations fits the seconds available to callgrind`() {
        func operations(_ nanoseconds: Double) -> Int {
            ProfileOrder.Limits.fitting(cpuNanosecondsPerOperation: nanoseconds).operations
        }
        #expect([0, 500, 100_000, 1e7, 1e9].map(operations) == [2000, 2000, 50, 10, 10])
    }

    private static func answer(
        _ factory: BackendFactory, _ plan: WorkloadPlan, _ limits: ProfileOrder.Limits
    ) async throws -> ProfileAnswer {
        let order = ProfileOrder(
            recorder: .instructions, folder: "/nowhere", targetNanoseconds: 1, limits: limits)
        let trial = Trial(
            plan: plan, factory: factory, flavour: .throughput, kernel: Fixture.kernel, targetNanoseconds: 1)
        return try await Fixture.onOwnThread { Result { try ProfileTrial(trial: trial, order: order).run() } }.get()
    }

    @Test func `a counted sample runs a number of rounds of a shortened plan, however long they take`() async throws {
        let plan = try Fixture.plan("independent", #"{"items": 5000, "work_ns": 0}"#)
        let answer = try await Self.answer(
            try #require(BackendFactory.named(.engine)), plan, .init(operations: 70, rounds: 4))
        #expect(answer.report.status == .ok, "\(answer.report.notes)")
        #expect(answer.marks.count == 4 && answer.operations == 280 && answer.firstOperations == 70)
    }

    @Test func `a shortened plan does its work in every shape`() async throws {
        let factory = try #require(BackendFactory.named(.engine))
        for (shape, parameters) in Fixture.triedShapes {
            let plan = try Fixture.plan(shape, parameters)
            let answer = try await Self.answer(factory, plan, .init(operations: 20, rounds: 1))
            let which: Comment = "\(shape) \(parameters): \(answer.report.notes)"
            #expect(answer.report.status == .ok, which)
            #expect(answer.operations > 0 && answer.operations <= plan.operationCount, which)
            if plan.operationCount > 40 { #expect(answer.operations < plan.operationCount, which) }
        }
    }
}
