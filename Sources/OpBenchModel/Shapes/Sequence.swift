extension Shape { public static let sequence = Shape("sequence") }

extension Capability { package static let phases = Capability("phases") }

extension ShapeDefinition {
    /// Phases of other shapes, one after the other.
    static let sequence = ShapeDefinition(
        shape: .sequence, needs: .phases,
        summary: "Phases of other shapes, one after the other in one process, on one queue where they can share it.",
        parameters: [
            .init(
                name: "phases", format: .phases,
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

/// One phase of a sequence, as written in a file.
public struct Phase: Sendable {
    public var name: String
    public var shape: Shape
    /// The parameters that the file sets.
    public var values: [String: ParameterValue]

    /// The text in `cell_id`: `trickle:wakeup/operations:100/pause_ns:100000`.
    fileprivate var text: String {
        (["\(name):\(shape.rawValue)"] + sorted.map { "\($0.key):\($0.value)" }).joined(separator: "/")
    }

    fileprivate var json: JSONValue {
        .object(
            ("name", .string(name)), ("shape", .string(shape.rawValue)),
            ("parameters", .members(sorted.map { ($0.key, $0.value.json) })))
    }

    private var sorted: [(key: String, value: ParameterValue)] { values.sorted { $0.key < $1.key } }
}

extension ParameterValue {
    /// The text joins those of the phases by `+`.
    static func phases(_ phases: [Phase]) -> ParameterValue {
        .init(
            phases, text: phases.map(\.text).joined(separator: "+"), json: JSONValue(.array(phases.map(\.json))))
    }

    /// Nil for a value of another kind.
    var phases: [Phase]? { content as? [Phase] }
}

extension Format<ParameterValue> {
    /// The phases of a sequence, which have distinct names. The format is made when it is used, because it has those of
    /// other shapes.
    fileprivate static var phases: Format {
        let allowed = "a list of phases, objects with name, shape and parameters"
        return Format(allowed, schema: PhaseFields.list(allowed).schema.named("phases")) { node throws(InputErrors) in
            .phases(try PhaseFields.list(allowed).read(node))
        }
    }
}

/// A phase as far as it is read; its shape says which parameters it has, with one value each.
private struct PhaseFields: Sendable {
    var name = ""
    var shape: ShapeDefinition?
    var values: [String: ParameterValue] = [:]

    static func list(_ allowed: String) -> Format<[Phase]> {
        let fields: [Field<PhaseFields>] = [
            Field("name", .name(of: "phase", atMost: 32), "Names the phase in rows.", isRequired: true) {
                $0.name = $1
            },
            Field(
                "shape", Shape.format(among: ShapeDefinition.phaseShapes, from: "opbench shapes sequence"),
                isRequired: true
            ) { $0.shape = .of($1) },
            Field("parameters", of: { parameters(of: $0.shape) }, keep: { $0.values = $1 }),
        ]
        return Format.object(
            "a phase", PhaseFields(), fields, remedy: "a phase has a name and a shape",
            cases: ShapeDefinition.phaseShapes.map { ("shape", $0.rawValue, PhaseFields(shape: .of($0))) }
        ).map { Phase(name: $0.name, shape: $0.shape!.shape, values: $0.values) }
            .list(allowed, atMost: 16, remedy: "name each differently") { "the name \($0.name)" }
    }

    private static func parameters(of shape: ShapeDefinition?) -> Format<[String: ParameterValue]> {
        shape?.object { $0.format } ?? .any("an object of parameters", ["type": "object"], [:])
    }
}

extension Cell {
    /// The phases of a sequence, each as a cell of its shape; empty for other shapes.
    public var phases: [(name: String, cell: Cell)] {
        guard let phases = parameters["phases"]?.phases else { return [] }
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

extension Cell {
    /// The cell with the seeds of one block: the block's number is added to the cell's seed and to those of its phases.
    /// Blocks thus draw different arrivals, priorities and graphs, and a figure's interval covers the draw.
    package func drawn(inBlock block: Int) -> Cell {
        func raised(_ values: [String: ParameterValue]) -> [String: ParameterValue] {
            guard let seed = values["seed"]?.integer else { return values }
            let next = (seed + block) % (ShapeDefinition.exactIntegerLimit + 1)
            return values.merging(["seed": .integer(next)]) { $1 }
        }
        var parameters = raised(parameters)
        if let phases = parameters["phases"]?.phases {
            parameters["phases"] = .phases(
                phases.map { Phase(name: $0.name, shape: $0.shape, values: raised($0.values)) })
        }
        return Cell(workload: workload, shape: shape, parameters: parameters, id: id)
    }
}
