import Foundation
import Glibc
import Synchronization

/// An open folder in which opbench writes files. They stay together even if its path is moved or replaced meanwhile.
///
/// No file is opened through a symbolic link, and a file is replaced as a whole or not at all. Thread-safe.
public final class WrittenFolder: Sendable {
    public let path: String
    let descriptor: Int32

    /// - Throws: `DiskError` if it cannot be opened.
    public convenience init(_ path: String) throws(DiskError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw DiskError(path: path, code: errno) }
        self.init(path, descriptor: descriptor)
    }

    /// Takes ownership of the descriptor.
    init(_ path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        // A forked child that has not yet called exec holds the lock too: closing would not release it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    public func file(_ name: String) -> String {
        path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
    }

    /// The folder that contains a file.
    public static func holding(_ file: String) -> String {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == file.startIndex ? "/" : String(decoding: file.utf8[..<slash], as: UTF8.self)
    }

    /// The path without trailing slashes, except for the root.
    public static func withoutSlashes(_ path: String) -> String {
        guard let last = path.utf8.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return path.isEmpty ? "" : "/" }
        return String(path[...last])
    }

    /// Makes a folder and its parents, with the modes that the umask leaves.
    ///
    /// - Throws: `InputError` if the path does not lead to a writable folder, `DiskError` if the disk is full.
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

    /// Makes an empty folder and its parents. It may exist already, if it is empty.
    ///
    /// - Throws: `InputError` if the folder is not empty or cannot be made, `DiskError` if the disk is full.
    public static func makeEmpty(_ path: String, remedy: String) throws -> WrittenFolder {
        try make(path, remedy: remedy)
        let folder = try WrittenFolder(path)
        guard try folder.names().isEmpty else {
            throw InputError(file: path, message: "the folder is not empty", remedy: remedy)
        }
        return folder
    }

    /// Locks the folder for this process, until the object or the process ends.
    ///
    /// - Returns: false if another process holds it.
    public func lock() throws(DiskError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw DiskError(path: path, code: errno)
    }

    /// Whether the path still names this folder, and not one that has replaced it.
    public var isInPlace: Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(path, &named) == 0
            && held.st_dev == named.st_dev && held.st_ino == named.st_ino
    }

    // MARK: Reading

    /// The names of all entries.
    public func names() throws(DiskError) -> [String] {
        // A separate descriptor with its own position; closedir(3) closes it.
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

    /// Refuses a folder in which one of the names is not a regular file: opbench would write to its target.
    public func refuseForeign(_ names: [String]) throws(InputError) {
        for name in names {
            var facts = stat()
            guard fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0, facts.st_mode & S_IFMT != S_IFREG else {
                continue
            }
            let what =
                switch facts.st_mode & S_IFMT {
                case S_IFLNK: "a symbolic link"
                case S_IFDIR: "a folder"
                default: "a device, FIFO or socket"
                }
            throw InputError(
                file: file(name), message: "\(what) is where opbench writes its own file",
                remedy: "move it away, or name another folder")
        }
    }

    // MARK: Writing

    /// Opens a file to be written; `flags` may hold `O_CREAT` and the like. The caller closes it.
    public func open(_ name: String, _ flags: Int32) throws(DiskError) -> Int32 {
        let opened = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | flags, 0o666)
        if opened < 0 { throw failure(name) }
        return opened
    }

    /// Replaces a file in one step: a reader sees the old file or the new one, never a part.
    public func replace(_ name: String, by text: String) throws(DiskError) {
        try publish(try stage(text, for: name), as: name)
    }

    /// Writes a new file. On failure nothing is left.
    ///
    /// - Throws: `DiskError`, with code `EEXIST` if the name is taken.
    public func create(_ name: String, _ text: String) throws(DiskError) { try write(text, to: name, for: name) }

    /// Writes a text through to the disk, under an unpredictable temporary name.
    ///
    /// - Returns: the temporary name, for `publish` or `discard`.
    func stage(_ text: String, for name: String) throws(DiskError) -> String {
        let temporary = Self.temporaryName()
        try write(text, to: temporary, for: name)
        return temporary
    }

    /// - Parameter name: the one that errors name.
    private func write(_ text: String, to new: String, for name: String) throws(DiskError) {
        let opened = openat(descriptor, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        if opened < 0 { throw failure(name) }
        defer { close(opened) }
        do throws(SystemError) {
            try FileBytes.write(text, to: opened)
            if fsync(opened) != 0 { throw SystemError(code: errno) }
        } catch {
            discard(new)
            throw DiskError(path: file(name), code: error.code)
        }
    }

    /// Renames a temporary file to its final name, replacing any file there. On failure it is removed.
    public func publish(_ temporary: String, as name: String) throws(DiskError) {
        if renameat(descriptor, temporary, descriptor, name) == 0 { return }
        let failure = failure(name)
        discard(temporary)
        throw failure
    }

    public func discard(_ temporary: String) { unlinkat(descriptor, temporary, 0) }

    private func failure(_ name: String) -> DiskError { DiskError(path: file(name), code: errno) }

    /// Copies a regular file into the folder, under a new name. On failure nothing is left.
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

    /// Makes the disk keep the entries made so far. Not every file system supports this.
    public func sync() throws(DiskError) {
        if fsync(descriptor) != 0, errno != EINVAL { throw DiskError(path: path, code: errno) }
    }

    // MARK: Temporary names

    /// An unused name for a file that is renamed later.
    public static func temporaryName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return ".opbench-" + String(repeating: "0", count: 16 - digits.count) + digits + ".new"
    }

    /// Whether the name is temporary. A killed process may leave such a file.
    public static func isTemporary(_ name: String) -> Bool { name.hasPrefix(".opbench-") && name.hasSuffix(".new") }

    /// Removes files that killed processes have left. The caller holds the lock.
    public func removeTemporaries(among names: [String]) {
        for name in names where Self.isTemporary(name) { discard(name) }
    }
}

/// A folder with a temporary name, which appears under its own name as a whole. It is removed with the object unless
/// published.
///
/// Thread-safe.
public final class StagedFolder: Sendable {
    public let folder: WrittenFolder
    private let parent: WrittenFolder
    private let isPublished = Atomic(false)

    /// - Throws: `DiskError` if it cannot be made.
    public init(in parent: WrittenFolder) throws(DiskError) {
        self.parent = parent
        let path = parent.file(WrittenFolder.temporaryName())
        if mkdir(path, 0o777) != 0 { throw DiskError(path: parent.path, code: errno) }
        folder = try WrittenFolder(path)
    }

    deinit { if !isPublished.load(ordering: .relaxed) { try? FileManager.default.removeItem(atPath: folder.path) } }

    /// Renames the folder to its final name, which must be free.
    ///
    /// - Throws: `DiskError`, with code `EEXIST` if the name is taken.
    public func publish(as name: String) throws(DiskError) {
        let target = parent.file(name)
        if rename(folder.path, target) != 0 {
            throw DiskError(path: target, code: [ENOTEMPTY, ENOTDIR].contains(errno) ? EEXIST : errno)
        }
        isPublished.store(true, ordering: .relaxed)
    }
}

/// A temporary folder of this process for other programs' files, under TMPDIR or else in `/tmp`. It is removed with the
/// object; if the process is killed, the next one that makes such a folder removes it.
///
/// Thread-safe.
public final class PassingFolder: Sendable {
    public let path: String
    /// Locked while the object lives: other processes see that the folder is in use.
    private let folder: WrittenFolder

    private static let prefix = "opbench-passing-"
    /// The time that a process has to lock a folder it has made, in seconds.
    private static let grace = 60

    /// - Parameter parent: the folder in which it is made, and in which stale ones are looked for.
    /// - Throws: `DiskError` if it cannot be made.
    public init(in parent: String = FileManager.default.temporaryDirectory.path) throws(DiskError) {
        Self.removeStale(in: parent)
        path = "\(parent)/\(Self.prefix)\(UUID().uuidString)"
        if mkdir(path, 0o700) != 0 {
            throw DiskError(path: path, code: errno, remedy: "make room there, or set TMPDIR to another folder")
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
