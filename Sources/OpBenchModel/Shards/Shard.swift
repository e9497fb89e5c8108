/// One of the parts of a sweep, each measured on one machine: `2/8`.
public struct Shard: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// From 1 to `count`.
    public let index: Int
    public let count: Int

    /// The largest number of parts of a sweep.
    public static let countLimit = 10_000

    /// Traps if the shard does not exist.
    public init(index: Int, count: Int) {
        precondition((1...Self.countLimit).contains(count) && (1...count).contains(index), "no such shard")
        (self.index, self.count) = (index, count)
    }

    /// Reads `2/8`: whole numbers without signs or leading zeros.
    ///
    /// - Returns: nil for anything else, and for a shard that does not exist.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]),
            (1...Self.countLimit).contains(count), (1...count).contains(index)
        else { return nil }
        self.init(index: index, count: count)
    }

    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard let first = digits.first, first != UInt8(ascii: "0"), digits.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int(Substring(digits))
    }

    public var description: String { "\(index)/\(count)" }

    public static func < (left: Shard, right: Shard) -> Bool { (left.count, left.index) < (right.count, right.index) }

    /// All shards of this one's sweep.
    public var all: [Shard] { (1...count).map { Shard(index: $0, count: count) } }

    /// The name of the shard's part of a sweep, and of its folder: `3fa9c2d41b07-02of16`. Names sort as the shards do.
    public func partName(sweep sha256: String) -> String {
        let (digits, width) = (String(index), String(count).utf8.count)
        return "\(sha256.prefix(12))-\(String(repeating: "0", count: width - digits.utf8.count))\(digits)of\(count)"
    }

    /// The shard's elements of a list that begins with the most expensive one. The list is dealt out forth and back, so
    /// that the costs of two shards differ by the first element's cost at most.
    public func share<Element>(of list: [Element]) -> [Element] {
        list.enumerated().compactMap { position, element in
            let (round, place) = position.quotientAndRemainder(dividingBy: count)
            return (round.isMultiple(of: 2) ? place + 1 : count - place) == index ? element : nil
        }
    }
}

extension Shard: Codable, RawRepresentable {
    public init?(rawValue: String) { self.init(rawValue) }
    public var rawValue: String { description }
}
