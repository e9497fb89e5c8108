extension WorkloadSpec {
    /// Reads, decodes and fully validates one workload file. Nothing runs before this has succeeded.
    ///
    /// - Throws: `InputErrors` with all mistakes: an unreadable file, bad JSON, every violation of the published schema
    ///   and of the rules that a schema cannot express.
    public static func load(file: String) throws(InputErrors) -> WorkloadSpec {
        try decode(text: try TextFile.readInput(file), file: file)
    }

    /// Like `load(file:)` for a text read before; `file` is the name in errors.
    public static func decode(
        text: String, file: String, backends: BackendNames = .known
    ) throws(InputErrors) -> WorkloadSpec {
        try Format.decode(text: text, file: file, names: backends) { root in
            WorkloadFile.format(text: text, file: file, guess: WorkloadFile.guess(root))
        }
    }

    /// Loads several files; their names must differ, and together they must not exceed `Cell.countLimit` cells.
    ///
    /// - Throws: `InputErrors` with the mistakes of all files.
    public static func load(files: [String]) throws(InputErrors) -> [WorkloadSpec] {
        try joined(files) { file throws(InputErrors) in try load(file: file) }
    }

    /// Like `load(files:)` for texts read before.
    public static func decode(
        texts: [(text: String, file: String)], backends: BackendNames = .known
    ) throws(InputErrors) -> [WorkloadSpec] {
        try joined(texts) { source throws(InputErrors) in
            try decode(text: source.text, file: source.file, backends: backends)
        }
    }

    /// The most workloads of one run.
    static let countLimit = 1000

    private static func joined<Source>(
        _ sources: [Source], _ load: (Source) throws(InputErrors) -> WorkloadSpec
    ) throws(InputErrors) -> [WorkloadSpec] {
        let mistakes = Mistakes()
        var specs: [WorkloadSpec] = []
        var extent = WorkloadSpec.Extent()
        for source in sources {
            guard let spec = mistakes.keep({ () throws(InputErrors) in try load(source) }) else { continue }
            extent = extent + spec.extent
            mistakes.keepFirst { () throws(InputError) in try append(spec, to: &specs, extent) }
            // Checking each further file would take as long as checking a full run.
            if extent.isTooMuch { break }
        }
        try mistakes.check()
        return specs
    }

    private static func append(
        _ spec: WorkloadSpec, to specs: inout [WorkloadSpec], _ total: Extent
    ) throws(InputError) {
        guard specs.count < countLimit else {
            throw InputError(
                file: spec.file, message: "too many workloads",
                remedy: "a run has at most \(countLimit); run fewer files at once")
        }
        if let twin = specs.first(where: { $0.name == spec.name }) {
            throw InputError(
                file: spec.file, path: "$.name", message: "the name \"\(spec.name)\" is also used by \(twin.file)",
                remedy: "give each workload of a run a different name, and each file once")
        }
        if total.isTooMuch {
            throw InputError(
                file: spec.file, path: "$.parameters",
                message: "with this file the run has \(total.cells) cells with names of \(total.idBytes >> 20) MiB",
                remedy: "at most \(Cell.countLimit) and \(idLimit >> 20) MiB are allowed; "
                    + "shorten the lists or run fewer files at once")
        }
        specs.append(spec)
    }
}

extension WorkloadSpec {
    /// The workload with the values of `--set NAME=VALUE[,VALUE…]` instead of the file's.
    ///
    /// - Parameter set: values by parameter name. Text is decoded by the parameter's kind: digits as a whole number,
    ///   `high:1/low:2` as weights.
    /// - Throws: `InputErrors` naming `--set` if the shape has no such parameter or a value is invalid.
    public func overriding(_ set: [String: [ParameterValue]]) throws(InputErrors) -> WorkloadSpec {
        let definition = ShapeDefinition.of(shape)
        let mistakes = Mistakes()
        var changed = self
        for (name, values) in set.sorted(by: { $0.key < $1.key }) {
            guard let parameter = definition.parameter(named: name) else {
                mistakes.note(
                    Self.unknownParameter(name, among: definition.parameters.map(\.name), from: definition.listing))
                continue
            }
            let elements = values.map { ($0.content as? String).map(parameter.format.json) ?? $0.json }
            let value = elements.count == 1 ? elements[0] : JSONValue(.array(elements))
            let node = JSONNode(file: Self.option, path: name, name: name, value: value)
            changed.axes[name] = mistakes.keep { () throws(InputErrors) in try parameter.values.read(node) }
            changed.unzip(name)
        }
        try mistakes.check()
        if !set.isEmpty { try changed.expandCells() }
        return changed
    }

    /// Overrides parameters in several workloads: each takes those that its shape has, and every name must be a
    /// parameter of at least one workload.
    public static func overriding(
        _ specs: [WorkloadSpec], with set: [String: [ParameterValue]]
    ) throws(InputErrors) -> [WorkloadSpec] {
        let known = specs.flatMap { ShapeDefinition.of($0.shape).parameters.map(\.name) }
        let mistakes = Mistakes()
        for name in set.keys.sorted() where !known.contains(name) {
            mistakes.note(unknownParameter(name, among: Set(known).sorted(), from: "opbench describe"))
        }
        let changed = specs.compactMap { spec in
            let definition = ShapeDefinition.of(spec.shape)
            let own = set.filter { definition.parameter(named: $0.key) != nil }
            return mistakes.keep { () throws(InputErrors) in try spec.overriding(own) }
        }
        try mistakes.check()
        return changed
    }

    /// Takes a parameter out of its zip. A parameter that is then alone in the zip becomes an ordinary list.
    private mutating func unzip(_ name: String) {
        zips = zips.compactMap { zip in
            guard zip.parameters.contains(name) else { return zip }
            let rest = zip.without(name)
            guard rest.parameters.count == 1, let other = rest.parameters.first else { return rest }
            axes[other] = rest.values(of: other)
            return nil
        }
    }

    private static let option = "--set"

    private static func unknownParameter(
        _ name: String, among known: [String], from command: String
    ) -> InputError {
        InputError(
            file: option, path: name, message: "unknown parameter \(JSONText.excerpt(name))",
            remedy: Suggestion.remedy(for: name, among: known, from: command))
    }
}
