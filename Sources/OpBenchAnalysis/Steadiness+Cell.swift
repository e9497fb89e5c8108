import OpBenchModel

extension Steadiness {
    /// The part of the processes of which a disturbance may change the class.
    private static let disturbed = 0.1
    /// The probability, if disturbances alone change classes, that as many processes differ in an inconsistent cell.
    private static let leastProbability = 0.05

    /// The class of a cell on a backend: that of most of its processes, unless more differ than disturbances explain.
    ///
    /// Of 7 processes, 3 differ in an inconsistent cell; of 15, 5; of 40, 8.
    ///
    /// - Parameter processes: the classes of the processes that have one.
    /// - Returns: nil if there are none.
    init?(ofProcesses processes: [Steadiness]) {
        let counts = Self.allCases.map { one in (course: one, count: processes.count { $0 == one }) }
        // Of equal counts the first, so that the class does not depend on the order of the processes.
        guard let most = counts.max(by: { $0.count < $1.count }), most.count > 0 else { return nil }
        let chance = binomialTail(
            from: processes.count - most.count, of: processes.count, probability: Self.disturbed)
        self = chance < Self.leastProbability ? .inconsistent : most.course
    }
}
