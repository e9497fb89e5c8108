/// Holm's step-down adjustment: as many p-values as given, in the same order, so large that rejecting those below
/// alpha keeps the probability of even one false rejection below alpha, however the tests depend on one another.
public func holmAdjusted(_ probabilities: [Double]) -> [Double] {
    let order = probabilities.indices.sorted { probabilities[$0] < probabilities[$1] }
    var adjusted = probabilities
    var greatest = 0.0
    for (place, index) in order.enumerated() {
        greatest = max(greatest, min(1, probabilities[index] * Double(probabilities.count - place)))
        adjusted[index] = greatest
    }
    return adjusted
}
