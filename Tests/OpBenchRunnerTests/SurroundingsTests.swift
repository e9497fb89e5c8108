import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchRunner

/// What surrounds opbench and its samples; the program itself is tried in scripts/tests/test_surroundings.py.
@Suite struct SurroundingsTests {
    @Test("The variables that change what any program costs are known")
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

    @Test("The machine's own options of jemalloc are the target of a link that leads nowhere")
    func machineOptions() throws {
        let folder = try Fixture.folder()
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/conf", withDestinationPath: "narenas:1,prof:true")
        #expect(Allocator.machineOptions("\(folder)/conf") == "narenas:1,prof:true")
        #expect(Allocator.machineOptions("\(folder)/none") == nil)
        #expect(HostKind.shortened(allocator: "jemalloc 5.3.0-0-g54eaed, narenas:1") == "jemalloc 5.3.0, narenas:1")
    }
}
