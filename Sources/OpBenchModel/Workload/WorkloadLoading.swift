extension WorkloadSpec {
    /// Reads, decodes and wholly validates one workload file. Nothing runs before this has succeeded.
    ///
    /// - Throws: `InputError` for an unreadable file, bad JSON, and every violation of the published schema or of the
    ///   rules that a schema cannot say.
    public static func load(file: String) throws(InputError) -> WorkloadSpec {
        try decode(text: try TextFile.read(file), file: file)
    }

    /// As `load(file:)`, of a text that was read before; `file` is what errors name.
    public static func decode(
        text: String, file: String, backends: BackendNames = .known
    ) throws(InputError) -> WorkloadSpec {
        try WorkloadDecoder.decode(text: text, file: file, backends: backends)
    }

    /// Loads several files; their names must differ, and together they must not exceed `cellLimit` cells.
    public static func load(files: [String]) throws(InputError) -> [WorkloadSpec] {
        var specs: [WorkloadSpec] = []
        for file in files { try append(try load(file: file), to: &specs) }
        return specs
    }

    /// As `load(files:)`, of texts that were read before.
    public static func decode(
        texts: [(text: String, file: String)], backends: BackendNames = .known
    ) throws(InputError) -> [WorkloadSpec] {
        var specs: [WorkloadSpec] = []
        for (text, file) in texts { try append(try decode(text: text, file: file, backends: backends), to: &specs) }
        return specs
    }

    /// The most workloads of one run.
    static let countLimit = 1000

    private static func append(_ spec: WorkloadSpec, to specs: inout [WorkloadSpec]) throws(InputError) {
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
        let total = (specs + [spec]).reduce(0) { $0 + ($1.cellCount ?? cellLimit) }
        guard total <= cellLimit else {
            throw InputError(
                file: spec.file, path: "$.parameters", message: "with this file the run has \(total) cells",
                remedy: "at most \(cellLimit) are allowed; shorten the lists or run fewer files at once")
        }
        specs.append(spec)
    }
}
