/// The middle value, or the mean of the two middle ones; nil of nothing.
public func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    var values = values
    return values.withUnsafeMutableBufferPointer { values in
        let middle = values.count / 2
        let upper = values.select(middle)
        // What is left of the selected one is no greater.
        return values.count % 2 == 1 ? upper : mean(values[..<middle].max().unsafelyUnwrapped, upper)
    }
}

/// Half of the sum, which may exceed what a Double holds where its half does not.
public func mean(_ lower: Double, _ upper: Double) -> Double {
    let sum = lower + upper
    return sum.isFinite ? sum / 2 : lower / 2 + upper / 2
}

extension UnsafeMutableBufferPointer<Double> {
    /// The value that sorting would put at `place`, which is put there, with none behind it less and none before it
    /// greater. In linear time on average (Hoare 1961, "Find"): a calibration takes many thousands of medians.
    public func select(_ place: Int) -> Double {
        guard let values = baseAddress else { preconditionFailure("nothing to select from") }
        var (first, last) = (0, count - 1)
        while first < last {
            let pivot = values[(first + last) / 2]
            // What has been passed from below is no greater than the pivot, what has been passed from above no less.
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
