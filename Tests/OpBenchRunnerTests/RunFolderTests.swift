import Foundation
import Glibc
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchRunner

/// A run's folder with other processes, foreign files and kills.
@Suite("Run folders") struct RunFolderTests {
    private let directory: String

    init() throws { directory = try Fixture.folder() }

    private var run: String { "\(directory)/run" }

    private func plan(resume: Bool = false) throws -> RunPlan {
        try RunPlan(
            specs: [try Fixture.spec("independent", #"{"items": 10}"#)],
            options: RunOptions(blocks: 1, directory: directory, runID: "run", resume: resume))
    }

    /// Opens the folder of a new run, or of one to continue.
    private func open(resume: Bool = false) throws -> RunFolder {
        switch try RunFolder.open(plan(resume: resume), by: .own(nil), { _ in }) {
        case .new(let folder), .continued(let folder, _, _): folder
        }
    }

    private func refusal(_ body: () throws -> Void) -> InputError? {
        do { try body() } catch { return error as? InputError }
        return nil
    }

    @Test(
        "A symbolic link in place of a file of the run is rejected, and its target stays",
        arguments: ["samples.csv", "histograms.csv", "run.json.new", "run.json", "summary.csv", "compare.csv"])
    func links(name: String) throws {
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: URL(filePath: "\(directory)/victim"))
        symlink("../victim", "\(run)/\(name)")
        let error = try #require(refusal { _ = try open() })
        #expect(error.file == "\(run)/\(name)")
        #expect(try String(contentsOfFile: "\(directory)/victim", encoding: .utf8) == "precious")
        #expect(try FileManager.default.contentsOfDirectory(atPath: run) == [name])
    }

    @Test("A killed creation leaves no run: temporary files are removed")
    func leftovers() throws {
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
        for name in ["samples.csv", WrittenFolder.temporaryName(), "run.json.new"] {
            try Data("part".utf8).write(to: URL(filePath: "\(run)/\(name)"))
        }
        _ = try open()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: run).sorted()
                == ["histograms.csv", "run.json.new", "samples.csv"])
    }

    @Test("Anything else that exists is a run, or somebody's folder")
    func existing() throws {
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(filePath: "\(run)/letter.txt"))
        try expectGolden(refusal { _ = try open() }, "a run of this id")
        #expect(refusal { _ = try open(resume: true) } != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: run) == ["letter.txt"])
    }

    private func expectGolden(_ error: InputError?, _ section: String) throws {
        Golden("run-folder-refusals").expect("\(try #require(error))", section, replacing: [directory: "FOLDER"])
    }

    @Test("One process at a time")
    func lock() throws {
        let first = try open()
        try expectGolden(refusal { _ = try open() }, "another process")
        #expect(refusal { _ = try open(resume: true) } != nil)
        withExtendedLifetime(first) {}
    }

    @Test("Files are created with the modes that the umask allows")
    func modes() throws {
        // The umask is not changed here, since it belongs to the whole process: a plain file shows its effect.
        close(Glibc.open("\(directory)/plain", O_WRONLY | O_CREAT, 0o666))
        let folder = try open()
        try folder.saveFacts("{}")
        func mode(_ path: String) -> mode_t {
            var facts = stat()
            return stat(path, &facts) == 0 ? facts.st_mode & 0o777 : 0
        }
        for name in ["samples.csv", "histograms.csv", "run.json"] {
            #expect(mode("\(run)/\(name)") == mode("\(directory)/plain"))
        }
    }

    // MARK: Descriptions

    private func description(_ change: (String) -> String) throws -> InputError? {
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
        let facts = RunFacts(
            plan: try plan(), calibration: Fixture.kernel, host: .read(), programs: .own(nil))
        let progress = RunFacts.Progress(state: .finished, samplesDone: 1, blocksDone: 1)
        let text = try RunFacts.Writer(facts).text(progress)
        try Data(change(text).utf8).write(to: URL(filePath: "\(run)/run.json"))
        return refusal { _ = try RunFacts.read(beside: "\(run)/samples.csv") }
    }

    @Test("A description of another version is rejected by its version")
    func versions() throws {
        let newer = try description {
            $0.replacing("\"schema_version\" : \"\(SchemaVersion.current)\"", with: "\"schema_version\" : \"7\"")
                .replacing("\"started_utc\"", with: "\"begun_utc\"")
        }
        #expect(newer?.path == "$.schema_version" && newer?.message.contains("\"7\"") == true)
    }

    @Test(
        "A description is read; one with an impossible rate of work, or without JSON, is rejected with the reason")
    func descriptions() throws {
        #expect(try description { $0 } == nil)
        for rate in ["1e300", "0", "-1", "1e-300"] {
            let error = try #require(
                try description { $0.replacing("\"iterations_per_ns\" : 0.5", with: "\"iterations_per_ns\" : \(rate)") }
            )
            #expect(error.path == "$.calibration.iterations_per_ns")
        }
        for (slowdown, isPossible) in [("1.5", true), ("0.9", false), ("1e9", false)] {
            let error = try description {
                $0.replacing(
                    "\"iterations_per_ns\" : 0.5", with: "\"iterations_per_ns\" : 0.5, \"mean_slowdown\" : \(slowdown)")
            }
            #expect(error?.path == (isPossible ? nil : "$.calibration.mean_slowdown"))
        }
        #expect(try #require(try description { String($0.dropLast(40)) }).line ?? 0 > 1)
        // Also if something is missing or wrong.
        #expect(try #require(try description { _ in "{}" }).path == "$.schema_version")
        let odd = try description { $0.replacing("\"cores\" :", with: "\"cores\" : \"x\", \"x\" :") }
        #expect(try #require(odd).path == "$.host.cores")
        let marks = String(repeating: "\\u0301", count: 100_000)
        #expect(try #require(try description { "{\"\(marks)\": 1," + $0.dropFirst() }).message.contains("30"))
    }

    @Test("The list of runs reads any description, and rejects those that compare rejects")
    func overviews() throws {
        #expect(try description { $0 } == nil)
        let text = try String(contentsOfFile: "\(run)/run.json", encoding: .utf8)
        func overview(_ change: (String) -> String) throws -> RunListRow {
            try Data(change(text).utf8).write(to: URL(filePath: "\(run)/run.json"))
            return try RunFacts.listRow(of: run, name: "run", isBaseline: false)
        }
        #expect(try overview { $0 }.blocks == 1)
        let marks = String(repeating: "\\u0301", count: 100_000)
        #expect(
            try #require(refusal { _ = try overview { $0.replacing("block=0", with: "block=0 \(marks)") } }).message
                .contains("30"))
        let error = refusal { _ = try overview { $0.replacing("\"host_class\"", with: "\"h\"") } }
        #expect(try #require(error).path == "$.host.host_class")
    }

    @Test("An unreadable description, or a device or FIFO in its place, is named as such")
    func unreadable() throws {
        try FileManager.default.createDirectory(atPath: "\(run)/run.json", withIntermediateDirectories: true)
        try expectGolden(refusal { _ = try RunFacts.read(beside: "\(run)/samples.csv") }, "a folder as run.json")
        rmdir("\(run)/run.json")
        symlink("/dev/zero", "\(run)/run.json")
        try expectGolden(refusal { _ = try RunFacts.read(beside: "\(run)/samples.csv") }, "a device as run.json")
        unlink("\(run)/run.json")
        mkfifo("\(run)/run.json", 0o600)
        try expectGolden(refusal { _ = try open(resume: true) }, "a FIFO as run.json")
    }

    @Test("A run with too many samples to wait for is rejected before anything is written")
    func tooManySamples() throws {
        let spec = try Fixture.spec("chain", "{\"depth\": \(Array(1...7000))}", backends: ["engine", "serial"])
        let error = try #require(
            refusal { _ = try RunPlan(specs: [spec], options: RunOptions(directory: directory, runID: "run")) })
        #expect(error.message.contains("100000"))
        _ = try RunPlan(specs: [spec], options: RunOptions(kinds: [.check], directory: directory, runID: "run"))
    }

    // MARK: Git

    @Test("No program named by a repository's configuration is run to learn its commit", .enabled(if: git("--version")))
    func hostileRepository() async throws {
        let repository = "\(directory)/repository"
        let trap = "\(directory)/trap"
        try FileManager.default.createDirectory(atPath: repository, withIntermediateDirectories: true)
        ExecutableFile.writeScript("touch '\(directory)/sprung'\ncat", to: trap)
        func inRepository(_ words: String...) { #expect(Self.git(["-C", repository] + words)) }
        inRepository("init", "-q")
        try Data("a\n".utf8).write(to: URL(filePath: "\(repository)/file.txt"))
        try Data("* filter=odd=name.x\n".utf8).write(to: URL(filePath: "\(repository)/.gitattributes"))
        inRepository("add", ".")
        inRepository("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m")
        let settings = [
            ("core.fsmonitor", trap), ("filter.odd=name.x.clean", trap), ("filter.odd=name.x.smudge", trap),
            ("diff.external", trap), ("core.pager", trap), ("core.hooksPath", directory),
        ]
        for (name, value) in settings {
            let dot = name.lastIndex(of: ".")!
            let section = name[..<dot].split(separator: ".", maxSplits: 1)
            let heading = section.count == 2 ? "[\(section[0]) \"\(section[1])\"]" : "[\(section[0])]"
            let file = try #require(FileHandle(forWritingAtPath: "\(repository)/.git/config"))
            try file.seekToEnd()
            try file.write(contentsOf: Data("\(heading)\n\t\(name[name.index(after: dot)...]) = \(value)\n".utf8))
        }
        ExecutableFile.copy(trap, to: "\(directory)/post-index-change")
        // Same size, but changed, so git has to look into it.
        try Data("b\n".utf8).write(to: URL(filePath: "\(repository)/file.txt"))
        // The trap works: git itself would trigger it.
        #expect(Self.git(["-C", repository, "status"]))
        #expect(access("\(directory)/sprung", F_OK) == 0)
        unlink("\(directory)/sprung")

        let facts = try #require(await GitFacts.read(folder: repository))
        #expect(facts.commit.utf8.count == 40 && facts.isDirty)
        #expect(access("\(directory)/sprung", F_OK) != 0)
        try Data("a\n".utf8).write(to: URL(filePath: "\(repository)/file.txt"))
        #expect(await GitFacts.read(folder: repository)?.isDirty == false)
        #expect(access("\(directory)/sprung", F_OK) != 0)
        #expect(await GitFacts.read(folder: directory) == nil)
    }

    private static func git(_ words: String...) -> Bool { git(words) }

    private static func git(_ words: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git"] + words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
