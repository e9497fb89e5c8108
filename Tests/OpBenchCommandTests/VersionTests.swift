import Foundation
import Testing

@testable import OpBenchCommand
@testable import OpBenchRunner

/// What a build tells of itself.
struct VersionTests {
    private func build(_ commit: String?) -> BuildDescription {
        BuildDescription(allocator: "jemalloc 5.3", configuration: "release", compiler: "Swift 6.3", commit: commit)
    }

    @Test("--version tells the commit as it was told when it was built, the build and the allocator")
    func text() async throws {
        #expect(
            ProgramVersion.text(build("0123abc")) == """
                opbench 0.1.0
                commit: 0123abc
                build: release
                allocator: jemalloc 5.3
                compiler: Swift 6.3
                """)
        #expect(ProgramVersion.text(build("0123abc-dirty")).contains("\ncommit: 0123abc, and changes\n"))
        #expect(ProgramVersion.text(build(nil)).contains("\ncommit: unknown ("))
        let printed = try await OpBenchProcess.run(["--version"], in: try ScratchFolder())
        #expect(printed.status == 0 && printed.output == ProgramVersion.text(.own) + "\n")
    }

    @Test("a run's commit is the one that the build was told")
    func commits() {
        #expect(GitFacts(build("0123abc")) == GitFacts(commit: "0123abc", isDirty: false))
        #expect(GitFacts(build("0123abc-dirty")) == GitFacts(commit: "0123abc", isDirty: true))
        #expect(GitFacts(build(nil)) == nil)
    }

    @Test("a description of a build that knew of no commit is still understood")
    func former() throws {
        let text = #"{"protocol": 1, "allocator": "a", "configuration": "debug", "compiler": "c"}"#
        #expect(try JSONDecoder().decode(BuildDescription.self, from: Data(text.utf8)).commit == nil)
    }
}
