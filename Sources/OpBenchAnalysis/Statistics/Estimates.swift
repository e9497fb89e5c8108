/// The middle value, or the mean of the two middle ones; nil of nothing.
public func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    var values = values
    return values.withUnsafeMutableBufferPointer { values in
        let middle = values.count / 2
        let upper = values.select(middle)
        // What is left of the selected one is no greater.
        return values.count % 2 == 1 ? upper : (values[..<middle].max().unsafelyUnwrapped + upper) / 2
    }
}

extension UnsafeMutableBufferPointer<Double> {
    /// The value that sorting would put at `place`, which is put there, with none behind it less and none before it
    /// greater. In linear time on average (Hoare 1961, "Find"): bootstrap intervals take many thousands of medians.
    fileprivate func select(_ place: Int) -> Double {
        var candidates = self[...]
        while true {
            let pivot = candidates[(candidates.startIndex + candidates.endIndex) / 2]
            let notLess = candidates.partition { !($0 < pivot) }
            if place < notLess {
                candidates = self[candidates.startIndex..<notLess]
                continue
            }
            var rest = self[notLess..<candidates.endIndex]
            let greater = rest.partition { $0 > pivot }
            if place < greater { return self[place] }
            candidates = self[greater..<candidates.endIndex]
        }
    }
}

/// Hodges–Lehmann's estimate of the centre: the median of the means of all pairs, each value paired with itself too
/// (Walsh averages). As sturdy as the median against a few disturbed values, and nearly as sharp as the mean.
public func hodgesLehmann(_ values: [Double]) -> Double? {
    var averages: [Double] = []
    averages.reserveCapacity(values.count * (values.count + 1) / 2)
    for first in values.indices {
        for second in first..<values.endIndex { averages.append((values[first] + values[second]) / 2) }
    }
    return median(averages)
}

/// Hodges–Lehmann's estimate of a shift between two independent samples: the median of all differences between a value
/// of the second and one of the first. Nil if either is empty.
public func hodgesLehmannShift(from first: [Double], to second: [Double]) -> Double? {
    var differences: [Double] = []
    differences.reserveCapacity(first.count * second.count)
    for from in first {
        for to in second { differences.append(to - from) }
    }
    return median(differences)
}
