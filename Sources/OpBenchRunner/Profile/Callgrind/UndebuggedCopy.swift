import Foundation
import Glibc
import OpBenchModel

/// A copy of a program without its own debug information. valgrind reads all debug information before it starts a
/// program, and fails on newer forms of DWARF; it finds the names of functions in the symbol table.
struct UndebuggedCopy: Sendable {
    let path: String
    /// The folder of the program, which may contain its libraries.
    private let folder: String

    /// - Parameters:
    ///   - program: a path.
    ///   - path: the path of the copy, which must not exist.
    /// - Throws: `DiskError`.
    init(of program: String, at path: String) throws {
        self.path = path
        folder = WrittenFolder.holding(program)
        do {
            try FileManager.default.copyItem(atPath: program, toPath: path)
        } catch {
            throw DiskError(path: path, code: (error as? CocoaError)?.code == .fileWriteOutOfSpace ? ENOSPC : EIO)
        }
        // The program may be read-only.
        chmod(path, 0o700)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw DiskError(path: path, code: errno) }
        defer { close(descriptor) }
        try Self.renameSections(descriptor, path)
    }

    /// The variables that let the copy find the libraries beside the program.
    var environment: [String: String] {
        let name = "LD_LIBRARY_PATH"
        let known = getenv(name).map { String(cString: $0) } ?? ""
        return [name: known.isEmpty ? folder : "\(known):\(folder)"]
    }

    // MARK: ELF

    /// Offsets in a 64-bit file's header, elf(5): the start of the section headers, the size of one, and the index of
    /// the header for the sections' names. In a section's header: the section's start and size.
    private enum Place {
        static let sections = 0x28, headerSize = 0x3A, names = 0x3E
        static let offset = 0x18, size = 0x20
        static let header = 64
    }

    /// Renames sections of debug information, with names of the same length. Other files stay unchanged.
    private static func renameSections(_ descriptor: Int32, _ path: String) throws(DiskError) {
        guard let file = read(descriptor, 0, Place.header), file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else {
            return
        }
        let (sections, names) = (number(file, Place.sections, 8), number(file, Place.names, 2))
        // Skips files without sections, or with too many for the index of the names to fit here.
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

    /// A number, least significant byte first; 0 if it exceeds any file's size.
    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        let value = bytes[place..<place + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value < 1 << 40 ? Int(value) : 0
    }
}
