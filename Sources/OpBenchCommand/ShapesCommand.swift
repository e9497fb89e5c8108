import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench shapes [NAME]`
struct ShapesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shapes",
        abstract: "Print the shapes of workloads and the bodies of operations, or the details of a shape.",
        discussion: """
            A shape defines the operations of a workload, and its parameter body what each does. Given a name, prints the shape's parameters with types, \
            ranges, units and defaults, the backends that support it, the kinds of sample, and an example. `opbench \
            init` writes a workload with it.

            EXAMPLES
              opbench shapes
              opbench shapes chain
            """)

    @Argument(
        help: ArgumentHelp("A shape.", valueName: "name"), completion: .list(Shape.allCases.map(\.rawValue)))
    var name: String?

    func run() throws {
        guard let name else { return try StandardOutput.write(ShapeText.list()) }
        try StandardOutput.write(ShapeText.of(try Self.definition(named: name)))
    }

    static func definition(named name: String) throws(InputError) -> ShapeDefinition {
        guard let shape = Shape(rawValue: name) else {
            throw InputError(
                file: "shape", message: "there is no shape \"\(name)\"",
                remedy: Suggestion.remedy(for: name, among: Shape.allCases.map(\.rawValue), from: "opbench shapes"))
        }
        return .of(shape)
    }
}

/// Texts about shapes.
enum ShapeText {
    static func list() -> String {
        let rows = ShapeDefinition.all.map { [$0.shape.rawValue, $0.summary] }
        let table = PrintedTable(
            [.init(title: "shape", isText: true), .init(title: "what it does", isText: true)], rows: rows)
        return table.text() + "\n`opbench shapes NAME` describes one, `opbench init NAME` writes a workload with it.\n"
            + "\nBODIES, the values of `body`: a name, or an object of a name and values\n" + bodies
    }

    private static var bodies: String {
        let single = BodyDefinition.all.map { body in
            entry(body.name, [body.summary] + body.fields.map { "\($0.name): \($0.summary) \($0.facts)" })
        }
        return single.joined() + entry(BodyDefinition.mix, [BodyDefinition.mixSummary])
    }

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

    // MARK: Lines

    private static let (indentation, width) = ("      ", 80)

    /// A name, and below it sentences wrapped to 80 columns.
    private static func entry(_ name: String, _ sentences: [String]) -> String {
        "  \(name)\n" + sentences.filter { !$0.isEmpty }.map(wrapped).joined()
    }

    private static func wrapped(_ sentence: String) -> String {
        var (lines, line) = ("", indentation)
        for word in sentence.split(separator: " ") {
            if line != indentation, line.count + 1 + word.count > width {
                lines += line + "\n"
                line = indentation
            }
            line += (line == indentation ? "" : " ") + word
        }
        return lines + line + "\n"
    }
}

/// The backends of a new workload.
enum ShapeBackends {
    /// The backends that support the shape's standard cell, or the one with those values, without other forms of a
    /// backend.
    static func able(_ definition: ShapeDefinition, with values: [String: ParameterValue] = [:]) -> [BackendID] {
        let cell = definition.standardCell(of: definition.shape.rawValue, with: values)
        return BackendID.known(for: definition.shape).filter { backend in
            guard !backend.isForm, case .full = BackendSupport(of: cell, on: backend) else {
                return false
            }
            return true
        }
    }
}
