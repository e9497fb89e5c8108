import OpBenchModel

/// The time between marks, which is the part of a profile that counts.
public struct MarkedTime: Equatable, Sendable {
    /// The ranges, in order, disjoint and not empty.
    public let ranges: [Range<Int64>]

    /// - Parameter ranges: in any order.
    public init(_ ranges: [Range<Int64>]) {
        var merged: [Range<Int64>] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        self.ranges = merged
    }

    /// The total duration, in nanoseconds.
    public var duration: Int64 {
        ranges.reduce(into: 0) { $0.addClamped($1.upperBound.length(since: $1.lowerBound)) }
    }

    public var end: Int64? { ranges.last?.upperBound }

    public func contains(_ time: Int64) -> Bool {
        let index = firstEndingAfter(time)
        return index < ranges.count && ranges[index].lowerBound <= time
    }

    /// The part of the time from `begin` to `end` that is between marks, and its beginning.
    public func overlap(from begin: Int64, to end: Int64) -> (length: Int64, begin: Int64) {
        var (length, first): (Int64, Int64?) = (0, nil)
        var index = firstEndingAfter(begin)
        while index < ranges.count, ranges[index].lowerBound < end {
            let from = max(begin, ranges[index].lowerBound)
            length.addClamped(min(end, ranges[index].upperBound).length(since: from))
            first = first ?? from
            index += 1
        }
        return (length, first ?? begin)
    }

    private func firstEndingAfter(_ time: Int64) -> Int { ranges.partition { $0.upperBound > time } }
}

extension Int64 {
    /// The length from an earlier time to this one; the maximum on overflow, 0 if the other time is later.
    func length(since begin: Int64) -> Int64 {
        let (length, overflow) = subtractingReportingOverflow(begin)
        return self < begin ? 0 : overflow ? .max : length
    }
}
