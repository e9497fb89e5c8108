/// Splits the cells of a plan into shards of about the same cost: the dearest first, each into the shard that has least so
/// far. The longest shard takes at most 4/3 of the shortest possible one (Graham, 1969). A cell is never split.
///
/// The split follows from the costs and ids alone, so that every machine computes the same one.
public struct ShardBalance: Sendable {
    /// By shard, from the first on, the ids of its cells, and their cost together.
    public let shards: [(cellIDs: [String], cost: Int64)]

    /// - Parameters:
    ///   - cells: each id once; costs of 0 or more, in any unit.
    ///   - count: of shards, 1 or more. There may be more than cells; then some are empty.
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
            shards[shard].cost = shards[shard].cost.addingSaturated(cell.cost)
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
    /// - Returns: whose it was.
    mutating func add(_ cost: Int64) -> Int {
        let index = heap[0].index
        heap[0].load = heap[0].load.addingSaturated(cost)
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

extension Int64 {
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}
