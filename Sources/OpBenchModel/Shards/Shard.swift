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

    static func number(_ digits: Substring.UTF8View) -> Int? {
        guard let first = digits.first, first != UInt8(ascii: "0"), digits.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int(Substring(digits))
    }

    public var description: String { "\(index)/\(count)" }

    public static func < (left: Shard, right: Shard) -> Bool { (left.count, left.index) < (right.count, right.index) }

    /// The name of the shard's part of a sweep, and of its folder: `3fa9c2d41b07-02of16`. Names sort as the shards do.
    public func partName(sweep sha256: String) -> String {
        let (digits, width) = (String(index), String(count).utf8.count)
        return "\(sha256.prefix(12))-\(String(repeating: "0", count: width - digits.utf8.count))\(digits)of\(count)"
    }
}

extension Shard: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let shard = Shard(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no shard")
        }
        self = shard
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Splits the cells of a sweep into shards of similar cost: each cell, from the most expensive on, goes to the shard
/// with the least cost so far. The longest shard takes at most 4/3 of the shortest possible one (Graham, 1969). A cell
/// is never split.
///
/// The split depends only on costs and ids, so every machine computes the same one.
public struct ShardBalance: Sendable {
    /// For each shard, the ids of its cells and their total cost.
    public let shards: [(cellIDs: [String], cost: Int64)]

    /// - Parameters:
    ///   - cells: each id once; costs of 0 or more, in any unit.
    ///   - count: the number of shards, 1 or more. If there are more shards than cells, some are empty.
    public init(_ cells: [(id: String, cost: Int64)], count: Int) {
        var shards = [(cellIDs: [String], cost: Int64)](repeating: ([], 0), count: count)
        var loads = LeastFirst(count: count)
        let dearest = cells.sorted { left, right in
            left.cost != right.cost
                ? left.cost > right.cost : left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
        }
        for cell in dearest {
            let shard = loads.add(cell.cost)
            shards[shard].cellIDs.append(cell.id)
            shards[shard].cost.addClamped(cell.cost)
        }
        self.shards = shards
    }
}

/// A binary heap of loads, by load and then by index.
private struct LeastFirst {
    private var heap: [(load: Int64, index: Int)]

    init(count: Int) { heap = (0..<count).map { (0, $0) } }

    /// Adds to the least load.
    ///
    /// - Returns: the shard with that load.
    mutating func add(_ cost: Int64) -> Int {
        let index = heap[0].index
        heap[0].load.addClamped(cost)
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == parent { return index }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
