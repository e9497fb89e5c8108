import Foundation
import Glibc
import TestSupport
import Testing

@testable import OpBenchModel

/// The writing of reports, and the files that it leaves unchanged.
@Suite("Report files") struct ReportFileTests {
    private let root: String

    init() throws {
        root = try TemporaryFolder.make()
    }

    private func path(_ name: String) -> String { "\(root)/\(name)" }
    private func put(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }
    private func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: root).sorted() }
    private func kind(_ name: String) -> mode_t {
        var facts = stat()
        return lstat(path(name), &facts) == 0 ? facts.st_mode & S_IFMT : 0
    }
    private func write(_ text: String, _ path: String, summary: String? = nil) throws {
        try ReportFile.write([(file: ReportFile(path, jobSummary: summary), text: text)])
    }

    @Test("A file is made or replaced, and no other file is left in its folder")
    func replaced() throws {
        try write("one", path("a.csv"))
        try write("two", path("a.csv"))
        #expect(try text("a.csv") == "two")
        #expect(try names() == ["a.csv"])
    }

    @Test("A symbolic link stays, and its target is made or replaced")
    func links() throws {
        try FileManager.default.createDirectory(atPath: path("sub"), withIntermediateDirectories: true)
        try put("old", "sub/real.csv")
        symlink("sub/real.csv", path("link.csv"))
        symlink("link.csv", path("second.csv"))
        symlink("sub/new.csv", path("dangling.csv"))
        try write("new", path("second.csv"))
        try write("made", path("dangling.csv"))
        #expect(try text("sub/real.csv") == "new" && text("sub/new.csv") == "made")
        for name in ["link.csv", "second.csv", "dangling.csv"] { #expect(kind(name) == S_IFLNK) }
    }

    @Test("A link planted under a predictable temporary name is not followed")
    func planted() throws {
        try put("precious", "victim")
        for name in ["a.csv.new", "a.csv.tmp", "a.csv~"] { symlink("victim", path(name)) }
        try write("report", path("a.csv"))
        #expect(try text("victim") == "precious" && text("a.csv") == "report")
    }

    @Test("A device is written to and stays one")
    func devices() throws {
        try write("nothing", "/dev/null")
        var facts = stat()
        #expect(lstat("/dev/null", &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
        #expect(throws: DiskError.self) { try write("full", "/dev/full") }
    }

    @Test("A FIFO is written to and stays one")
    func fifos() throws {
        #expect(mkfifo(path("fifo"), 0o600) == 0)
        let name = path("fifo")
        // Both ends wait for each other, so the other one needs a separate thread.
        let reader = Process()
        reader.executableURL = URL(filePath: "/bin/cat")
        reader.arguments = [name]
        let output = Pipe()
        reader.standardOutput = output
        try reader.run()
        try write("through", name)
        #expect(try output.fileHandleForReading.readToEnd() == Data("through".utf8))
        reader.waitUntilExit()
        #expect(kind("fifo") == S_IFIFO)
    }

    @Test("A descriptor of this process is written at its position, and its file is not replaced")
    func descriptors() throws {
        let descriptor = open(path("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        #expect(Glibc.write(descriptor, "first ", 6) == 6)
        try write("second ", "/dev/fd/\(descriptor)")
        #expect(try text("out") == "first second ")
        let reading = open(path("out"), O_RDONLY | O_CLOEXEC)
        defer { close(reading) }
        #expect(refusal { try write("x", "/dev/fd/\(reading)") }.file == "/dev/fd/\(reading)")
    }

    @Test("The summary of a job is appended to, after an empty line; other files are replaced")
    func summary() throws {
        try write("a", path("summary.md"), summary: path("summary.md"))
        try write("b\n", path("summary.md"), summary: path("summary.md"))
        #expect(try text("summary.md") == "a\nb\n")
        try write("c", path("summary.md"), summary: path("other.md"))
        #expect(try text("summary.md") == "c")
    }

    @Test(
        "The summary of a job is recognised, however the path is spelt", arguments: ["./summary.md", "link.md"])
    func summaryBesides(spelling: String) throws {
        try put("a", "summary.md")
        symlink("summary.md", path("link.md"))
        try write("b", path(spelling), summary: path("summary.md"))
        try write("c", path("summary.md"), summary: path(spelling))
        #expect(try text("summary.md") == "a\nb\nc")
    }

    @Test("Several files are replaced only if all can be written")
    func together() throws {
        try put("old", "a.csv")
        let reports = [
            (file: try ReportFile(path("a.csv")), text: "new"), (file: try ReportFile("/dev/full"), text: "x"),
        ]
        #expect(throws: DiskError.self) { try ReportFile.write(reports) }
        #expect(try text("a.csv") == "old" && names() == ["a.csv"])
    }

    private static let isProtected =
        (try? String(contentsOfFile: "/proc/sys/fs/protected_symlinks", encoding: .utf8)) == "1\n"

    @Test(
        "A link that the kernel does not follow, another user's in a world-writable folder, is refused",
        .enabled(if: geteuid() == 0 && isProtected))
    func sharedFolder() throws {
        try put("precious", "victim")
        try FileManager.default.createDirectory(atPath: path("shared"), withIntermediateDirectories: true)
        chmod(path("shared"), 0o1777)
        symlink(path("victim"), path("shared/report.csv"))
        lchown(path("shared/report.csv"), 65534, 65534)
        #expect(refusal { try write("x", path("shared/report.csv")) }.file == path("shared/report.csv"))
        #expect(try text("victim") == "precious")
    }

    @Test(
        "Paths that lead nowhere are refused before anything is written",
        arguments: ["", ".", "..", "/", "sub/", "sub", "none/a.csv", "a.csv/b", "loop", "socket"])
    func refusals(name: String) throws {
        try FileManager.default.createDirectory(atPath: path("sub"), withIntermediateDirectories: true)
        try put("x", "a.csv")
        symlink("loop", path("loop"))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A socket address has room for 107 bytes, and the temporary folder's path may be longer.
        let folder = open(path(""), O_DIRECTORY)
        defer { close(folder) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "/proc/self/fd/\(folder)/socket".utf8) }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #expect(bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0)
            }
        }
        let before = try names()
        _ = refusal { _ = try ReportFile(["", ".", "..", "/"].contains(name) ? name : path(name)) }
        #expect(try names() == before)
    }

    @Test("A link, a folder or a FIFO in place of one of a folder's files is refused")
    func foreign() throws {
        try put("", "file")
        symlink("nowhere", path("link"))
        mkfifo(path("fifo"), 0o600)
        mkdir(path("folder"), 0o700)
        let folder = try WrittenFolder(root)
        try folder.refuseForeign(["file", "none"])
        let errors = ["link", "fifo", "folder"].map { name in refusal { try folder.refuseForeign(["file", name]) } }
        #expect(errors.map(\.file) == ["link", "fifo", "folder"].map(path))
        Golden("report-files").expect(
            errors.map(\.description).joined(separator: "\n"), "not the folder's own", replacing: [root: "FOLDER"])
        #expect(throws: DiskError.self) { _ = try folder.open("link", O_CREAT) }
        #expect(kind("nowhere") == 0)
    }
}

/// Files that are read must be regular and of bounded size.
@Suite("Files that are read") struct TextFileTests {
    @Test("A FIFO without a writer, a device and a file that is too large are refused at once")
    func refusals() throws {
        let root = try TemporaryFolder.make()
        mkfifo(root + "/fifo", 0o600)
        symlink("/dev/zero", root + "/zero")
        #expect(truncate(root, 0) != 0)
        close(open(root + "/large", O_WRONLY | O_CREAT, 0o600))
        truncate(root + "/large", 1 << 40)
        var lines: [String] = []
        for name in ["fifo", "zero", "large", ".", "none"] {
            let file = "\(root)/\(name)"
            let errors = [
                refusal { _ = try TextFile.read(file) }, refusal { _ = try CSVFile.read(SampleRow.self, file: file) },
            ]
            #expect(errors.allSatisfy { $0.file == file })
            lines += errors.map(\.description)
        }
        Golden("unreadable-files").expect(
            lines.joined(separator: "\n"), "as a text, as a CSV file", replacing: [root: "FOLDER"])
    }

    @Test("The line that is not UTF-8 is named")
    func line() throws {
        for (bytes, line) in [("a\nb\n\u{FFFD}\n", 4), ("", 1), ("é\n", 2)] as [(String, Int)] {
            try Fixtures.withFile(Data(bytes.utf8) + [0xC3]) { file in
                #expect(refusal { _ = try TextFile.read(file) }.line == line)
            }
        }
    }
}
