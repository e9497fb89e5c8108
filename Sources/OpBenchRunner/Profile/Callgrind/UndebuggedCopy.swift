import Foundation
import Glibc
import OpBenchModel

/// A copy of a program, without debug information of its own. valgrind reads all there is before it starts a program, and gives
/// up on forms of DWARF that are newer than itself; the names of functions it has from the table of symbols.
struct UndebuggedCopy: Sendable {
    let path: String
    /// Of the program, which may have libraries beside it.
    private let folder: String

    /// - Parameters:
    ///   - program: a path.
    ///   - path: of the copy; nothing is there.
    /// - Throws: `DiskError`.
    init(of program: String, at path: String) throws {
        self.path = path
        folder = WrittenFolder.holding(program)
        do {
            try FileManager.default.copyItem(atPath: program, toPath: path)
        } catch {
            throw DiskError(path: path, code: (error as? CocoaError)?.code == .fileWriteOutOfSpace ? ENOSPC : EIO)
        }
        // The program may be one that nobody may write.
        chmod(path, 0o700)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw DiskError(path: path, code: errno) }
        defer { close(descriptor) }
        try Self.renameSections(descriptor, path)
    }

    /// What the copy needs to find what stood beside the program.
    var environment: [String: String] {
        let name = "LD_LIBRARY_PATH"
        let known = getenv(name).map { String(cString: $0) } ?? ""
        return [name: known.isEmpty ? folder : "\(known):\(folder)"]
    }

    // MARK: ELF

    /// In the header of a file of 64 bits, elf(5): where the headers of sections begin, the size of one, and which is that
    /// of the sections' names; and in a section's header, where it begins and how long it is.
    private enum Place {
        static let sections = 0x28, headerSize = 0x3A, names = 0x3E
        static let offset = 0x18, size = 0x20
        static let header = 64
    }

    /// Gives sections of debug information another name, of the same length. What is no such file stays as it is.
    private static func renameSections(_ descriptor: Int32, _ path: String) throws(DiskError) {
        guard let file = read(descriptor, 0, Place.header), file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else {
            return
        }
        let (sections, names) = (number(file, Place.sections, 8), number(file, Place.names, 2))
        // Without sections, or with so many that their names stand elsewhere.
        guard sections >= Place.header, number(file, Place.headerSize, 2) == Place.header, names < 0xFF00,
            let section = read(descriptor, sections + Place.header * names, Place.header)
        else { return }
        let start = number(section, Place.offset, 8)
        guard var text = read(descriptor, start, min(number(section, Place.size, 8), 1 << 20)) else { return }
        let word = Array("debug".utf8)
        for place in text.indices.dropLast(word.count - 1) where text[place...].starts(with: word) {
            text[place] = UInt8(ascii: "x")
        }
        if pwrite(descriptor, text, text.count, off_t(start)) != text.count {
            throw DiskError(path: path, code: errno)
        }
    }

    private static func read(_ descriptor: Int32, _ offset: Int, _ count: Int) -> [UInt8]? {
        guard offset >= 0, count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
    }

    /// With its least byte first; what is beyond any file is 0.
    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        let value = bytes[place..<place + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value < 1 << 40 ? Int(value) : 0
    }
}
