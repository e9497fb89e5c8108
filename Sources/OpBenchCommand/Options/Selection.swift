import ArgumentParser
import OpBenchModel

/// Which workloads, on which backends, and which cells of them.
struct CellOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Workload files (JSON).", valueName: "file"), completion: .file(extensions: ["json"]))
    var files: [String] = []

    @Option(
        name: .customLong("backend"),
        help: ArgumentHelp(
            "Backends, separated by commas, in place of those that the files list.",
            discussion: """
                A backend that is not defined for a workload's shape is left out there. Known: \
                \(BackendID.known.map(\.rawValue).joined(separator: ", ")).
                """,
            valueName: "list"))
    var backends: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "A parameter's value, or several separated by commas, in place of the files'. Repeatable.",
            discussion: """
                Goes to every workload whose shape has the parameter; several values multiply the cells. A mix is \
                written high:1/low:2.
                """,
            valueName: "name=value"))
    var settings: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only cells whose name the regular expression matches somewhere.",
            discussion: """
                A cell has two names, of which one must match: its cell_id, as `opbench list` prints it, without \
                parameters at their defaults; and the same with every parameter but the seed: `w chains=1 depth=10 …`.
                """,
            valueName: "regex"))
    var filter: String?

    /// Refuses a command line without a file, of a command that needs one.
    func requireFiles() throws {
        if files.isEmpty { throw ValidationError("Missing expected argument '<file> ...'") }
    }

    /// Reads and checks the files and everything that narrows them.
    ///
    /// - Throws: `InputErrors` with the mistakes of all files and options.
    func load() throws(InputErrors) -> Selection {
        let mistakes = Mistakes()
        let settings = mistakes.keepFirst { () throws(InputError) in try ParameterSettings.parse(self.settings) }
        let backends = mistakes.keepFirst { () throws(InputError) in
            try self.backends.map { list throws(InputError) in try NameList.backends(list) }
        }
        let filter = mistakes.keepFirst { () throws(InputError) in
            try self.filter.map { pattern throws(InputError) in try CellFilter(pattern) }
        }
        let specs = mistakes.keep { () throws(InputErrors) in
            let specs = try WorkloadSpec.load(files: files)
            return try WorkloadSpec.overriding(specs, with: settings ?? [:])
        }
        try mistakes.check()
        var selection = Selection(specs: specs ?? [])
        mistakes.keepFirst { () throws(InputError) in
            if let backends = backends ?? nil { try selection.replaceBackends(by: backends) }
            if let filter = filter ?? nil { try selection.keepCells(matching: filter) }
        }
        try mistakes.check()
        return selection
    }
}

/// Which workloads, and which part of them: what `run` and `list` have in common.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var cells: CellOptions

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp(
            "Kinds of sample, separated by commas, in place of those that the files list.",
            discussion: """
                Known: \(SampleKind.allCases.map(\.rawValue).joined(separator: ", ")). The checks of what a backend \
                promises are always made.
                """,
            valueName: "list"))
    var kinds: String?

    /// Reads and checks the files and everything that narrows them.
    ///
    /// - Throws: `InputErrors` with the mistakes of all files and options.
    func load() throws(InputErrors) -> Selection {
        let mistakes = Mistakes()
        let kinds = mistakes.keepFirst { () throws(InputError) in
            try self.kinds.map { list throws(InputError) in try NameList.kinds(list) }
        }
        var selection = mistakes.keep(cells.load)
        try mistakes.check()
        if let kinds = kinds ?? nil { selection?.replaceKinds(by: kinds) }
        return selection!
    }
}

/// Workloads, wholly checked and narrowed to what the command line asks for.
struct Selection: Sendable {
    private(set) var specs: [WorkloadSpec]
    /// What is legal but perhaps not meant.
    private(set) var warnings: [String]

    init(specs: [WorkloadSpec]) {
        self.specs = specs
        warnings = specs.flatMap { $0.warnings() }
    }

    /// Puts the given backends in place of each workload's own, as far as its shape has them.
    mutating func replaceBackends(by backends: [BackendID]) throws(InputError) {
        for index in specs.indices {
            specs[index].backends = backends.filter {
                BackendDefinition.of($0)?.takes(specs[index].shape) ?? false
            }
            if specs[index].backends.isEmpty {
                warnings.append(
                    "\(specs[index].file): left out, --backend names none that has \(specs[index].shape.rawValue)")
            }
        }
        specs.removeAll { $0.backends.isEmpty }
        for backend in backends where !specs.contains(where: { $0.backends.contains(backend) }) {
            let shapes = BackendDefinition.of(backend)?.shapes.map(\.rawValue).sorted() ?? []
            throw InputError(
                file: "--backend", message: "\"\(backend.rawValue)\" is defined for none of the given workloads",
                remedy: "it takes the shapes \(shapes.joined(separator: ", "))")
        }
    }

    /// Removes the backends that the policy does not judge, and the workloads that then have no backend.
    mutating func keepBackends(judgedBy policy: GatePolicy) throws(InputError) {
        for index in specs.indices {
            specs[index].backends = policy.judgedBackends(of: specs[index])
            if specs[index].backends.isEmpty {
                warnings.append("\(specs[index].file): left out, no rule of the policy judges any of its backends")
            }
        }
        specs.removeAll { $0.backends.isEmpty }
        if specs.isEmpty {
            throw InputError(
                file: "--policy", message: "no rule judges any backend of the given workloads",
                remedy: "name those that are to be measured by --backend, or another policy")
        }
    }

    mutating func warn(_ warning: String) { warnings.append(warning) }

    /// - Parameter workload: the workload's name; nil for all workloads.
    mutating func replaceKinds(of workload: String? = nil, by kinds: Set<SampleKind>) {
        for index in specs.indices where workload == nil || specs[index].name == workload {
            specs[index].sampleKinds = kinds
        }
    }

    /// Leaves the other cells out, and the workloads that then have none.
    mutating func keepCells(matching filter: CellFilter) throws(InputError) {
        let cells = cells
        for index in specs.indices { specs[index].cells.removeAll { !filter.matches($0) } }
        specs.removeAll { $0.cells.isEmpty }
        if specs.isEmpty { throw filter.withoutMatch(among: cells) }
    }

    var cells: [Cell] { specs.flatMap(\.cells) }
}
