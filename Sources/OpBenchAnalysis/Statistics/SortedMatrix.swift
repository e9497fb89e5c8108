import OpBenchModel

/// Numbers in rows, ascending along each row and down each column, computed on demand: a row begins no earlier than the
/// one above it, and all end in the same column.
protocol SortedMatrix {
    var rows: Int { get }
    func columns(of row: Int) -> Range<Int>
    func value(_ row: Int, _ column: Int) -> Double
}

extension SortedMatrix {
    var count: Int { (0..<rows).reduce(0) { $0 + columns(of: $1).count } }

    /// The number that sorting would put at `place`, from 0; the matrix is not empty. Memory is linear in the number of
    /// rows, time in rows plus columns times the logarithm of their product: as in quickselect, a random candidate
    /// roughly halves the rest, and the numbers below it are counted along the staircase that separates them from the
    /// others (after Johnson and Mizoguchi 1978).
    func select(_ place: Int) -> Double {
        var candidates = (0..<rows).map(columns)
        var left = count
        // A fixed seed, so the time does not vary from run to run.
        var generator = SplitMix64(seed: UInt64(left))
        var before = 0
        while left > max(64, 2 * rows) {
            let pivot = draw(Int.random(in: 0..<left, using: &generator), from: candidates)
            let (less, notGreater) = (ends { $0 < pivot }, ends { $0 <= pivot })
            let (lessCount, notGreaterCount) = (size(less), size(notGreater))
            if place < lessCount {
                for row in candidates.indices { candidates[row] = candidates[row].clamped(to: 0..<less[row]) }
            } else if place < notGreaterCount {
                return pivot
            } else {
                for row in candidates.indices {
                    candidates[row] = candidates[row].clamped(to: notGreater[row]..<Int.max)
                }
                before = notGreaterCount
            }
            left = candidates.reduce(0) { $0 + $1.count }
        }
        var rest = candidates.enumerated().flatMap { row, columns in columns.map { value(row, $0) } }
        return rest.withUnsafeMutableBufferPointer { $0.select(place - before) }
    }

    /// The count of numbers below the bound, and the greatest of them; −∞ if there are none.
    func less(than bound: Double) -> (count: Int, greatest: Double) {
        let ends = ends { $0 < bound }
        let greatest = ends.enumerated().reduce(-Double.infinity) { greatest, end in
            end.element > columns(of: end.offset).lowerBound
                ? max(greatest, value(end.offset, end.element - 1)) : greatest
        }
        return (size(ends), greatest)
    }

    /// For each row, the column up to which all numbers are below a bound; it never rises from one row to the next.
    private func ends(_ isBelow: (Double) -> Bool) -> [Int] {
        var end = columns(of: 0).upperBound
        return (0..<rows).map { row in
            let columns = columns(of: row)
            while end > columns.lowerBound, !isBelow(value(row, end - 1)) { end -= 1 }
            return max(end, columns.lowerBound)
        }
    }

    private func size(_ ends: [Int]) -> Int {
        ends.enumerated().reduce(0) { $0 + $1.element - columns(of: $1.offset).lowerBound }
    }

    private func draw(_ index: Int, from candidates: [Range<Int>]) -> Double {
        var rest = index
        for (row, columns) in candidates.enumerated() {
            if rest < columns.count { return value(row, columns.lowerBound + rest) }
            rest -= columns.count
        }
        preconditionFailure("an index among the candidates")
    }
}
