import Foundation
import OpBenchBackends
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchRunner

@Suite("Instructions by callgrind", .serialized) struct CallgrindTests {
    @Test func `missing tools are reported with a remedy before anything runs`() throws {
        let answer = Callgrind(program: "/nowhere/valgrind").means()
        #expect(answer.means == nil && answer.words.contains(answer.lack))
        let error = #expect(throws: InputError.self) { try answer.require(by: "--metric instructions") }
        #expect(error?.file == "--metric instructions" && error?.remedy.contains("apt-get install valgrind") == true)
        #expect(throws: Never.self) { try ProfileMeans.Answer(.callgrind).require(by: "--metric instructions") }
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
            try await taker.take(.trace)
        }
        #expect(failure?.description.contains(program) == true)
    }

    @Test func `the last line has a file's total`() {
        #expect(CallgrindCounter.total(of: Array("events: Ir\nfn=f\n1 12\n\ntotals: 12\n".utf8)) == 12)
        for text in ["", "totals: \n", "totals: x\n", "totals: -1\n", "totals: 1\n1 2\n", "1 2\n"] {
            #expect(CallgrindCounter.total(of: Array(text.utf8)) == nil, "\(text)")
        }
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

    @Test func `the number of counted operations fits the seconds available to callgrind`() {
        let counts = [0, 500, 100_000, 1e7, 1e9].map { InstructionTrial.operations(cpuNanosecondsEach: $0) }
        #expect(counts == [2000, 2000, 50, 10, 10])
    }

    @Test func `a shortened plan does its work in every shape`() async throws {
        let factory = try #require(BackendFactory.named(.engine))
        for (shape, parameters, _) in Fixture.triedShapes(on: .engine) {
            let plan = try Fixture.plan(shape, parameters)
            let short = WarmUp.shortened(plan, to: 20)
            let violations = await Fixture.onOwnThread {
                let body = OperationBody(plan: short, kernel: Fixture.kernel, mode: .marked)
                let producers = Producers(short)
                defer {
                    producers.dismiss()
                    body.deallocate()
                }
                _ = Round.run(short, by: factory, body, producers: producers)
                return short.violations(of: body.traces)
            }
            #expect(violations.isEmpty, "\(shape) \(parameters): \(violations)")
            #expect(short.operationCount > 0 && short.operationCount <= plan.operationCount)
            if plan.operationCount > 40 { #expect(short.operationCount < plan.operationCount) }
        }
    }
}
