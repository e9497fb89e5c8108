import OperationEngine

extension OperationTrace {
    /// A histogram with buckets an eighth of a power of two wide. A value read from it is at most an eighth too high,
    /// and never too low. Its size is fixed, 4 KB.
    public struct Histogram: Sendable, Equatable {
        /// How many values were recorded.
        public private(set) var count = 0
        /// Their sum.
        public private(set) var sum: Int64 = 0
        /// The highest one; 0 if there is none.
        public private(set) var maximum: Int64 = 0
        private var buckets = [Int](repeating: 0, count: Self.bucketCount)

        private static let steps = 8
        /// One for each value below `steps`, and `steps` for each higher power of two that an `Int64` can have.
        private static let bucketCount = steps * (Int64.bitWidth - 3)

        /// An empty histogram.
        public init() {}

        /// Records a value. A negative one counts as 0.
        public mutating func record(_ value: Int64) {
            let value = max(0, value)
            count += 1
            sum = sum.addingReportingOverflow(value).overflow ? .max : sum + value
            maximum = max(maximum, value)
            buckets[Self.bucket(of: value)] += 1
        }

        /// Adds the values of another histogram.
        public mutating func add(_ other: Histogram) {
            count += other.count
            sum = sum.addingReportingOverflow(other.sum).overflow ? .max : sum + other.sum
            maximum = max(maximum, other.maximum)
            for index in buckets.indices { buckets[index] += other.buckets[index] }
        }

        /// The value that the given part of all values, from 0 to 1, does not exceed; 0 if there is none. At most an
        /// eighth too high.
        public func quantile(_ part: Double) -> Int64 {
            // For NaN, the lowest value.
            let rank = part > 0 ? max(1, Int((min(part, 1) * Double(count)).rounded(.up))) : 1
            var seen = 0
            for (index, number) in buckets.enumerated() where number > 0 {
                seen += number
                if seen >= rank { return min(maximum, Self.highestValue(of: index)) }
            }
            return maximum
        }

        private static func bucket(of value: Int64) -> Int {
            if value < steps { return Int(value) }
            let power = Int64.bitWidth - 1 - value.leadingZeroBitCount
            // The three bits behind the leading one.
            return (power - 2) * steps + Int(value >> Int64(power - 3)) & (steps - 1)
        }

        private static func highestValue(of bucket: Int) -> Int64 {
            if bucket < steps { return Int64(bucket) }
            let power = bucket / steps + 2
            let lowest = Int64(steps + bucket % steps) << Int64(power - 3)
            return lowest + (1 << Int64(power - 3) - 1)
        }
    }
}
