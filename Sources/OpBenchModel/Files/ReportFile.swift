import Glibc

/// A file that a user names for a report, and how it is written:
///
/// - `/dev/stdout`, `/dev/stderr`, `/dev/fd/N`: written to at its position.
/// - Another device, or a FIFO: written to, never replaced.
/// - The file that `GITHUB_STEP_SUMMARY` names: appended to, as every step of a job does.
/// - Any other file: replaced in one step. If it is a symbolic link, the link stays and its target is replaced.
///
/// `init` determines this before any work is done, and keeps the folder open. Thread-safe.
public struct ReportFile: Sendable {
    /// As the user named it.
    public let path: String
    private let way: Way

    private enum Way: Sendable {
        case descriptor(Int32)
        case stream(WrittenFolder, String)
        case appended(WrittenFolder, String)
        case replaced(WrittenFolder, String)
    }

    /// - Parameter jobSummary: the file that is appended to.
    /// - Throws: `InputError` if the path cannot be written to.
    public init(_ path: String, jobSummary: String? = getenv("GITHUB_STEP_SUMMARY").map { String(cString: $0) })
        throws(InputError)
    {
        self.path = path
        way = try Self.way(to: path, jobSummary: jobSummary)
    }

    // MARK: Writing

    /// Writes texts to files. Replaced files appear after all are written; on failure none appears.
    ///
    /// - Throws: `InputError` if a file is no longer writable, `DiskError` if the disk fails.
    public static func write(_ reports: [(file: ReportFile, text: String)]) throws {
        var staged: [(folder: WrittenFolder, temporary: String, name: String)] = []
        do {
            for (file, text) in reports {
                guard case .replaced(let folder, let name) = file.way else { continue }
                staged.append((folder, try folder.stage(text, for: name), name))
            }
            for (file, text) in reports { try file.writeInPlace(text) }
        } catch {
            for (folder, temporary, _) in staged { folder.discard(temporary) }
            throw error
        }
        for (folder, temporary, name) in staged { try folder.publish(temporary, as: name) }
    }

    private func writeInPlace(_ text: String) throws {
        switch way {
        case .replaced: return
        case .descriptor(let descriptor): try write(text, to: descriptor)
        case .stream(let folder, let name):
            let opened = try folder.open(name, 0)
            defer { close(opened) }
            try write(text, to: opened)
        case .appended(let folder, let name):
            let opened = try folder.open(name, O_APPEND | O_CREAT)
            defer { close(opened) }
            // The existing text may end in a paragraph, which only an empty line ends.
            try write(lseek(opened, 0, SEEK_END) > 0 ? "\n" + text : text, to: opened)
        }
    }

    private func write(_ text: String, to descriptor: Int32) throws(DiskError) {
        do {
            try FileBytes.write(text, to: descriptor)
        } catch {
            throw DiskError(path: path, code: error.code)
        }
    }

    // MARK: Resolving the path

    /// Follows symbolic links one by one: a file is replaced in the folder of the last one.
    private static func way(to path: String, jobSummary: String?) throws(InputError) -> Way {
        if path.isEmpty { throw InputError(file: "\"\"", message: "an empty path", remedy: "name a file") }
        if let descriptor = ownDescriptor(path) {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, [O_WRONLY, O_RDWR].contains(flags & O_ACCMODE) else {
                throw InputError.unwritable(path, EBADF)
            }
            return .descriptor(descriptor)
        }
        var place = path
        for _ in 0..<40 {
            let (folder, name) = try parts(of: place, path)
            switch folder.entry(name) {
            case .file, .none:
                let isAppended = path == jobSummary || jobSummary.map { folder.holds(name, whichIs: $0) } ?? false
                return isAppended ? .appended(folder, name) : try replaced(folder, name, path)
            case .folder: throw InputError.unwritable(path, EISDIR)
            case .other: return try stream(folder, name, path)
            case .link:
                // The kernel may refuse one that another user planted in a shared folder: fs.protected_symlinks, proc(5).
                let opened = openat(folder.descriptor, name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                if opened >= 0 { close(opened) } else if errno == EACCES { throw InputError.unwritable(path, EACCES) }
                guard let target = link(name, in: folder.descriptor) else { throw InputError.unwritable(path, errno) }
                place = target.utf8.first == UInt8(ascii: "/") ? target : folder.file(target)
            }
        }
        throw InputError.unwritable(path, ELOOP)
    }

    private static func parts(of place: String, _ path: String) throws(InputError) -> (WrittenFolder, String) {
        let bytes = Array(place.utf8)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        let name = String(decoding: bytes[(slash.map { $0 + 1 } ?? 0)...], as: UTF8.self)
        let folder = slash.map { String(decoding: bytes[...$0], as: UTF8.self) } ?? "."
        if ["", ".", ".."].contains(name) { throw InputError.unwritable(path, EISDIR) }
        // Not opened for reading: a writable folder need not be readable.
        let descriptor = Glibc.open(folder, openPath | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw InputError.unwritable(path, errno) }
        return (WrittenFolder(folder, descriptor: descriptor), name)
    }

    /// `O_PATH`, which Swift's Glibc module leaves out.
    private static let openPath: Int32 = 0o10_000_000

    private static func replaced(_ folder: WrittenFolder, _ name: String, _ path: String) throws(InputError) -> Way {
        guard faccessat(folder.descriptor, ".", W_OK | X_OK, 0) == 0 else {
            throw InputError.unwritable(path, errno)
        }
        guard faccessat(folder.descriptor, name, W_OK, 0) == 0 || errno == ENOENT else {
            throw InputError.unwritable(path, errno)
        }
        return .replaced(folder, name)
    }

    private static func stream(_ folder: WrittenFolder, _ name: String, _ path: String) throws(InputError) -> Way {
        var facts = stat()
        fstatat(folder.descriptor, name, &facts, 0)
        if [S_IFBLK, S_IFSOCK].contains(facts.st_mode & S_IFMT) {
            throw InputError(
                file: path, message: "this is a disk or a socket", remedy: "name a file, a FIFO or a terminal")
        }
        guard faccessat(folder.descriptor, name, W_OK, 0) == 0 else { throw InputError.unwritable(path, errno) }
        return .stream(folder, name)
    }

    private static func ownDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdout": 1
        case "/dev/stderr": 2
        default: path.hasPrefix("/dev/fd/") ? Int32(path.dropFirst("/dev/fd/".count)) : nil
        }
    }

    /// The text of a symbolic link; nil if it cannot be read.
    private static func link(_ name: String, in folder: Int32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlinkat(folder, name, &buffer, buffer.count)
        return length < 0 ? nil : String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
