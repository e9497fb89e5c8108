import Foundation
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchRunner

/// A build's information on itself.
struct VersionTests {
    private let golden = Golden("version")

    private func build(_ commit: String?) -> BuildDescription {
        BuildDescription(allocator: "jemalloc 5.3", configuration: "release", compiler: "Swift 6.3", commit: commit)
    }

    @Test("--version prints the commit given to the build, the build and the allocator")
    func text() async throws {
        let texts = ["0123abc", "0123abc-dirty", nil].map { ProgramVersion.text(build($0), program: "opbench") }
        golden.expect(texts.joined(separator: "\n\n"), "opbench", replacing: [ProgramVersion.number: "VERSION"])
        let printed = try await OpBenchProcess.run(["--version"], in: try ScratchFolder())
        #expect(printed.status == 0 && printed.output == ProgramVersion.text(.own, program: "opbench") + "\n")
    }

    @Test("A program of another package prints its name and commit, and the opbench that it is built with")
    func otherProgram() throws {
        let texts = [(build("0123abc"), "fed987"), (build(nil), nil)].map { build, commit in
            ProgramVersion.text(build, program: "mine", opbench: OpBenchFacts(version: "0.0.7", commit: commit))
        }
        golden.expect(texts.joined(separator: "\n\n"), "another program")

        let folder = try ScratchFolder()
        let program = "\(folder.root)/.build/release/mine"
        #expect(OpBenchFacts.pinnedCommit(above: program) == nil)
        try folder.write(
            #"{"pins": [{"identity": "other", "state": {"revision": "1"}}, {"identity": "opbench", "state": {"branch": "main", "revision": "fed987"}}], "version": 3}"#,
            to: "Package.resolved")
        #expect(OpBenchFacts.pinnedCommit(above: program) == "fed987")
        try folder.write(#"{"pins": [], "version": 3}"#, to: "Package.resolved")
        #expect(OpBenchFacts.pinnedCommit(above: program) == nil)
        #expect(
            OwnProgram.name(ofFile: "/a b/mine (deleted)") == "mine" && OwnProgram.name(ofFile: "/x/mine") == "mine")
    }

    @Test("a run's commit is the one given to the build")
    func commits() {
        #expect(GitFacts(build("0123abc")) == GitFacts(commit: "0123abc", isDirty: false))
        #expect(GitFacts(build("0123abc-dirty")) == GitFacts(commit: "0123abc", isDirty: true))
        #expect(GitFacts(build(nil)) == nil)
    }
}
