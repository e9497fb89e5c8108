import Foundation
import OpBenchLaunch
import OpBenchModel
import Synchronization
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench ab --base-ref`: commits that are built and kept. The compiler is a script, so a build takes no time.
@Suite(.serialized)
struct RefTests {
    @Test("two commits are built once, and measured like two builds", .slow)
    func builds() async throws {
        let repository = try await ScriptedRepository()
        try await repository.commit("second", build: repository.program())
        let first = try await repository.ab(["--base-ref", "first", "--run-id", "one"])
        #expect(first.status == 0, "\(first.errors)")
        #expect(repository.builds() == 2 && repository.kept().count == 2)
        #expect(first.errors.contains(" first") && first.errors.contains(" HEAD"), "\(first.errors)")
        #expect(!repository.isWarned(first))
        let rows = try CSVFile.read(SampleRow.self, file: repository.folder.root + "/results/one/samples.csv")
        #expect(Set(rows.map(\.side)) == ["base", "head"])
        #expect(try repository.folder.read("results/one/run.json").contains("\"base\" : \"first\""))
        let again = try await repository.ab(["--base-ref", "first", "--head-ref", "main"])
        #expect(again.status == 0 && repository.builds() == 2, "\(again.errors)")
        // Another compiler makes another program.
        try repository.tools.write("2", to: "version")
        #expect(try await repository.ab(["--base-ref", "first"]).status == 0)
        #expect(repository.builds() == 4)
    }

    @Test("layouts are linked once, and every block of a side has its own", .slow)
    func layouts() async throws {
        let repository = try await ScriptedRepository()
        try await repository.commit("second", build: repository.program())
        func layouts(_ run: String) throws -> Set<String> {
            let rows = try CSVFile.read(SampleRow.self, file: "\(repository.folder.root)/results/\(run)/samples.csv")
            return Set(rows.map { "\($0.side) \($0.block) \($0.layout.map(String.init) ?? "")" })
        }
        let first = try await repository.ab(
            ["--base-ref", "first", "--layouts", "15", "--run-id", "one"], blocks: 2)
        #expect(first.status == 0, "\(first.errors)")
        #expect(repository.builds() == 32 && repository.kept().count == 32)
        #expect(try layouts("one") == ["base 0 1", "base 1 3", "head 0 2", "head 1 4"])
        // More layouts need only the new ones; a run without layouts has everything already.
        #expect(try await repository.ab(["--base-ref", "first", "--layouts", "16"]).status == 0)
        #expect(repository.builds() == 34)
        #expect(try await repository.ab(["--base-ref", "first", "--run-id", "plain"]).status == 0)
        #expect(repository.builds() == 34)
        #expect(try layouts("plain") == ["base 0 ", "head 0 "])
        // One commit as both sides: still different layouts.
        let same = ["--base-ref", "second", "--head-ref", "second", "--layouts", "15", "--run-id", "same"]
        #expect(try await repository.ab(same).status == 0)
        #expect(try layouts("same") == ["base 0 1", "head 0 2"])
    }

    @Test("the commit of the work tree is built first, since it has the least left to build")
    func order() async throws {
        let repository = try await ScriptedRepository()
        try await repository.commit("second", build: repository.program())
        #expect(try await repository.ab(["--base-ref", "first", "--head-ref", "first"]).status == 0)
        try FileManager.default.removeItem(atPath: repository.folder.root + "/.build/refs/programs")
        let result = try await repository.ab(["--base-ref", "second", "--head-ref", "first"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(repository.built().suffix(2) == ["# first", "# second"])
    }

    @Test("a commit has any name that git resolves, and the repository gets no further work tree")
    func names() async throws {
        let repository = try await ScriptedRepository()
        try await repository.commit("broken", build: "exit 1")
        for name in [":/fir", "HEAD^{/first}", "@~1"] {
            let result = try await repository.ab(["--base-ref", name, "--head-ref", "first"])
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(repository.builds() == 1)
        #expect(try await repository.ab(["--base-ref", "first:build.sh"]).status == 64)
        #expect(try await repository.ab(["--base-ref", "first"]).status == 1)
        #expect(try await repository.workTrees() == 1)
    }

    @Test("a build shows progress: lines in a log, one line in a terminal; after its end nothing more is written")
    func progress() async throws {
        for isTerminal in [false, true] {
            let written = Mutex("")
            let progress = BuildProgress(isTerminal: isTerminal, interval: .milliseconds(1)) { text in
                written.withLock { $0 += text }
            }
            let name = "main (1a2b)"
            let end = progress.begin(name + "\u{1B}")
            #expect(
                await eventuallyTrue("it ticks") {
                    written.withLock { $0.split(separator: isTerminal ? "\r\u{1B}[2K" : "\n").count > 1 }
                })
            end(true)
            let text = written.withLock(\.self)
            #expect(text.contains("\r") == isTerminal && text.hasSuffix("\n"))
            // Every line of a log is complete.
            let lines = text.split { $0 == "\n" || $0 == "\r" }
            #expect(lines.count > 2 && lines.allSatisfy { $0.contains("opbench: ") && $0.contains(name + "\\u{1b}") })
            #expect(written.withLock(\.self) == text)
        }
    }

    @Test("uncommitted changes are not measured, and a warning reports them")
    func changes() async throws {
        let repository = try await ScriptedRepository()
        try repository.folder.write("exit 1", to: "build.sh")
        let result = try await repository.ab(["--base-ref", "first"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(repository.isWarned(result), "\(result.errors)")
        try await repository.commit("second", build: repository.program())
        try repository.folder.write("exit 1", to: "build.sh")
        let older = try await repository.ab(["--base-ref", "first", "--head-ref", "first"])
        #expect(older.status == 0 && !repository.isWarned(older), "\(older.errors)")
    }

    @Test("packages outside the repository are used in place, in their current state, each time")
    func outside() async throws {
        let repository = try await ScriptedRepository()
        let others = try ScratchFolder()
        let up = repository.folder.root.split(separator: "/").map { _ in ".." }.joined(separator: "/")
        try others.write("../far\n", to: "near/Package.swift")
        try others.write("", to: "far/Package.swift")
        try repository.folder.write("inside\n\(up)\(others.root)/near\n", to: "Package.swift")
        try repository.folder.write("", to: "inside/Package.swift")
        // Built only if all of them are where the manifests say.
        let (near, far) = ("\(up)\(others.root)/near", "\(up)\(others.root)/far")
        let here = "ls inside/Package.swift \(near)/Package.swift \(far)/Package.swift"
        try await repository.commit("local", build: here + " && " + repository.program())
        let result = try await repository.ab(["--base-ref", "local"])
        #expect(result.status == 0, "\(result.errors)")
        for name in ["near", "far"] {
            #expect(result.errors.contains("\(others.root)/\(name)"))
        }
        #expect(!result.errors.contains("/inside"))
        let built = repository.builds()
        #expect(try await repository.ab(["--base-ref", "local"]).status == 0)
        #expect(repository.builds() > built, "packages outside may have changed")
        try FileManager.default.removeItem(atPath: others.root + "/far")
        let gone = try await repository.ab(["--base-ref", "local"])
        #expect(gone.status == 1 && gone.errors.contains("\(others.root)/far"), "\(gone.errors)")
    }

    @Test("a failed build shows its last lines, and leaves nothing that looks built")
    func failure() async throws {
        let repository = try await ScriptedRepository()
        try await repository.commit("broken", build: "echo 'error: no such thing' >&2; exit 1")
        let result = try await repository.ab(["--base-ref", "first", "--head-ref", "broken"])
        #expect(result.status == 1)
        #expect(result.errors.contains("Error: broken"))
        #expect(result.errors.contains("\nerror: no such thing\n"))
        #expect(repository.kept().count == 1)
        try await repository.commit("empty", build: "true")
        let empty = try await repository.ab(["--base-ref", "empty", "--product", "other"])
        #expect(empty.status == 1 && empty.errors.contains(" other"), "\(empty.errors)")
        #expect(!repository.folder.contents().contains("results"))
    }

    @Test("a commit without the product is reported before anything is built: for the base as a missing baseline")
    func products() async throws {
        let repository = try await ScriptedRepository()
        try repository.folder.write("product opbench\n", to: "Package.swift")
        try await repository.commit("with", build: repository.program())
        try repository.folder.write("product other\n", to: "Package.swift")
        try await repository.commit("without", build: repository.program())
        try await repository.git("rm", "--quiet", "Package.swift")
        try await repository.commit("bare", build: repository.program())
        try await repository.git("checkout", "--quiet", "with")
        #expect(try await repository.ab(["--base-ref", "without"]).status == 5)
        #expect(try await repository.ab(["--base-ref", "bare"]).status == 5)
        #expect(try await repository.ab(["--base-ref", "with", "--head-ref", "without"]).status == 64)
        #expect(try await repository.ab(["--base-ref", "bare", "--head-ref", "without"]).status == 64)
        #expect(repository.builds() == 0 && !repository.folder.contents().contains("results"))
        // If the manifest cannot be read, the build decides.
        #expect(try await repository.ab(["--base-ref", "first"]).status == 0)
        #expect(try await repository.ab(["--base-ref", "first", "--head-ref", "with"]).status == 0)
    }

    @Test("a base whose program is not opbench is not a baseline; such a head is bad input")
    func foreign() async throws {
        let repository = try await ScriptedRepository()
        try await repository.commit("foreign", build: "cp /bin/true \"$1\"")
        #expect(try await repository.ab(["--base-ref", "foreign", "--head-ref", "first"]).status == 5)
        #expect(try await repository.ab(["--base-ref", "first", "--head-ref", "foreign"]).status == 64)
        #expect(!repository.folder.contents().contains("results"))
    }

    @Test("--skip-equal measures nothing if programs differ only by their commits, unless one is slowed down", .slow)
    func equal() async throws {
        let repository = try await ScriptedRepository()
        try repository.folder.write("for people", to: "README.md")
        try await repository.commit("same", build: repository.program())
        try await repository.commit("other", build: repository.program("other"))
        func measures(_ words: [String]) async throws -> Bool {
            let result = try await repository.ab(words)
            #expect(result.status == 0, "\(result.errors)")
            let isMeasured = repository.folder.contents().contains("results")
            try? FileManager.default.removeItem(atPath: repository.folder.root + "/results")
            return isMeasured
        }
        let same = ["--base-ref", "first", "--head-ref", "same"]
        #expect(try await !measures(same + ["--skip-equal"]))
        #expect(try await measures(same))
        #expect(try await measures(same + ["--skip-equal", "--inject-slowdown", "1", "--set", "work_ns=100"]))
        #expect(try await measures(["--base-ref", "first", "--head-ref", "other", "--skip-equal"]))
    }

    @Test("an interrupted build does not count as built")
    func interruption() async throws {
        let repository = try await ScriptedRepository()
        let begun = repository.tools.root + "/begun"
        try await repository.commit(
            "endless", build: "printf x > \"$1\"; chmod +x \"$1\"; : > \(begun); exec sleep 1000")
        let result = try await repository.ab(["--base-ref", "endless"]) { process in
            #expect(await eventuallyTrue("the build begins") { access(begun, F_OK) == 0 })
            kill(process, SIGINT)
        }
        #expect(result.status == 130, "\(result.errors)")
        #expect(repository.kept().isEmpty)
        #expect(try await repository.workTrees() == 1)
        #expect(try await repository.ab(["--base-ref", "first", "--head-ref", "first"]).status == 0)
    }

    @Test("refs that do not exist, and folders without a package, a repository or git")
    func mistakes() async throws {
        let repository = try await ScriptedRepository()
        var text = ""
        func expectRefusal(of words: String...) async throws {
            let result = try await repository.ab(words)
            #expect(result.status == 64, "\(words)")
            text += result.errors
        }
        try await expectRefusal(of: "--base-ref", "frist")
        try await expectRefusal(of: "--base-ref=--all")
        try await expectRefusal(of: "--skip-equal")
        try await expectRefusal(of: "--head-ref", "first")
        try await expectRefusal(of: "--layouts", "15")
        try await expectRefusal(of: "--base-ref", "first", "--layouts", "14")
        let gitless = try await repository.ab(["--base-ref", "first"], path: repository.tools.root)
        #expect(gitless.status == 1 && gitless.errors.contains("install git"), "\(gitless.errors)")
        try FileManager.default.removeItem(atPath: repository.folder.root + "/.git")
        let outside = try await repository.ab(["--base-ref", "first"])
        #expect(outside.status == 64 && outside.errors.contains(repository.folder.root), "\(outside.errors)")
        try FileManager.default.removeItem(atPath: repository.folder.root + "/Package.swift")
        try await expectRefusal(of: "--base-ref", "first")
        Golden("refs").expect(text, "mistakes", replacing: [repository.folder.root: "FOLDER"])
        #expect(repository.builds() == 0)
    }
}

extension ScriptedRepository {
    /// Whether there is a warning that uncommitted changes are not measured.
    fileprivate func isWarned(_ result: OpBenchProcess.Finished) -> Bool {
        result.errors.split(separator: "\n").contains { $0.contains("warning: ") && $0.contains("HEAD") }
    }

    /// The number of work trees that git lists.
    fileprivate func workTrees() async throws -> Int {
        try await git("worktree", "list").split(separator: "\n").count
    }

    fileprivate func ab(
        _ words: [String], blocks: Int = 1, path: String? = nil,
        during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(
            ["ab"] + words + ["--quick", "--blocks", "\(blocks)", "--no-progress", "w.json"], in: folder,
            environment: ["PATH": path ?? self.path], during: during)
    }
}
