/// The middle value, or the mean of the two middle ones; nil of nothing.
public func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
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
