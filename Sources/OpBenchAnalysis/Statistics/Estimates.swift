import OpBenchModel

/// Hodges–Lehmann's estimate of the centre: the median of the means of all pairs, each value paired with itself too
/// (Walsh averages). As robust as the median against a few disturbed values, and nearly as precise as the mean.
///
/// - Returns: nil if there are no values, or if some are not finite.
public func hodgesLehmann(_ values: [Double]) -> Double? {
    guard !values.isEmpty, values.allSatisfy(\.isFinite) else { return nil }
    return medianOfMatrix(WalshAverages(values.sorted()))
}

/// Hodges–Lehmann's estimate of a shift between two independent samples: the median of all differences between a value
/// of the second and one of the first.
///
/// - Returns: nil if either is empty, or if some values are not finite.
public func hodgesLehmannShift(from first: [Double], to second: [Double]) -> Double? {
    guard first.allSatisfy(\.isFinite), second.allSatisfy(\.isFinite), !first.isEmpty, !second.isEmpty else {
        return nil
    }
    return medianOfMatrix(Differences(from: first.sorted(), to: second.sorted()))
}

private func medianOfMatrix(_ matrix: some SortedMatrix) -> Double {
    let count = matrix.count
    let upper = matrix.select(count / 2)
    if count % 2 == 1 { return upper }
    let (less, greatest) = matrix.less(than: upper)
    return less == count / 2 ? mean(greatest, upper) : upper
}

/// The means of all pairs of values, each paired with itself too: row r holds the means of value r with itself and all
/// later ones.
struct WalshAverages: SortedMatrix {
    private let values: [Double]
    init(_ ascending: [Double]) { values = ascending }

    var rows: Int { values.count }
    func columns(of row: Int) -> Range<Int> { row..<values.count }
    func value(_ row: Int, _ column: Int) -> Double { mean(values[row], values[column]) }
}

/// The differences of all values of a second sample from all of a first: row r holds the differences from value r of
/// the first, counted from the greatest. Both samples are ascending.
struct Differences: SortedMatrix {
    let from: [Double]
    let to: [Double]

    var rows: Int { from.count }
    func columns(of row: Int) -> Range<Int> { to.indices }
    func value(_ row: Int, _ column: Int) -> Double { to[column] - from[from.count - 1 - row] }
}

/// The arithmetic mean of at least one value.
func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

/// The sum of the squared distances from the mean.
func squaredDeviations(_ values: some Collection<Double>) -> Double {
    let centre = mean(values)
    return values.reduce(0) { $0 + ($1 - centre) * ($1 - centre) }
}
