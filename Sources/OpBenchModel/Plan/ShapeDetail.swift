/// What a plan has for its shape alone: a value of a type that the shape's file declares.
///
/// Backends and trials take it out of the plan before the clock starts or once a round, never for each operation.
package protocol ShapeDetail: Sendable {
    /// How many successive operations of the plan make up one that is submitted. A limit is one of such groups.
    var groupSize: Int { get }
    /// Whether the body of every operation runs.
    var runsEveryBody: Bool { get }
    /// The most operations that a warm-up runs.
    var warmUpLimit: Int { get }
    /// The same for a warm-up of the first operations; nil where a warm-up does without.
    func shortened(to operations: Int) -> (any ShapeDetail)?
    /// What is wrong with what a round left, in words; empty if nothing is. Called after the clock has stopped.
    func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String]
}

extension ShapeDetail {
    package var groupSize: Int { 1 }
    package var runsEveryBody: Bool { true }
    package var warmUpLimit: Int { .max }
    package func shortened(to operations: Int) -> (any ShapeDetail)? { self }
    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        MarkCheck.violations(of: traces, in: plan)
    }
}
