import Glibc

/// The exact interval for a probability of which `successes` of `trials` were seen (Clopper and Pearson 1934): the
/// probabilities that neither tail of the binomial distribution rejects.
///
/// - Parameter confidence: of the two-sided interval; each tail has half of the rest.
public func clopperPearsonInterval(successes: Int, trials: Int, confidence: Double = 0.95) -> ClosedRange<Double> {
    precondition(trials > 0 && (0...trials).contains(successes), "successes are a part of at least one trial")
    let tail = (1 - confidence) / 2
    let low = successes == 0 ? 0 : bisect { binomialTail(from: successes, of: trials, probability: $0) < tail }
    let high =
        successes == trials ? 1 : bisect { 1 - binomialTail(from: successes + 1, of: trials, probability: $0) > tail }
    return low...high
}

/// The one-sided upper bound: with that confidence the probability is not greater.
public func clopperPearsonUpperBound(successes: Int, trials: Int, confidence: Double = 0.95) -> Double {
    clopperPearsonInterval(successes: successes, trials: trials, confidence: 2 * confidence - 1).upperBound
}

/// The probability of at least `least` successes.
func binomialTail(from least: Int, of trials: Int, probability: Double) -> Double {
    if least <= 0 || probability >= 1 { return 1 }
    if probability <= 0 { return 0 }
    return (least...trials).reduce(0) { sum, successes in
        let (k, n) = (Double(successes), Double(trials))
        let coefficient = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return sum + exp(coefficient + k * log(probability) + (n - k) * log1p(-probability))
    }
}

/// The probability up to which `isBelow` holds, which it does from 0 on.
private func bisect(_ isBelow: (Double) -> Bool) -> Double {
    var (low, high) = (0.0, 1.0)
    for _ in 0..<100 {
        let middle = (low + high) / 2
        if isBelow(middle) { low = middle } else { high = middle }
    }
    return (low + high) / 2
}
