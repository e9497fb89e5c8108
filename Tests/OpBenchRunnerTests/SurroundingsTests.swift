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
            "OPERATION_ENGINE_WORKERS": "1",
            "LD_BIND_NOW": "", "HOME": "/", "SWIFT_VERSION": "6", "SWIFT_DEBUG_ENABLE_MALLOC_SCRIBBLE": "1",
        ])
        #expect(
            found.keys.sorted() == [
                "GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_ARENA_MAX", "MALLOC_CONF", "OPERATION_ENGINE_WORKERS",
                "SWIFT_DEBUG_ENABLE_MALLOC_SCRIBBLE",
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

    @Test(
        "A machine's name has only plain characters",
        arguments: [("n1", true), ("a.b-c_D9", true), ("", false), ("a b", false), ("a/b", false), ("ü", false)])
    func machines(name: String, isGood: Bool) throws {
        #expect(((try? OpBenchRunner.Host.checkName(name)) != nil) == isGood)
        try OpBenchRunner.Host.checkName(OpBenchRunner.Host.ownName)
        try OpBenchRunner.Host.checkName(nil)
    }

    @Test("Facts are read where the kernel reports them")
    func facts() throws {
        let facts = Surroundings.read(
            root: try TemporaryFolder.make(files: [
                "proc/cpuinfo": "processor : 0\nmicrocode\t: 0x2b\nprocessor : 1\nmicrocode\t: 0x2b\n",
                "proc/self/status": "Name:\tx\nTHP_enabled:\t1\n",
                "proc/self/personality": "00000000\n", "proc/sys/kernel/randomize_va_space": "2\n",
                "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
                "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
                "sys/devices/system/cpu/vulnerabilities/meltdown": "Mitigation: PTI\n",
                "sys/devices/system/cpu/vulnerabilities/mds": "Not affected\n",
            ]))
        let expected: [SurroundingFact: String] = [
            .microcode: "0x2b", .hugePages: "madvise", .quota: "none", .addressRandomization: "on",
            .governor: "performance", .turbo: "off", .mitigations: "mds: Not affected; meltdown: Mitigation: PTI",
        ]
        for (fact, text) in expected { #expect(facts.text(of: fact) == text, "\(fact)") }
        // These come from system calls.
        for fact in [SurroundingFact.kernel, .cLibrary] { #expect(facts.text(of: fact)?.isEmpty == false) }
        #expect(facts.text(of: .compiler) == nil)
    }

    @Test("What the system does not report is absent")
    func absentFacts() throws {
        let facts = Surroundings.read(
            root: try TemporaryFolder.make(files: ["proc/cpuinfo": "microcode\t: 0xffffffff\n"]))
        let known = SurroundingFact.allCases.filter { facts.text(of: $0) != nil }
        #expect(known == [.kernel, .cLibrary])
    }

    @Test("A process may be without randomization and huge pages whatever the system has")
    func ofProcess() throws {
        let facts = Surroundings.read(
            root: try TemporaryFolder.make(files: [
                "proc/self/status": "THP_enabled:\t0\n", "proc/self/personality": "00040000\n",
                "proc/sys/kernel/randomize_va_space": "2\n",
                "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
            ]))
        #expect(facts[.hugePages] == "never" && facts[.addressRandomization] == "off")
    }

    @Test("Nothing begins if /proc does not describe this process")
    func proc() throws {
        try SystemRoom.checkProc()
        let folder = try Fixture.folder()
        #expect(throws: ScarcityError.self) { try SystemRoom.checkProc(folder) }
        #expect(throws: ScarcityError.self) { try SystemRoom.checkProc("\(folder)/none") }
    }
}
