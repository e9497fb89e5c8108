/// The time between marks: what of a profile counts.
public struct MarkedTime: Equatable, Sendable {
    /// In order, apart from each other, none empty.
    public let ranges: [Range<Int64>]

    /// - Parameter marks: pairs of a beginning and an end, in any order; pairs that are none are left out.
    public init(_ marks: [[Int64]]) {
        self.init(ranges: marks.compactMap { $0.count == 2 && $0[0] < $0[1] ? $0[0]..<$0[1] : nil })
    }

    public init(ranges: [Range<Int64>]) {
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

    /// Together, in nanoseconds.
    public var duration: Int64 {
        ranges.reduce(into: 0) { $0.addCapped($1.upperBound.length(since: $1.lowerBound)) }
    }

    public var end: Int64? { ranges.last?.upperBound }

    public func contains(_ time: Int64) -> Bool {
        let index = firstEndingAfter(time)
        return index < ranges.count && ranges[index].lowerBound <= time
    }

    /// How much of the time from `begin` to `end` lies between marks, and where it begins.
    public func overlap(from begin: Int64, to end: Int64) -> (length: Int64, begin: Int64) {
        var (length, first): (Int64, Int64?) = (0, nil)
        var index = firstEndingAfter(begin)
        while index < ranges.count, ranges[index].lowerBound < end {
            let from = max(begin, ranges[index].lowerBound)
            length.addCapped(min(end, ranges[index].upperBound).length(since: from))
            first = first ?? from
            index += 1
        }
        return (length, first ?? begin)
    }

    /// By halving.
    private func firstEndingAfter(_ time: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound > time { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Int64 {
    /// A sum of lengths; the greatest number where it goes over.
    mutating func addCapped(_ length: Int64) {
        let (sum, overflow) = addingReportingOverflow(length)
        self = overflow ? .max : sum
    }

    /// From an earlier time to this one; the greatest number where it goes over, 0 from a later one.
    func length(since begin: Int64) -> Int64 {
        let (length, overflow) = subtractingReportingOverflow(begin)
        return self < begin ? 0 : overflow ? .max : length
    }
}
