import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchRunner

/// The surroundings of opbench and its samples; scripts/tests/test_surroundings.py tests the program itself.
@Suite struct SurroundingsTests {
    private static let answer = "{\"text\":\"a\\nb\"}"

    @Test(
        "An answer is the last complete record, whatever else was printed",
        arguments: [
            ("\u{1E}\(answer)\n", answer), ("loaded\n\u{1E}\(answer)\n", answer),
            ("loaded\u{1E}\(answer)\nbye\n", answer),
            ("\u{1E}{}\n\u{1E}\(answer)\n", answer), ("\u{1E}{\"text\":", ""), ("loaded\n", "loaded\n"), ("", ""),
            (answer, answer),
        ])
    func record(output: String, json: String) {
        #expect(AnswerRecord.json(in: Array(output.utf8)) == Data(json.utf8))
    }

    @Test("An answer is on one line, and its first byte occurs nowhere else")
    func oneRecord() throws {
        let bytes = try AnswerRecord.bytes(of: ["a\n\u{1E}": "\u{1E}\n"])
        #expect(bytes.first == 0x1E && bytes.last == 0x0A)
        #expect(!bytes.dropFirst().contains(0x1E) && !bytes.dropLast().contains(0x0A))
        let read = try JSONDecoder().decode([String: String].self, from: AnswerRecord.json(in: bytes))
        #expect(read == ["a\n\u{1E}": "\u{1E}\n"])
    }

    @Test("A sample whose library printed has answered; one that left half an answer has not")
    func sample() throws {
        func status(_ output: [UInt8]) -> SampleStatus {
            SampleReport(ChildResult(ending: .exited(0), output: output, diagnostics: ""), timeoutSeconds: 1).status
        }
        let answer = try AnswerRecord.bytes(of: SampleReport())
        #expect(status(Array("loaded\n".utf8) + answer) == .ok)
        #expect(status(answer.dropLast()) == .crashed)
        #expect(status(Array("loaded\n".utf8)) == .crashed)
    }

    @Test("Variables that change the costs of any program are known")
    func variables() {
        let found = SampleEnvironment.found(in: [
            "LD_PRELOAD": "x.so", "MALLOC_CONF": "prof:true", "MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": "glibc.a=b",
            "LD_BIND_NOW": "", "HOME": "/", "SWIFT_VERSION": "6", "SWIFT_DEBUG_ENABLE_MALLOC_SCRIBBLE": "1",
        ])
        #expect(
            found.keys.sorted() == [
                "GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_ARENA_MAX", "MALLOC_CONF", "SWIFT_DEBUG_ENABLE_MALLOC_SCRIBBLE",
            ])
        #expect(SampleEnvironment.warnings(on: found).count == 1)
        #expect(SampleEnvironment.warnings(on: ["LD_PRELOAD": "x.so"]) == [])
        #expect(ChildProcess.environment["MALLOC_CONF"] == "")
    }

    @Test("The machine's own options of jemalloc are the target of a dangling link")
    func machineOptions() throws {
        let folder = try Fixture.folder()
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/conf", withDestinationPath: "narenas:1,prof:true")
        #expect(Allocator.machineOptions("\(folder)/conf") == "narenas:1,prof:true")
        #expect(Allocator.machineOptions("\(folder)/none") == nil)
        #expect(HostKind.shortened(allocator: "jemalloc 5.3.0-0-g54eaed, narenas:1") == "jemalloc 5.3.0, narenas:1")
    }

    @Test("Nothing begins if /proc does not describe this process")
    func proc() throws {
        try SystemRoom.checkProc()
        let folder = try Fixture.folder()
        #expect(throws: ScarcityError.self) { try SystemRoom.checkProc(folder) }
        #expect(throws: ScarcityError.self) { try SystemRoom.checkProc("\(folder)/none") }
    }
}
