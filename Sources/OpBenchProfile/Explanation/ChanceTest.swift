/// A test of whether sides differ by more than chance. The caller hands in the statistics, which are those of verdicts.
public struct ChanceTest: Sendable {
    /// The probability that equal sides differ by so much.
    let probability: @Sendable (_ base: [Double], _ head: [Double]) -> Double
    /// The shift from one side to the other, and the interval that contains it.
    let shift: @Sendable (_ base: [Double], _ head: [Double]) -> (estimate: Double, interval: ClosedRange<Double>)
    /// Raises the probabilities so that all of them may be looked at together.
    let adjusted: @Sendable ([Double]) -> [Double]

    /// The accepted chance of naming anything of one kind (functions, instructions, the rest) for two equal builds.
    static let alpha = 0.01
    /// The part of the base's value below which a difference is not named.
    static let leastEffect = 0.02

    public init(
        probability: @escaping @Sendable ([Double], [Double]) -> Double,
        shift: @escaping @Sendable ([Double], [Double]) -> (estimate: Double, interval: ClosedRange<Double>),
        adjusted: @escaping @Sendable ([Double]) -> [Double]
    ) {
        (self.probability, self.shift, self.adjusted) = (probability, shift, adjusted)
    }
}
