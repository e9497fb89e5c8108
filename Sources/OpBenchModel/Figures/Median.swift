/// The middle value, or the mean of the two middle ones; nil if there are none.
public func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    var values = values
    return values.withUnsafeMutableBufferPointer { values in
        let middle = values.count / 2
        let upper = values.select(middle)
        // The values before the selected one are no greater.
        return values.count % 2 == 1 ? upper : mean(values[..<middle].max().unsafelyUnwrapped, upper)
    }
}

/// The mean, even if the sum exceeds the range of Double.
public func mean(_ lower: Double, _ upper: Double) -> Double {
    let sum = lower + upper
    return sum.isFinite ? sum / 2 : lower / 2 + upper / 2
}

extension UnsafeMutableBufferPointer<Double> {
    /// Moves the value that sorting would put at `place` there, with no lesser value behind it and no greater one
    /// before it. Linear time on average (Hoare 1961, "Find"): a calibration takes many thousands of medians.
    public func select(_ place: Int) -> Double {
        guard let values = baseAddress else { preconditionFailure("nothing to select from") }
        var (first, last) = (0, count - 1)
        while first < last {
            let pivot = values[(first + last) / 2]
            // Values passed from below are no greater than the pivot, values passed from above no less.
            var (low, high) = (first, last)
            while low <= high {
                while values[low] < pivot { low += 1 }
                while pivot < values[high] { high -= 1 }
                if low <= high {
                    (values[low], values[high]) = (values[high], values[low])
                    (low, high) = (low + 1, high - 1)
                }
            }
            if place <= high {
                last = high
            } else if place >= low {
                first = low
            } else {
                break
            }
        }
        return values[place]
    }
}
