/// A figure's change in the run that is explained, on which a verdict was based.
public struct MeasuredChange: Equatable, Sendable {
    public var name: String
    /// In nanoseconds an operation.
    public var base: Double
    public var head: Double
    public var ratio: Double
    /// The interval of the change; nil for too few blocks.
    public var interval: ClosedRange<Double>?

    public init(name: String, base: Double, head: Double, ratio: Double, interval: ClosedRange<Double>?) {
        (self.name, self.base, self.head, self.ratio, self.interval) = (name, base, head, ratio, interval)
    }
}
