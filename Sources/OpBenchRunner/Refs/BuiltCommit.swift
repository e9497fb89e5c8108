import Foundation

/// A program that was built of a commit, with what lies beside it.
public struct BuiltCommit: Sendable {
    public let commit: PackageCommit
    /// The folder, which holds nothing else.
    let folder: String
    let product: String

    public var program: String { "\(folder)/\(product)" }

    /// Whether both are the same, byte for byte, but for the commit that each tells.
    ///
    /// What is linked into the program as its commit has the same length in all. Both were built at one place, so that their
    /// paths do not differ.
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

    /// How it was made, which names the compiler, is no part of it.
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

    /// Whether two files are the same where none of them has its own stamp, nor the digest that the linker makes of all the
    /// rest, stamp included.
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

    /// In their order.
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
