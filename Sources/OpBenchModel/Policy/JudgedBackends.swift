extension GatePolicy {
    /// The backends of a workload that a rule or goal can judge, and those that their ratios refer to, in the
    /// workload's order.
    public func judgedBackends(of spec: WorkloadSpec) -> [BackendID] {
        let cells = spec.cells.map(\.id)
        var judged: Set<BackendID> = []
        for backend in spec.backends {
            let needed = GatePolicy(
                rules: rules.filter { $0.selector.reaches(backend, of: spec.name, cells) },
                goals: goals.filter { $0.selector.reaches(backend, of: spec.name, cells) })
            if needed.rules.isEmpty && needed.goals.isEmpty { continue }
            judged.insert(backend)
            if GateNeeds(of: needed, on: spec).takesBaseline {
                // Ratios of backends on the declared axis are to the form on it.
                judged.formUnion([.dispatch, BackendID(rawValue: "dispatch:notify")])
            }
            for case .fastest(let references) in needed.goals.compactMap(\.reference) { judged.formUnion(references) }
        }
        return spec.backends.filter(judged.contains)
    }

    private init(rules: [Rule], goals: [Goal]) {
        self.init(rules: rules)
        self.goals = goals
    }
}

extension GatePolicy.Selector {
    /// Whether the rule can select a figure of the backend on one of the workload's cells.
    fileprivate func reaches(_ backend: BackendID, of workload: String, _ cells: [String]) -> Bool {
        Glob.matches(self.workload, workload) && matches(backend) && cells.contains { Glob.matches(cell, $0) }
    }
}
