extension WorkloadSpec {
    /// Reads, decodes and wholly validates one workload file. Nothing runs before this has succeeded.
    ///
    /// - Throws: `InputErrors` with all that is wrong: an unreadable file, bad JSON, every violation of the published
    ///   schema and of the rules that a schema cannot say.
    public static func load(file: String) throws(InputErrors) -> WorkloadSpec {
        try decode(text: try TextFile.readInput(file), file: file)
    }

    /// As `load(file:)`, of a text that was read before; `file` is what errors name.
    public static func decode(
        text: String, file: String, backends: BackendNames = .known
    ) throws(InputErrors) -> WorkloadSpec {
        try WorkloadDecoder.decode(text: text, file: file, backends: backends)
    }

    /// Loads several files; their names must differ, and together they must not exceed `cellLimit` cells.
    ///
    /// - Throws: `InputErrors` with the mistakes of all files.
    public static func load(files: [String]) throws(InputErrors) -> [WorkloadSpec] {
        try joined(files) { file throws(InputErrors) in try load(file: file) }
    }

    /// As `load(files:)`, of texts that were read before.
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
            // Each of the others would take as long to be looked at as all that a run may have.
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
                file: spec.file, message: "one workload too many",
                remedy: "a run has at most \(countLimit); run fewer files at once")
        }
        if let twin = specs.first(where: { $0.name == spec.name }) {
            throw InputError(
                file: spec.file, path: "$.name", message: "the name \"\(spec.name)\" is also that of \(twin.file)",
                remedy: "give each workload of a run a different name, and each file once")
        }
        if total.isTooMuch {
            throw InputError(
                file: spec.file, path: "$.parameters",
                message: "with this file the run has \(total.cells) cells, whose names have \(total.idBytes >> 20) MiB",
                remedy: "at most \(cellLimit) and \(idLimit >> 20) MiB are allowed; "
                    + "shorten the lists or run fewer files at once")
        }
        specs.append(spec)
    }
}
