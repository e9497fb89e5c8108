import Glibc

/// A file that a user names for a report, and how it is written:
///
/// - `/dev/stdout`, `/dev/stderr`, `/dev/fd/N`: written to at its position.
/// - Another device, or a FIFO: written to, never replaced.
/// - The file that `GITHUB_STEP_SUMMARY` names: appended to, as every step of a job does.
/// - Any other file: replaced in one step. If it is a symbolic link, the link stays and its target is replaced.
///
/// `init` determines this before any work is done, and keeps a replaced file's folder open. Thread-safe.
public struct ReportFile: Sendable {
    /// As the user named it.
    public let path: String
    private let way: Way

    private enum Way: Sendable {
        case descriptor(Int32)
        /// Opened with these flags.
        case opened(Int32)
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
        case .opened(let flags):
            let opened = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags, 0o666)
            if opened < 0 { throw DiskError(path: path, code: errno) }
            defer { close(opened) }
            // The existing text may end in a paragraph, which only an empty line ends.
            let isAfterText = flags & O_APPEND != 0 && lseek(opened, 0, SEEK_END) > 0
            try write(isAfterText ? "\n" + text : text, to: opened)
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

    private static func way(to path: String, jobSummary: String?) throws(InputError) -> Way {
        if path.isEmpty { throw InputError(file: "\"\"", message: "an empty path", remedy: "name a file") }
        if let descriptor = ownDescriptor(path) {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, [O_WRONLY, O_RDWR].contains(flags & O_ACCMODE) else {
                throw InputError.unwritable(path, EBADF)
            }
            return .descriptor(descriptor)
        }
        var (facts, summary) = (stat(), stat())
        let isThere = stat(path, &facts) == 0
        // The kernel may refuse a link that another user planted in a shared folder: fs.protected_symlinks, proc(5).
        if !isThere, errno != ENOENT { throw InputError.unwritable(path, errno) }
        switch isThere ? facts.st_mode & S_IFMT : S_IFREG {
        case S_IFREG:
            let isSummary =
                path == jobSummary
                || isThere && jobSummary.map { stat($0, &summary) } == 0
                    && (facts.st_dev, facts.st_ino) == (summary.st_dev, summary.st_ino)
            guard isSummary else { return try replaced(path) }
            // Checks the folder in which it will be made.
            if !isThere { _ = try replaced(path) }
            return .opened(O_APPEND | O_CREAT)
        case S_IFDIR: throw InputError.unwritable(path, EISDIR)
        case S_IFBLK, S_IFSOCK:
            throw InputError(
                file: path, message: "this is a disk or a socket", remedy: "name a file, a FIFO or a terminal")
        default:
            guard access(path, W_OK) == 0 else { throw InputError.unwritable(path, errno) }
            return .opened(0)
        }
    }

    /// A file is replaced in the folder of the last one of the links that lead to it.
    private static func replaced(_ path: String) throws(InputError) -> Way {
        var place = path
        while let target = link(place) {
            place = target.utf8.first == UInt8(ascii: "/") ? target : "\(WrittenFolder.holding(place))/\(target)"
        }
        let bytes = Array(place.utf8)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        let name = String(decoding: bytes[(slash.map { $0 + 1 } ?? 0)...], as: UTF8.self)
        let folder = slash.map { String(decoding: bytes[...$0], as: UTF8.self) } ?? "."
        if name.isEmpty { throw InputError.unwritable(path, EISDIR) }
        // Not opened for reading: a writable folder need not be readable.
        let descriptor = open(folder, openPath | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw InputError.unwritable(path, errno) }
        let written = WrittenFolder(folder, descriptor: descriptor)
        guard faccessat(descriptor, ".", W_OK | X_OK, 0) == 0,
            faccessat(descriptor, name, W_OK, 0) == 0 || errno == ENOENT
        else { throw InputError.unwritable(path, errno) }
        return .replaced(written, name)
    }

    /// `O_PATH`, which Swift's Glibc module leaves out.
    private static let openPath: Int32 = 0o10_000_000

    private static func ownDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdout": 1
        case "/dev/stderr": 2
        default: path.hasPrefix("/dev/fd/") ? Int32(path.dropFirst("/dev/fd/".count)) : nil
        }
    }

    /// The target of a symbolic link; nil for anything else.
    private static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path, &buffer, buffer.count)
        return length < 0 ? nil : String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
