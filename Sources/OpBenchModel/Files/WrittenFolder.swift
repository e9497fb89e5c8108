import Foundation
import Glibc

/// A folder in which opbench writes files, held open: wherever its name leads meanwhile, the files stay together.
///
/// No file is opened through a symbolic link, and a file that is replaced appears whole or not at all. Thread-safe.
public final class WrittenFolder: Sendable {
    public let path: String
    let descriptor: Int32

    /// - Throws: `DiskError` if it cannot be opened.
    public convenience init(_ path: String) throws(DiskError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw DiskError(path: path, code: errno) }
        self.init(path, descriptor: descriptor)
    }

    /// Takes the descriptor over.
    init(_ path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        // A child that was forked meanwhile and is not its own program yet has the lock too: closing would not end it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    public func file(_ name: String) -> String {
        path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
    }

    /// The folder that a path's file is in.
    public static func holding(_ file: String) -> String {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == file.startIndex ? "/" : String(decoding: file.utf8[..<slash], as: UTF8.self)
    }

    /// A path without slashes at its end, but for that of the root.
    public static func withoutSlashes(_ path: String) -> String {
        guard let last = path.utf8.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return path.isEmpty ? "" : "/" }
        return String(path[...last])
    }

    /// Makes a folder and those above it, with the modes that the umask leaves.
    ///
    /// - Throws: `InputError` if the path does not lead to a folder that can be written, `DiskError` if the disk is full.
    public static func make(_ path: String, remedy: String) throws {
        func failure(_ folder: String, _ what: String, _ code: Int32) -> any Error {
            let error = DiskError(path: folder, code: code)
            guard error.badPath != nil else { return error }
            return InputError(
                file: folder, message: "the folder cannot be \(what): \(String(cString: strerror(code)))",
                remedy: remedy)
        }
        var made = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            made += (made.isEmpty || made == "/" ? "" : "/") + String(decoding: part, as: UTF8.self)
            if mkdir(made, 0o777) != 0, errno != EEXIST { throw failure(made, "made", errno) }
        }
        var facts = stat()
        if stat(path, &facts) != 0 { throw failure(path, "written", errno) }
        if facts.st_mode & S_IFMT != S_IFDIR { throw failure(path, "written", ENOTDIR) }
        if access(path, W_OK | X_OK) != 0 { throw failure(path, "written", errno) }
    }

    /// Makes a folder, and those above it, in which nothing stands yet. It may be there already, empty.
    ///
    /// - Throws: `InputError` if there is something in it or it cannot be made, `DiskError` if the disk is full.
    public static func makeEmpty(_ path: String, remedy: String) throws -> WrittenFolder {
        try make(path, remedy: remedy)
        let folder = try WrittenFolder(path)
        guard try folder.names().isEmpty else {
            throw InputError(file: path, message: "there is something in the folder already", remedy: remedy)
        }
        return folder
    }

    /// Locks the folder for this process, until the object is gone or the process ends.
    ///
    /// - Returns: false if another process holds it.
    public func lock() throws(DiskError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw DiskError(path: path, code: errno)
    }

    /// Whether the path still names this folder, and not another one that has taken its place.
    public var isInPlace: Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(path, &named) == 0
            && held.st_dev == named.st_dev && held.st_ino == named.st_ino
    }

    // MARK: Looking

    /// The names of everything in it.
    public func names() throws(DiskError) -> [String] {
        // A descriptor of its own, with a position of its own; closedir(3) closes it.
        let opened = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0, let stream = fdopendir(opened) else { throw DiskError(path: path, code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// What stands under a name.
    enum Entry { case none, file, folder, link, other }

    func entry(_ name: String) -> Entry {
        var facts = stat()
        guard fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { return .none }
        return switch facts.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .other
        }
    }

    /// Whether a name here and a path, followed through its links, lead to one and the same file.
    func holds(_ name: String, whichIs path: String) -> Bool {
        var (own, other) = (stat(), stat())
        guard fstatat(descriptor, name, &own, AT_SYMLINK_NOFOLLOW) == 0, stat(path, &other) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    /// Refuses a folder in which one of the names is anything but a regular file: opbench would write to what it leads to.
    public func refuseForeign(_ names: [String]) throws(InputError) {
        for name in names {
            switch entry(name) {
            case .none, .file: continue
            case .link: throw Self.foreign(file(name), "a symbolic link")
            case .folder: throw Self.foreign(file(name), "a folder")
            case .other: throw Self.foreign(file(name), "a device, FIFO or socket")
            }
        }
    }

    private static func foreign(_ file: String, _ what: String) -> InputError {
        InputError(
            file: file, message: "\(what) is where opbench writes its own file",
            remedy: "remove it, or name another folder")
    }

    // MARK: Writing

    /// Opens a file to be written; `flags` may hold `O_CREAT` and the like. The caller closes it.
    public func open(_ name: String, _ flags: Int32) throws(DiskError) -> Int32 {
        let opened = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | flags, 0o666)
        if opened < 0 { throw failure(name) }
        return opened
    }

    /// Replaces a file in one step: a reader sees the old one or the new one, never a part.
    public func replace(_ name: String, by text: String) throws(DiskError) {
        try publish(try stage(text, for: name), as: name)
    }

    /// Writes a file that is not there yet. On failure nothing is left.
    ///
    /// - Throws: `DiskError`, of code `EEXIST` if anything stands there.
    public func create(_ name: String, _ text: String) throws(DiskError) {
        let opened = try open(name, O_CREAT | O_EXCL)
        defer { close(opened) }
        do throws(SystemError) {
            try FileBytes.write(text, to: opened)
            if fsync(opened) != 0 { throw SystemError(code: errno) }
        } catch {
            discard(name)
            throw DiskError(path: file(name), code: error.code)
        }
    }

    /// Writes a text, to the disk and not only to the system's buffers, under a passing name that nobody can foresee.
    ///
    /// - Returns: that name, for `publish` or `discard`.
    func stage(_ text: String, for name: String) throws(DiskError) -> String {
        let temporary = Self.temporaryName()
        let opened = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        if opened < 0 { throw failure(name) }
        defer { close(opened) }
        do throws(SystemError) {
            try FileBytes.write(text, to: opened)
            if fsync(opened) != 0 { throw SystemError(code: errno) }
        } catch {
            discard(temporary)
            throw DiskError(path: file(name), code: error.code)
        }
        return temporary
    }

    /// Gives a file under a passing name its own, in place of what has it. On failure it is removed.
    public func publish(_ temporary: String, as name: String) throws(DiskError) {
        if renameat(descriptor, temporary, descriptor, name) == 0 { return }
        let failure = failure(name)
        discard(temporary)
        throw failure
    }

    /// Removes a file under a passing name.
    public func discard(_ temporary: String) { unlinkat(descriptor, temporary, 0) }

    private func failure(_ name: String) -> DiskError { DiskError(path: file(name), code: errno) }

    /// Copies a regular file from elsewhere into the folder, under a name that none has yet. On failure nothing is left.
    ///
    /// - Throws: `InputError` if the file cannot be read, `DiskError` if the copy cannot be written.
    public func copy(_ source: String, as name: String) throws {
        let source = try ReadFile(source, limit: .max)
        let opened = try open(name, O_CREAT | O_EXCL)
        defer { close(opened) }
        do {
            while true {
                let part = try source.next()
                if part.isEmpty { break }
                try FileBytes.write(part, to: opened)
            }
            if fsync(opened) != 0 { throw SystemError(code: errno) }
        } catch {
            discard(name)
            throw (error as? SystemError).map { DiskError(path: file(name), code: $0.code) } ?? error
        }
    }

    /// Has the disk keep the names that were given so far. Not every file system can be asked to.
    public func sync() throws(DiskError) {
        if fsync(descriptor) != 0, errno != EINVAL { throw DiskError(path: path, code: errno) }
    }

    // MARK: Passing names

    /// A name that no file has, for what gets its own name later.
    public static func temporaryName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return ".opbench-" + String(repeating: "0", count: 16 - digits.count) + digits + ".new"
    }

    /// Whether it is such a name. A process that is killed may leave one.
    public static func isTemporary(_ name: String) -> Bool { name.hasPrefix(".opbench-") && name.hasSuffix(".new") }

    /// Removes files that killed processes have left. To be called by who holds the lock.
    public func removeTemporaries(among names: [String]) {
        for name in names where Self.isTemporary(name) { discard(name) }
    }
}

/// A folder of this process's own, for other programs' files; under TMPDIR, or else in `/tmp`. It is removed with the object,
/// and if the process is killed, by the next one that makes such a folder.
///
/// Thread-safe.
public final class PassingFolder: Sendable {
    public let path: String
    /// Locked as long as the object lives: so others know that the folder is in use.
    private let folder: WrittenFolder

    private static let prefix = "opbench-passing-"
    /// Who has just made a folder has this long to lock it, in seconds.
    private static let grace = 60

    /// - Parameter parent: where it is made, and others are looked for.
    /// - Throws: `DiskError` if it cannot be made.
    public init(in parent: String = FileManager.default.temporaryDirectory.path) throws(DiskError) {
        Self.removeStale(in: parent)
        path = "\(parent)/\(Self.prefix)\(UUID().uuidString)"
        if mkdir(path, 0o700) != 0 {
            throw DiskError(path: path, code: errno, remedy: "make room there, or name another folder by TMPDIR")
        }
        folder = try WrittenFolder(path)
        _ = try folder.lock()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Removes this user's folders that no process has locked.
    private static func removeStale(in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            var facts = stat()
            guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == geteuid(),
                facts.st_mtim.tv_sec + grace < time(nil), let folder = try? WrittenFolder(path),
                (try? folder.lock()) == true
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
