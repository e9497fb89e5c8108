import OpBenchModel
import OpBenchRunner

/// The details of a shape: its parameters, the backends that support it, and an example.
enum ShapeText {
    static func of(_ definition: ShapeDefinition) -> String {
        let backends = BackendID.available.filter { BackendDefinition.of($0)?.takes(definition.shape) ?? false }
        let cell = definition.standardCell(of: definition.shape.rawValue)
        let parameters = definition.parameters.map { parameter in
            entry(parameter.name, [parameter.summary, parameter.facts])
        }
        let support = backends.map { backend in
            entry(
                backend.rawValue, [BackendDefinition.of(backend)?.summary ?? "", Self.support(of: cell, on: backend)])
        }
        let template = WorkloadTemplate(definition, file: nil, backends: ShapeBackends.able(definition))
        return """
            \(definition.shape.rawValue): \(definition.summary)

            PARAMETERS, each one value or a list
            \(parameters.joined())
            BACKENDS
            \(support.joined())
            SAMPLE KINDS
              \(definition.kindNames.joined(separator: ", "))

            EXAMPLE
            \(template.example.split(separator: "\n").map { "  \($0)\n" }.joined())
            `opbench init \(definition.shape.rawValue)` writes a workload with explanations.

            """
    }

    private static func support(of cell: Cell, on backend: BackendID) -> String {
        switch BackendSupport(of: cell, on: backend) {
        case .full(let note): note.isEmpty ? "" : "Differs: \(note)."
        case .unsupported(let reason): "Not supported: \(reason)."
        }
    }

    /// A name, and below it sentences wrapped to 80 columns.
    private static func entry(_ name: String, _ sentences: [String]) -> String {
        let lines = sentences.filter { !$0.isEmpty }.map {
            WrappedText.paragraph($0, width: 80, first: "      ", hanging: 6)
        }
        return "  \(name)\n" + lines.joined()
    }
}

/// The backends of a new workload.
enum ShapeBackends {
    /// The backends that support the shape's standard cell, or the one with those values, without forms that are no
    /// baseline.
    static func able(_ definition: ShapeDefinition, with values: [String: ParameterValue] = [:]) -> [BackendID] {
        let cell = definition.standardCell(of: definition.shape.rawValue, with: values)
        return BackendID.known(for: definition.shape).filter { backend in
            let isOffered = !backend.isForm || BackendID.baselines.contains(backend)
            guard isOffered, case .full = BackendSupport(of: cell, on: backend) else { return false }
            return true
        }
    }
}
