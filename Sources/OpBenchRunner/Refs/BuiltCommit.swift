import Foundation

/// A program that was built from a commit, with the files beside it.
public struct BuiltCommit: Sendable {
    public let commit: PackageCommit
    /// The folder, which contains nothing else.
    let folder: String
    let product: String

    public var program: String { "\(folder)/\(product)" }

    /// Whether both programs are the same, byte for byte, except for the commit that each reports.
    ///
    /// The commit that is linked into a program always has the same length. Both programs were built in one place, so
    /// their paths do not differ.
    ///
    /// - Throws: if a file cannot be read.
    public func isSame(as other: BuiltCommit) throws -> Bool {
        let files = try files()
        guard try files == other.files() else { return false }
        return try files.allSatisfy { name in
            Self.areSame(
                try contents(of: name), commit.id, try other.contents(of: name), other.commit.id)
        }
    }

    /// The record of how the program was made. It names the compiler and is not compared.
    static let record = "made-by"

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0 != Self.record }.sorted()
    }

    private func contents(of name: String) throws -> Data {
        let path = "\(folder)/\(name)"
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return Data() }
        return try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    }

    /// Whether two files are the same outside each one's own stamp and the linker's digest of all the rest, which
    /// covers the stamp.
    static func areSame(_ one: Data, _ stamp: String, _ other: Data, _ otherStamp: String) -> Bool {
        guard one.count == other.count else { return false }
        let own = ownParts(of: one, stamp)
        guard own == ownParts(of: other, otherStamp) else { return false }
        var begin = 0
        for part in own + [one.count..<one.count] {
            guard begin >= part.lowerBound || isSame(one, other, begin..<part.lowerBound) else { return false }
            begin = max(begin, part.upperBound)
        }
        return true
    }

    /// The ranges, in the order of the file.
    private static func ownParts(of data: Data, _ stamp: String) -> [Range<Int>] {
        var parts = ELFBuildID.places(in: data)
        var rest = data.startIndex..<data.endIndex
        while let found = data.range(of: Data(stamp.utf8), in: rest) {
            parts.append(found.lowerBound - data.startIndex..<found.upperBound - data.startIndex)
            rest = found.upperBound..<data.endIndex
        }
        return parts.sorted { $0.lowerBound < $1.lowerBound }
    }

    private static func isSame(_ one: Data, _ other: Data, _ range: Range<Int>) -> Bool {
        one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                memcmp(one.baseAddress! + range.lowerBound, other.baseAddress! + range.lowerBound, range.count) == 0
            }
        }
    }
}
