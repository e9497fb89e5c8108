extension Shape { public static let sequence = Shape("sequence") }

extension Capability { package static let phases = Capability("phases") }

extension ShapeDefinition {
    /// Phases of other shapes, one after the other.
    static let sequence = ShapeDefinition(
        .sequence, needs: .phases,
        summary: "Phases of other shapes, one after the other in one process, on one queue where they can share it.",
        parameters: [
            .init(
                name: "phases", kind: .phases,
                defaultValue: .phases([
                    Phase(name: "flood", shape: .independent, values: ["items": .integer(10_000)]),
                    Phase(
                        name: "trickle", shape: .wakeup,
                        values: ["operations": .integer(100), "pause_ns": .integer(100_000)]),
                ]),
                summary:
                    "The phases, in order. A phase has a name, a shape, and parameters of that shape, with one "
                    + "value each; body, work_ns, max_concurrent and seed default to those of the sequence.",
                takesList: false),
            .choice(
                "queue", ["shared", "own"],
                "Whether a phase reuses the queue of the previous one or has a new one; several queues, as for "
                    + "chains across queues, are always new."),
        ] + common(work: 1000),
        itemCount: { cell in cell.phases.reduce(into: 0) { $0.addClamped($1.cell.itemCount) } },
        operationCount: { cell in cell.phases.reduce(into: 0) { $0.addClamped($1.cell.operationCount) } },
        kinds: [.throughput, .latency, .check],
        problem: { cell in
            for phase in cell.phases {
                if phase.cell.measuresRate {
                    return ("its phase \(phase.name) has no rate of arrivals", "give it a rate")
                }
                if let problem = phase.cell.problemOfBody ?? ShapeDefinition.of(phase.cell.shape).problem(phase.cell) {
                    return ("in its phase \(phase.name), \(problem.what)", problem.remedy)
                }
            }
            return nil
        },
        estimate: RoundEstimate(whole: { cell, backend in
            cell.phases.reduce(0) { $0 + $1.cell.roundSeconds(on: backend) }
        }),
        sketch: \.withReducedPhases,
        plan: { cell, plan in
            let phases = cell.phases.map { PhasePlan(name: $0.name, plan: WorkloadPlan($0.cell)) }
            plan.detail = PhaseSequence(phases: phases, sharesQueue: cell.text("queue") == "shared")
            plan.concerns = phases.reduce([]) { $0.union($1.plan.concerns) }
        })
}

extension Phase {
    /// Decodes a phase; its shape checks the parameters.
    init(_ node: JSONNode, _ names: BackendNames) throws(InputErrors) {
        let mistakes = Mistakes()
        let members = try node.object(
            "a phase", known: ["name", "shape", "parameters"], required: ["name", "shape"],
            remedy: "a phase has a name and a shape", mistakes)
        let name = mistakes.keep(members["name"]) { node throws(InputErrors) in
            try WorkloadDecoder.name(node, of: "phase", limit: Self.nameLimit)
        }
        let shape = mistakes.keep(members["shape"]) { node throws(InputErrors) in
            Shape(
                rawValue: try node.choice(
                    "shape", among: ShapeDefinition.phaseShapes.map(\.rawValue), from: "opbench shapes sequence"))!
        }
        var values: [String: ParameterValue] = [:]
        if let shape, let parameters = members["parameters"] {
            let definition = ShapeDefinition.of(shape)
            mistakes.keep { () throws(InputErrors) in
                values = try definition.values(in: parameters) { parameter, node throws(InputErrors) in
                    try parameter.value(from: node, names)
                }
            }
        }
        try mistakes.check()
        self.init(name: name!, shape: shape!, values: values)
    }

    var json: JSONValue {
        .object(
            ("name", .string(name)), ("shape", .string(shape.rawValue)),
            ("parameters", .members(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })))
    }
}

extension ParameterDefinition {
    /// Decodes the phases of a sequence, which have distinct names.
    func phases(from node: JSONNode, _ names: BackendNames) throws(InputErrors) -> [Phase] {
        let elements = try node.elements(allowed)
        guard elements.count <= Phase.countLimit else {
            throw node.error("\(elements.count) phases", remedy: "at most \(Phase.countLimit) are allowed")
        }
        let mistakes = Mistakes()
        var phases: [Phase] = []
        for element in elements {
            guard let phase = mistakes.keep({ () throws(InputErrors) in try Phase(element, names) }) else { continue }
            if phases.contains(where: { $0.name == phase.name }) {
                mistakes.note(
                    element.mistake("two phases are named \(phase.name)", remedy: "name each differently"))
            }
            phases.append(phase)
        }
        try mistakes.check()
        return phases
    }
}

extension Cell {
    /// The phases of a sequence, each as a cell of its shape; empty for other shapes.
    public var phases: [(name: String, cell: Cell)] {
        guard case .phases(let phases) = parameters["phases"] else { return [] }
        let common = parameters.filter { ["body", "work_ns", "max_concurrent", "seed"].contains($0.key) }
        return phases.map { phase in
            let values = common.merging(phase.values) { $1 }
            return (phase.name, Cell(workload: workload, definition: .of(phase.shape), values: values))
        }
    }
}

extension Cell {
    /// The same cell with phases that need the least planning.
    fileprivate var withReducedPhases: Cell {
        var parameters = parameters
        parameters["phases"] = .phases(
            phases.map { phase in
                let reduced = ShapeDefinition.of(phase.cell.shape).sketch(phase.cell)
                return Phase(name: phase.name, shape: reduced.shape, values: reduced.parameters)
            })
        return Cell(workload: workload, shape: shape, parameters: parameters, id: id)
    }
}

/// The plan of one phase.
package struct PhasePlan: Sendable {
    package let name: String
    package let plan: WorkloadPlan
}

/// The plan of a sequence.
package struct PhaseSequence: ShapeDetail {
    package let phases: [PhasePlan]
    /// Whether a phase continues with the queue of the previous one.
    package let sharesQueue: Bool
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var sequence: PhaseSequence? { detail(PhaseSequence.self) }

    /// Empty in other shapes.
    package var phases: [PhasePlan] { sequence?.phases ?? [] }
}
