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
                    "What is done, in this order. A phase has a name, a shape, and parameters of that shape, of one "
                    + "value each; work_ns, max_concurrent and seed are the sequence's where it has none of its own.",
                takesList: false),
            .choice(
                "queue", ["shared", "own"],
                "Whether a phase reuses the queue of the one before, or has a new one; several queues, as of "
                    + "chains across queues, are always new."),
        ] + common(work: 1000),
        itemCount: { cell in cell.phases.reduce(0) { $0 + $1.cell.itemCount } },
        operationCount: { cell in cell.phases.reduce(0) { $0 + $1.cell.operationCount } },
        kinds: [.throughput, .latency, .check],
        problem: { cell in
            for phase in cell.phases {
                if phase.cell.searchesRate {
                    return ("its phase \(phase.name) searches a rate", "give it a rate")
                }
                if let problem = ShapeDefinition.of(phase.cell.shape).problem(phase.cell) {
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
            plan.detail = PhaseSequence(
                phases: cell.phases.map { PhasePlan(name: $0.name, plan: WorkloadPlan($0.cell)) },
                sharesQueue: cell.text("queue") == "shared")
        })
}

extension Phase {
    /// Reads a phase, its parameters checked by its shape.
    init(_ node: JSONNode) throws(InputError) {
        let members = try node.object("a phase", known: ["name", "shape", "parameters"])
        for key in ["name", "shape"] where members[key] == nil {
            throw node.error("the key \"\(key)\" is missing", remedy: "a phase has a name and a shape")
        }
        name = try WorkloadDecoder.name(members["name"]!, of: "phase", limit: Self.nameLimit)
        shape = Shape(
            rawValue: try members["shape"]!.choice("shape", among: ShapeDefinition.phaseShapes.map(\.rawValue)))!
        values = [:]
        guard let parameters = members["parameters"] else { return }
        let definition = ShapeDefinition.of(shape)
        for (name, value) in try parameters.object("an object of parameters", known: definition.parameters.map(\.name))
            .sorted(by: { $0.value.value.line < $1.value.value.line })
        {
            values[name] = try definition.parameter(named: name)!.value(from: value)
        }
    }

    var json: JSONValue {
        .object(
            ("name", .string(name)), ("shape", .string(shape.rawValue)),
            ("parameters", .members(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })))
    }
}

extension ParameterDefinition {
    /// The phases of a sequence, each name once.
    func phases(from node: JSONNode) throws(InputError) -> [Phase] {
        let elements = try node.elements(allowed)
        guard elements.count <= Phase.countLimit else {
            throw node.error("\(elements.count) phases", remedy: "at most \(Phase.countLimit) are allowed")
        }
        var phases: [Phase] = []
        for element in elements {
            let phase = try Phase(element)
            if phases.contains(where: { $0.name == phase.name }) {
                throw element.error("two phases are named \(phase.name)", remedy: "name each differently")
            }
            phases.append(phase)
        }
        return phases
    }
}

extension Cell {
    /// The phases of a sequence, each as a cell of its own shape; empty for other shapes.
    public var phases: [(name: String, cell: Cell)] {
        guard case .phases(let phases) = parameters["phases"] else { return [] }
        let common = parameters.filter { ["work_ns", "max_concurrent", "seed"].contains($0.key) }
        return phases.map { phase in
            let values = common.merging(phase.values) { $1 }
            return (phase.name, Cell(workload: workload, definition: .of(phase.shape), values: values))
        }
    }
}

extension Cell {
    /// The same with phases that have the least to work out.
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

/// A phase of a sequence, planned.
package struct PhasePlan: Sendable {
    package let name: String
    package let plan: WorkloadPlan
}

/// What a sequence does, one after the other.
package struct PhaseSequence: ShapeDetail {
    package let phases: [PhasePlan]
    /// Whether a phase goes on with the queue of the one before.
    package let sharesQueue: Bool
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var sequence: PhaseSequence? { detail(PhaseSequence.self) }

    /// Empty in other shapes.
    package var phases: [PhasePlan] { sequence?.phases ?? [] }
}
