@testable import OpBenchModel

extension FuzzReader {
    /// `opbench validate`, `list` and `run` on a workload file.
    static let workload = FuzzReader(
        name: "workload", form: .json,
        words: {
            words(of: WorkloadSpec.schema()) + ["schema/workload.schema.json", "0*3 5", "-8", "high:1", "0.5"]
                + jsonWords
        },
        seeds: {
            try ShapeDefinition.all.map { definition in
                let known = BackendID.known(for: definition.shape)
                let template = WorkloadTemplate(definition, file: nil, backends: known)
                try promise(!template.text.isEmpty, "a template is empty")
                return Array(template.example.utf8)
            }
        },
        read: { bytes in
            let file = "w.json"
            let text = try TextFile.text(of: bytes, file: file)
            let spec = try WorkloadSpec.decode(text: text, file: file)
            let cells = spec.cells
            try promise(cells.count == spec.cellCount, "\(cells.count) cells, but \(spec.cellCount ?? -1) were counted")
            try promise(Set(cells.map(\.id)).count == cells.count, "two cells have one id")
            _ = spec.warnings()
            for cell in cells.prefix(4) {
                try promise(cell.operationCount > 0 && cell.itemCount > 0, "\(cell.id) does nothing")
                for backend in spec.backends {
                    let seconds = cell.roundSeconds(on: backend)
                    try promise(seconds.isFinite && seconds >= 0, "\(cell.id) takes \(seconds) s")
                }
            }
            let rewritten = JSONText.write(try JSONParser.parse(text, file: file).value)
            let same = try again("the workload") { try WorkloadSpec.decode(text: rewritten, file: file) }
            try promise(
                (same.name, same.summary, same.shape) == (spec.name, spec.summary, spec.shape)
                    && (same.axes, same.backends, same.sampleKinds) == (spec.axes, spec.backends, spec.sampleKinds)
                    && same.zips == spec.zips && (same.skips, same.expectations) == (spec.skips, spec.expectations),
                "the workload was another when it was written")
            try holdValues(of: spec)
        })

    /// Values are read back from how the schema and `--set` write them.
    private static func holdValues(of spec: WorkloadSpec) throws {
        let definition = ShapeDefinition.of(spec.shape)
        for (name, values) in spec.axes {
            guard let parameter = definition.parameter(named: name) else {
                throw BrokenPromise(what: "the shape has no parameter \(name)")
            }
            let written = values.count == 1 ? values[0].json : JSONValue(.array(values.map(\.json)))
            let text = JSONText.write(written)
            let read = try again("the parameter \(name)") {
                try parameter.values.read(try JSONParser.parse(text, file: "values"))
            }
            try promise(read == values, "the values of \(name) were others when they were written: \(text)")
        }
    }

    /// Parts of any JSON, and parts that break its readers.
    static let jsonWords = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "//", "/*", "*/", "true", "false", "null", "0", "-1", "1e2", "1e400",
        "-0.0", "0.5", "9223372036854775807", "9223372036854775808", "1000000", "\\u0000", "\\ud800", "\\udc00",
        "\\u2028", "\\u0301", "\u{2028}", "\u{301}", "\u{FEFF}", "\u{0}", "\n", "\r\n",
    ]
}
