extension FixedWidthInteger {
    /// Adds a number; a sum that the type does not hold becomes its bound. For numbers that a file gives, which nothing keeps
    /// from being any.
    @inlinable
    package mutating func addClamped(_ other: Self) {
        let (sum, overflow) = addingReportingOverflow(other)
        self = overflow ? (other < 0 ? .min : .max) : sum
    }
}
