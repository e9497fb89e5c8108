extension Shape { public static let memoryFence = Shape("memory_fence") }

extension ShapeDefinition {
    /// Many operations that wait at once.
    static let memoryFence = ShapeDefinition(
        shape: .memoryFence,
        summary: "Many operations that wait in a suspended queue, which is then resumed.",
        parameters: [
            .count("operations", 1...operationLimit, 1_000_000, "Operations that wait at once."),
            form,
            .init(
                name: "payload_bytes", format: .wholeNumber(0...1_048_576), defaultValue: .integer(0),
                summary: "Size of the object that each operation keeps, including its header; 0 for none.",
                unit: "B"),
        ] + common(work: 0),
        plan: { cell, plan in
            plan.form = WorkloadPlan.Form(rawValue: cell.text("form")) ?? .closure
            plan.startsSuspended = true
            plan.detail = Ballast(bytes: cell.integer("payload_bytes"))
        })
}

/// The memory that waiting operations keep. Drain and teardown of such a plan are reported together, as the time to
/// release the operations.
package struct Ballast: ShapeDetail {
    /// The size of the object that each operation keeps; 0 for none.
    package let bytes: Int
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var ballast: Ballast? { detail(Ballast.self) }
}
