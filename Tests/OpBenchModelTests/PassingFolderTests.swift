import Foundation
import Glibc
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("Folders for other programs' files") struct PassingFolderTests {
    private let parent: String

    init() throws { parent = try TemporaryFolder.make() }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] }

    /// Makes the folder look as if it was made some minutes ago.
    private func age(_ path: String) {
        var times = [timeval(tv_sec: time(nil) - 600, tv_usec: 0), timeval(tv_sec: time(nil) - 600, tv_usec: 0)]
        #expect(utimes(path, &times) == 0)
    }

    @Test("A folder is removed with its object, including its content")
    func end() throws {
        do {
            let folder = try PassingFolder(in: parent)
            try WrittenFolder(folder.path).replace("file", by: "text")
            #expect(names.count == 1)
        }
        #expect(names == [])
    }

    @Test("Folders left by killed processes are removed; folders in use, new ones and others stay")
    func stale() throws {
        let used = try PassingFolder(in: parent)
        age(used.path)
        let (left, fresh, other) = ("opbench-passing-left", "opbench-passing-fresh", "opbench-mine")
        for name in [left, fresh, other] {
            try FileManager.default.createDirectory(atPath: "\(parent)/\(name)", withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: "\(parent)/\(name)/file"))
        }
        symlink(other, "\(parent)/opbench-passing-link")
        for name in [left, other] { age("\(parent)/\(name)") }
        let new = try PassingFolder(in: parent)
        let ours = [used, new].map { String($0.path.split(separator: "/").last!) }
        let stays = [fresh, other, "opbench-passing-link"] + ours
        #expect(names.sorted() == stays.sorted())
        #expect(FileManager.default.fileExists(atPath: "\(parent)/\(other)/file"))
        withExtendedLifetime((used, new)) {}
    }

    @Test("If there is no room, the error names the place and the remedy")
    func noPlace() throws {
        let error = #expect(throws: DiskError.self) { _ = try PassingFolder(in: "\(parent)/nowhere") }
        #expect(error?.description.hasPrefix("\(parent)/nowhere/opbench-passing-") == true)
        #expect(error?.description.contains("TMPDIR") == true)
    }

    @Test("A disk error has a remedy")
    func remedies() {
        let errors = [ENOSPC, EFBIG, EROFS, EMFILE].map { DiskError(path: "a/b", code: $0).description }
        #expect(errors.allSatisfy { $0.hasPrefix("a/b: ") })
        Golden("disk-errors").expect(errors.joined(separator: "\n"), "remedies")
    }
}
