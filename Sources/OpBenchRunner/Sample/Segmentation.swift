import Glibc

/// A series cut at its change points into segments of one mean each.
///
/// The least squares of every number of segments are found exactly (segment neighbourhood: Auger and Lawrence 1989).
/// The number is chosen by an information criterion of the form of Schwarz's (BIC), with a penalty that keeps noise in
/// one segment, even if it is skewed or successive values are similar.
struct Segmentation {
    struct Segment: Equatable {
        let range: Range<Int>
        let mean: Double
    }

    let segments: [Segment]
    /// The standard deviation of the values around the means of their segments.
    let deviation: Double

    private static let mostSegments = 6
    /// Shorter segments would be single disturbances.
    private static let leastLength = 3
    /// Per change point, in units of the logarithm of the number of values. Schwarz's criterion has 2.
    private static let penalty = 8.0
    /// The resolution of the values, relative to their mean: smaller deviations count as this much.
    private static let resolution = 0.001

    /// - Parameter values: at least one, with a positive mean.
    init(of values: [Double]) {
        let costs = Costs(values)
        let starts = Self.leastSquares(costs, count: values.count)
        let (count, logarithm) = (Double(values.count), log(Double(values.count)))
        let floor = count * costs.mean * costs.mean * Self.resolution * Self.resolution
        let scores = starts.enumerated().map { changes, best in
            count * log(max(best.cost, floor) / count) + Double(changes) * Self.penalty * logarithm
        }
        // Of equal scores the first, with the fewest segments.
        let chosen = scores.indices.min { scores[$0] < scores[$1] } ?? 0
        var ranges: [Range<Int>] = []
        var end = values.count
        for place in stride(from: chosen, through: 0, by: -1) {
            ranges.append(starts[place].starts[end]..<end)
            end = starts[place].starts[end]
        }
        segments = ranges.reversed().map { Segment(range: $0, mean: costs.mean(of: $0)) }
        let freedom = max(1, values.count - segments.count)
        deviation = (starts[chosen].cost / Double(freedom)).squareRoot()
    }

    /// The best cuts into one number of segments.
    private struct Best {
        /// The sum of squares of the whole series.
        let cost: Double
        /// The start of the last segment of the first values, by their number.
        let starts: [Int]
    }

    /// - Returns: the best cuts into one segment, two, and so on.
    private static func leastSquares(_ costs: Costs, count: Int) -> [Best] {
        // The least cost of the first values in the current number of segments, by their number.
        var least = (0...count).map { $0 < leastLength ? .infinity : costs.cost(0..<$0) }
        var found = [Best(cost: costs.cost(0..<count), starts: Array(repeating: 0, count: count + 1))]
        for segments in 2...mostSegments where segments * leastLength <= count {
            var next = [Double](repeating: .infinity, count: count + 1)
            var starts = [Int](repeating: 0, count: count + 1)
            for end in (segments * leastLength)...count {
                for start in ((segments - 1) * leastLength)...(end - leastLength) {
                    let cost = least[start] + costs.cost(start..<end)
                    if cost < next[end] { (next[end], starts[end]) = (cost, start) }
                }
            }
            least = next
            found.append(Best(cost: next[count], starts: starts))
        }
        return found
    }
}

/// Sums of squares around the means of ranges, in constant time each.
private struct Costs {
    let mean: Double
    /// The sums of the first deviations from the mean and of their squares, by number.
    private var sums: [Double] = [0]
    private var squares: [Double] = [0]

    init(_ values: [Double]) {
        let mean = values.reduce(0, +) / Double(values.count)
        self.mean = mean
        for value in values {
            sums.append(sums[sums.count - 1] + value - mean)
            squares.append(squares[squares.count - 1] + (value - mean) * (value - mean))
        }
    }

    func mean(of range: Range<Int>) -> Double {
        mean + (sums[range.upperBound] - sums[range.lowerBound]) / Double(range.count)
    }

    /// Not negative.
    func cost(_ range: Range<Int>) -> Double {
        let sum = sums[range.upperBound] - sums[range.lowerBound]
        return max(0, squares[range.upperBound] - squares[range.lowerBound] - sum * sum / Double(range.count))
    }
}
