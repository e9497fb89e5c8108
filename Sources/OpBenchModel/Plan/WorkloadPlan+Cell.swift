extension WorkloadPlan {
    /// The plan of a cell. The same cell gives the same plan, for every backend and in every process.
    package init(_ cell: Cell) { self = ShapeDefinition.of(cell.shape).plan(of: cell) }

    /// The plan without what is worked out for every operation: enough to ask whether a backend can express it.
    package static func forSupport(_ cell: Cell) -> WorkloadPlan {
        WorkloadPlan(ShapeDefinition.of(cell.shape).sketch(cell))
    }
}
