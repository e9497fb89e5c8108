import ArgumentParser
import Foundation
import OpBenchModel
import OpBenchRunner

/// Options that select workloads, backends and cells.
struct CellOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Workload files (JSON).", valueName: "file"), completion: .json)
    var files: [String] = []

    @Option(
        name: .customLong("backend"),
        help: ArgumentHelp(
            "Backends, separated by commas, instead of those in the files.",
            discussion: """
                Known: \(BackendID.available.filter { !$0.isForm }.map(\.rawValue).joined(separator: ", ")), and \
                forms of them; `\(BackendDefinition.listing)` describes all. A workload takes those that its shape \
                supports.
                """,
            valueName: "list"),
        completion: .backends)
    var backends: String?

    @Option(
        name: [.long, .customLong("cell")],
        help: ArgumentHelp(
            "Only cells with a name that contains a match of the regular expression.",
            discussion: """
                The name is the cell_id, as `opbench list` prints it, or the same with all parameters except the seed: \
                `w chains=1 depth=10 …`.
                """,
            valueName: "regex"))
    var filter: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "A parameter's value, or several separated by commas, instead of the files'. Repeatable.",
            discussion: "Several values multiply the cells. A mix is written high:1/low:2.",
            valueName: "name=value"))
    var settings: [String] = []

    /// The first of these options and arguments that is given; nil if none is.
    var firstGiven: String? {
        if let file = files.first { return file }
        if backends != nil { return "--backend" }
        if filter != nil { return "--filter" }
        return settings.isEmpty ? nil : "--set"
    }

    /// Refuses a command line without a file, for commands that need one.
    func requireFiles() throws {
        if files.isEmpty {
            throw ValidationError(
                "No workload file. Name some, such as workloads/*.json, or make one: opbench init independent -o my.json"
            )
        }
    }

    /// The path of a workload file in `workloads/` whose name begins with a word; nil without one.
    static func workload(like word: String) -> String? {
        guard !word.isEmpty, !word.contains("/") else { return nil }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "workloads")) ?? []
        return names.sorted().first { $0.hasPrefix(word) && $0.hasSuffix(".json") }.map { "workloads/\($0)" }
    }

    /// Reads and checks the files and the options that narrow them.
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
            for file in files where access(file, F_OK) != 0 {
                guard let path = Self.workload(like: file) else { continue }
                throw InputErrors(InputError(file: file, message: "no such file", remedy: "did you mean \(path)?"))
            }
            let specs = try WorkloadSpec.load(files: files)
            return try WorkloadSpec.overriding(specs, with: settings ?? [:])
        }
        try mistakes.check()
        var selection = Selection(specs: specs ?? [], settings: self.settings)
        mistakes.keepFirst { () throws(InputError) in
            if let backends = backends ?? nil { try selection.replaceBackends(by: backends) }
            try selection.checkBackends(namedBy: self.backends == nil ? nil : "--backend")
            if let filter = filter ?? nil { try selection.keepCells(matching: filter) }
        }
        try mistakes.check()
        return selection
    }
}

/// Options that select workloads and parts of them, shared by `run` and `list`.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var cells: CellOptions

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp(
            "Kinds of sample, separated by commas, instead of those in the files.",
            discussion: """
                Known: \(SampleKind.allCases.map(\.rawValue).joined(separator: ", ")). Checks of what a backend \
                promises always run; \
                \(SampleKind.onRequest) are taken only if named here or in the file.
                """,
            valueName: "list"),
        completion: .kinds)
    var kinds: String?

    /// Reads and checks the files and the options that narrow them.
    ///
    /// - Throws: `InputErrors` with the mistakes of all files and options.
    func load() throws(InputErrors) -> Selection {
        let mistakes = Mistakes()
        let kinds = mistakes.keepFirst { () throws(InputError) in
            try self.kinds.map { list throws(InputError) in try NameList.kinds(list) }
        }
        var selection = mistakes.keep(cells.load)
        try mistakes.check()
        if let kinds = kinds ?? nil { selection?.replaceKinds(by: kinds, namedBy: "--metric") }
        return selection!
    }

    /// Reads the workloads and a policy. Backends that no rule judges are left out, unless --backend names them.
    ///
    /// - Parameter policy: reads the policy, which may name the given backends.
    /// - Throws: `InputErrors` with the mistakes of workloads, options and policy.
    func load(
        judgedBy policy: (_ backends: Set<BackendID>) throws(InputErrors) -> GatePolicy
    ) throws(InputErrors) -> (Selection, GatePolicy) {
        let mistakes = Mistakes()
        let selection = mistakes.keep(load)
        let backends = Set(selection?.specs.flatMap(\.backends) ?? BackendID.known)
        let read = mistakes.keep { () throws(InputErrors) in try policy(backends) }
        try mistakes.check()
        guard var selection, let read else { preconditionFailure("what was not read left a mistake") }
        if cells.backends == nil {
            mistakes.keepFirst { () throws(InputError) in try selection.keepBackends(judgedBy: read) }
            try mistakes.check()
        }
        return (selection, read)
    }
}

/// Workloads, fully checked and narrowed to the selection on the command line.
struct Selection: Sendable {
    private(set) var specs: [WorkloadSpec]
    /// Warnings about settings that are legal but perhaps unintended.
    private(set) var warnings: [String]
    /// The option that names the kinds of sample; nil if the files do.
    private(set) var optionOfKinds: String?
    /// The values of --set, which the workloads have already.
    let settings: [String]

    init(specs: [WorkloadSpec], settings: [String] = []) {
        self.specs = specs
        self.settings = settings
        warnings = specs.flatMap { $0.warnings() }
    }

    /// Replaces each workload's backends by the given ones that support its shape.
    mutating func replaceBackends(by backends: [BackendID]) throws(InputError) {
        for index in specs.indices {
            specs[index].backends = backends.filter {
                BackendDefinition.of($0)?.takes(specs[index].shape) ?? false
            }
            if specs[index].backends.isEmpty {
                warnings.append(
                    "\(specs[index].file): left out, --backend names no backend for \(specs[index].shape.rawValue)")
            }
        }
        specs.removeAll { $0.backends.isEmpty }
        for backend in backends where !specs.contains(where: { $0.backends.contains(backend) }) {
            let shapes = BackendDefinition.of(backend)?.shapes.map(\.rawValue).sorted() ?? []
            throw InputError(
                file: "--backend", message: "\"\(backend.rawValue)\" supports none of the given workloads",
                remedy: "it supports the shapes \(Suggestion.list(shapes, from: "opbench describe"))")
        }
    }

    /// - Parameter option: the option that names the backends; nil if the files do.
    /// - Throws: `InputError` if this program lacks one of them.
    func checkBackends(namedBy option: String?) throws(InputError) {
        for spec in specs {
            for backend in spec.backends { try backend.checkAvailable(namedBy: option ?? spec.file) }
        }
    }

    /// Removes the backends that the policy does not judge, and the workloads that then have no backend.
    mutating func keepBackends(judgedBy policy: GatePolicy) throws(InputError) {
        for index in specs.indices {
            specs[index].backends = policy.judgedBackends(of: specs[index])
            if specs[index].backends.isEmpty {
                warnings.append("\(specs[index].file): left out, because no rule of the policy judges its backends")
            }
        }
        specs.removeAll { $0.backends.isEmpty }
        if specs.isEmpty {
            throw InputError(
                file: "--policy", message: "no rule judges any backend of the given workloads",
                remedy: "name the backends to measure with --backend, or name another policy")
        }
    }

    mutating func warn(_ warning: String) { warnings.append(warning) }

    /// - Parameters:
    ///   - workload: the workload's name; nil for all workloads.
    ///   - option: the option that names the kinds.
    mutating func replaceKinds(of workload: String? = nil, by kinds: Set<SampleKind>, namedBy option: String) {
        optionOfKinds = option
        for index in specs.indices where workload == nil || specs[index].name == workload {
            specs[index].sampleKinds = kinds
        }
    }

    /// Removes the other cells, and the workloads that then have none.
    mutating func keepCells(matching filter: CellFilter) throws(InputError) {
        let cells = cells
        for index in specs.indices { specs[index].cells.removeAll { !filter.matches($0) } }
        specs.removeAll { $0.cells.isEmpty }
        if specs.isEmpty { throw filter.withoutMatch(among: cells) }
    }

    /// One of its cells, with the backends and kinds of sample that the policy judges; without the warnings.
    func narrowed(toCell id: String, judgedBy policy: GatePolicy) throws(InputError) -> Selection {
        var narrowed = self
        for index in specs.indices { narrowed.specs[index].cells.removeAll { $0.id != id } }
        narrowed.specs.removeAll { $0.cells.isEmpty }
        try narrowed.keepBackends(judgedBy: policy)
        for index in narrowed.specs.indices {
            narrowed.specs[index].sampleKinds.formIntersection(GateNeeds(of: policy, on: narrowed.specs[index]).kinds)
        }
        narrowed.warnings = []
        return narrowed
    }

    var cells: [Cell] { specs.flatMap(\.cells) }
}
