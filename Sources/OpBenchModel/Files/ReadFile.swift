import Glibc

/// A regular file that is read from its beginning to its end, part by part, with reasons that a person can act on.
///
/// Anything else is refused unopened: a FIFO may never end, nor `/dev/zero`, and opening a device may set it off. A file
/// longer than its limit is refused, also one that only grows beyond it while it is read.
package final class ReadFile {
    let path: String
    private let descriptor: Int32
    private let limit: Int
    private var total = 0

    /// - Parameter limit: in bytes.
    package init(_ path: String, limit: Int) throws(InputError) {
        self.path = path
        self.limit = limit
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw Self.unreadable(path, errno) }
        let kind = facts.st_mode & S_IFMT
        if kind == S_IFDIR { throw Self.unreadable(path, EISDIR) }
        guard kind == S_IFREG else {
            throw InputError(
                file: path, message: "this is a device, FIFO or socket", remedy: "save its contents to a file")
        }
        if facts.st_size > limit { throw Self.tooLarge(path, limit) }
        // Not to be kept waiting by what has taken the file's place since.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
    }

    deinit { close(descriptor) }

    /// Some bytes of the file, wherever it is being read; fewer where it ends.
    func bytes(_ range: Range<Int>) throws(InputError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            var part = [UInt8](repeating: 0, count: range.count - bytes.count)
            let count = pread(descriptor, &part, part.count, off_t(range.lowerBound + bytes.count))
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw Self.unreadable(path, errno) }
            if count == 0 { break }
            bytes += part[..<count]
        }
        return bytes
    }

    /// The next part of the file; empty at its end.
    package func next() throws(InputError) -> [UInt8] {
        while true {
            let (descriptor, size) = (descriptor, 1 << 18)
            var code: Int32 = 0
            let part = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                let result = read(descriptor, buffer.baseAddress, size)
                if result < 0 { code = errno }
                count = max(0, result)
            }
            if code == EINTR { continue }
            if code != 0 { throw Self.unreadable(path, code) }
            total += part.count
            if total > limit { throw Self.tooLarge(path, limit) }
            return part
        }
    }

    private static func unreadable(_ file: String, _ code: Int32) -> InputError {
        let reason = code == ENOENT ? "no such file" : "cannot be read: " + String(cString: strerror(code))
        return InputError(file: file, message: reason, remedy: "name a readable file")
    }

    private static func tooLarge(_ file: String, _ limit: Int) -> InputError {
        InputError(
            file: file, message: "the file is larger than \(limit >> 20) MiB", remedy: "is this the right file?")
    }
}
