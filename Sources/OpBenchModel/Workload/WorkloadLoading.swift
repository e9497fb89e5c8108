extension WorkloadSpec {
    /// Reads, decodes and wholly validates one workload file. Nothing runs before this has succeeded.
    ///
    /// - Throws: `InputError` for an unreadable file, bad JSON, and every violation of the published schema or of the
    ///   rules that a schema cannot say.
    public static func load(file: String) throws(InputError) -> WorkloadSpec {
        try decode(text: try TextFile.read(file), file: file)
    }

    /// As `load(file:)`, of a text that was read before; `file` is what errors name.
    public static func decode(text: String, file: String) throws(InputError) -> WorkloadSpec {
        try WorkloadDecoder.decode(text: text, file: file)
    }

    /// Loads several files; their names must differ, and together they must not exceed `cellLimit` cells.
    public static func load(files: [String]) throws(InputError) -> [WorkloadSpec] {
        var specs: [WorkloadSpec] = []
        var total = 0
        for file in files {
            let spec = try load(file: file)
            if let twin = specs.first(where: { $0.name == spec.name }) {
                throw InputError(
                    file: file, path: "$.name", message: "the name \"\(spec.name)\" is also that of \(twin.file)",
                    remedy: "name each workload of a run differently, and each file once")
            }
            total += spec.cellCount ?? Self.cellLimit
            guard total <= Self.cellLimit else {
                throw InputError(
                    file: file, path: "$.parameters", message: "with this file the run has \(total) cells",
                    remedy: "at most \(Self.cellLimit) are allowed; shorten the lists or run fewer files at once")
            }
            specs.append(spec)
        }
        return specs
    }
}
