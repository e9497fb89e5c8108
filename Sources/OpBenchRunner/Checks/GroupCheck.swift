import OpBenchBackends

/// Whether a group of blocks was announced as finished only when all its blocks were. For timed completion blocks.
struct GroupCheck {
    let plan: WorkloadPlan

    /// In words; empty if there are none.
    func violations(of body: OperationBody) -> [String] {
        guard body.takesStamps else { return [] }
        let early = (0..<plan.operationCount).count { operation in
            let notified = body.read(.notified, operation)
            return notified > 0 && notified < body.read(.end, operation)
        }
        return early > 0 ? ["\(early) blocks ended after their group was announced as finished"] : []
    }
}
