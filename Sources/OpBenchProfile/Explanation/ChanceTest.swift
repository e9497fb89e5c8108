/// How it is told that sides differ by more than chance. The statistics are those of verdicts, which whoever explains one
/// hands in.
public struct ChanceTest: Sendable {
    /// The probability of such a difference between equal sides.
    let probability: @Sendable (_ base: [Double], _ head: [Double]) -> Double
    /// The shift from one side to the other, and the interval that holds it.
    let shift: @Sendable (_ base: [Double], _ head: [Double]) -> (estimate: Double, interval: ClosedRange<Double>)
    /// So much greater probabilities that all of them may be looked at together.
    let adjusted: @Sendable ([Double]) -> [Double]

    /// The chance of naming anything of one kind (functions, instructions, what else) of two equal builds that is accepted.
    static let alpha = 0.01
    /// A smaller difference of the base's value is not worth a name.
    static let leastEffect = 0.02

    public init(
        probability: @escaping @Sendable ([Double], [Double]) -> Double,
        shift: @escaping @Sendable ([Double], [Double]) -> (estimate: Double, interval: ClosedRange<Double>),
        adjusted: @escaping @Sendable ([Double]) -> [Double]
    ) {
        (self.probability, self.shift, self.adjusted) = (probability, shift, adjusted)
    }
}
