extension PlanFile {
    /// Reads and checks a plan.
    ///
    /// - Parameters:
    ///   - program: the opbench that is to measure by it; nil where one only looks at it, which then may be of any opbench and
    ///     have any backends.
    /// - Throws: `InputErrors` with all that is wrong: no plan, one of another format or opbench, unknown workloads, backends
    ///   or parameters, and whatever was changed since it was made.
    public static func load(file: String, for program: Program?) throws(InputErrors) -> PlanFile {
        let text: String
        do {
            text = try TextFile.read(file, limit: sizeLimit)
        } catch {
            throw InputErrors(error)
        }
        return try decode(text: text, file: file, for: program)
    }

    /// As `load`, of a text that was read before; `file` is what errors name.
    public static func decode(text: String, file: String, for program: Program?) throws(InputErrors) -> PlanFile {
        let mistakes = Mistakes()
        let root = try JSONParser.read(text, file: file, mistakes)
        try PlanDecoder.checkFormat(root)
        return try PlanDecoder(program: program).plan(root, mistakes)
    }
}

/// Turns the JSON of a plan into a `PlanFile`, checking every member on the way.
private struct PlanDecoder {
    let program: PlanFile.Program?

    private static let keys = [
        "format", "format_version", "plan_sha256", "opbench", "seed", "quick", "timeout_ns", "builds", "workloads",
        "cells",
    ]
    private static let workloadKeys = ["name", "file", "sha256", "text", "parameters", "backends", "sample_kinds"]
    private static let cellKeys = [
        "cell_id", "workload", "workload_sha256", "parameters", "backends", "sides", "blocks", "samples",
        "estimated_ns",
    ]
    private static let makeAnew = "make it anew: opbench plan FILE… -o plan.json"

    /// What is no plan, or one of another format, has nothing else to be told of.
    static func checkFormat(_ root: JSONNode) throws(InputErrors) {
        let members = try root.members("a plan of opbench")
        guard let format = members.first(where: { $0.name == "format" }),
            case .string(PlanFile.format) = format.value.content
        else {
            throw root.error("this is no plan of opbench", remedy: "name a file that `opbench plan` wrote")
        }
        guard let version = members.first(where: { $0.name == "format_version" }) else {
            throw root.error("the plan has no format_version", remedy: makeAnew)
        }
        guard case .number(let number) = version.value.content, number.integer == PlanFile.version else {
            throw root.child(version).error(
                "a plan of another version than this opbench knows, which is \(PlanFile.version)",
                remedy: "run it with the opbench that made it, or \(makeAnew)")
        }
    }

    func plan(_ root: JSONNode, _ mistakes: Mistakes) throws(InputErrors) -> PlanFile {
        let members = try root.object("a plan", known: Self.keys, required: Self.keys, mistakes)
        let maker = mistakes.keep(members["opbench"]) { node throws(InputErrors) in try self.program(node) }
        let seed = mistakes.keep(members["seed"]) { node throws(InputErrors) in try node.seed() }
        let isQuick = mistakes.keep(members["quick"]) { node throws(InputErrors) in try node.flag() }
        let timeout = mistakes.keep(members["timeout_ns"]) { node throws(InputErrors) in
            try node.count("a time in nanoseconds", in: 1...86_400_000_000_000)
        }
        let builds = mistakes.keep(members["builds"], self.builds)
        let specs = mistakes.keep(members["workloads"], workloads)
        let cells = mistakes.keep(members["cells"]) { node throws(InputErrors) in try self.cells(node, of: specs) }
        checkDigest(root, members[PlanFile.sha256Key], mistakes)
        try mistakes.check()
        return PlanFile(
            program: maker!, seed: seed!, isQuick: isQuick!, timeoutNanoseconds: Int64(timeout!), builds: builds ?? nil,
            specs: specs!, cells: cells!)
    }

    /// The digest is that of everything else in the file: one that differs tells of a change, whatever it is.
    private func checkDigest(_ root: JSONNode, _ node: JSONNode?, _ mistakes: Mistakes) {
        guard let node, let stated = mistakes.keep({ () throws(InputErrors) in try node.digest() }) else { return }
        let others = root.value.membersByName.filter { $0.0 != PlanFile.sha256Key }
        guard JSONValue.members(others).canonicalSHA256 != stated else { return }
        mistakes.note(
            node.mistake(
                "the plan was changed after it was made: this is not the digest of its contents",
                remedy: Self.makeAnew))
    }

    private func program(_ node: JSONNode) throws(InputErrors) -> PlanFile.Program {
        let mistakes = Mistakes()
        let members = try node.object(
            "an opbench", known: ["version", "commit"], required: ["version", "commit"], mistakes)
        let version = mistakes.keep(members["version"]) { node throws(InputErrors) in
            try node.sentence("a version", limit: 100)
        }
        let commit = mistakes.keep(members["commit"]) { node throws(InputErrors) -> String? in
            if case .null = node.value.content { return nil }
            return try node.sentence("a commit", limit: 100)
        }
        try mistakes.check()
        let maker = PlanFile.Program(version: version!, commit: commit ?? nil)
        if let program, !program.mayBe(maker) {
            throw node.error(
                "the plan is of another opbench (\(maker.words)) than this one (\(program.words))",
                remedy: "run it with that opbench, or \(Self.makeAnew)")
        }
        return maker
    }

    private func builds(_ node: JSONNode) throws(InputErrors) -> (base: PlanFile.Build, head: PlanFile.Build)? {
        if case .null = node.value.content { return nil }
        let mistakes = Mistakes()
        let members = try node.object("two builds", known: ["base", "head"], required: ["base", "head"], mistakes)
        func build(_ node: JSONNode) throws(InputErrors) -> PlanFile.Build {
            let mistakes = Mistakes()
            let members = try node.object(
                "a build", known: ["path", "sha256"], required: ["path", "sha256"], mistakes)
            let path = mistakes.keep(members["path"]) { node throws(InputErrors) in try node.string("a path") }
            let sha256 = mistakes.keep(members["sha256"]) { node throws(InputErrors) in try node.digest() }
            try mistakes.check()
            return PlanFile.Build(path: path!, sha256: sha256!)
        }
        let base = mistakes.keep(members["base"], build)
        let head = mistakes.keep(members["head"], build)
        try mistakes.check()
        return (base!, head!)
    }

    // MARK: Workloads

    private func workloads(_ node: JSONNode) throws(InputErrors) -> [WorkloadSpec] {
        let mistakes = Mistakes()
        let elements = try node.elements("a list of workloads")
        guard elements.count <= WorkloadSpec.countLimit else {
            throw node.error("\(elements.count) workloads", remedy: "a run has at most \(WorkloadSpec.countLimit)")
        }
        var specs: [WorkloadSpec] = []
        var extent = WorkloadSpec.Extent()
        for element in elements {
            guard let spec = mistakes.keep({ () throws(InputErrors) in try workload(element) }) else { continue }
            extent = extent + spec.extent
            if extent.isTooMuch {
                throw element.error(
                    "with this workload the plan has more cells than a run may have, or longer names",
                    remedy: Self.makeAnew)
            }
            if specs.contains(where: { $0.name == spec.name }) {
                mistakes.note(element.mistake("two workloads are named \(spec.name)", remedy: Self.makeAnew))
            }
            specs.append(spec)
        }
        try mistakes.check()
        return specs
    }

    private func workload(_ node: JSONNode) throws(InputErrors) -> WorkloadSpec {
        let mistakes = Mistakes()
        let members = try node.object(
            "a workload", known: Self.workloadKeys + ["zip"], required: Self.workloadKeys, mistakes)
        func text(_ key: String) -> String? {
            mistakes.keep(members[key]) { node throws(InputErrors) in try node.string("a text") }
        }
        let (file, name, sha256, source) = (text("file"), text("name"), text("sha256"), text("text"))
        try mistakes.check()
        // What is wrong in the text is told by the file that it was.
        var spec = try WorkloadSpec.decode(
            text: source!, file: "\(node.file): \(file!)", backends: program == nil ? .recorded : .known)
        if spec.name != name {
            mistakes.note(
                members["name"]!.mistake("the text's name is \(JSONText.excerpt(spec.name))", remedy: Self.makeAnew))
        }
        if spec.sha256 != sha256 {
            mistakes.note(members["sha256"]!.mistake("the text has another digest", remedy: Self.makeAnew))
        }
        spec.file = file!
        let definition = ShapeDefinition.of(spec.shape)
        mistakes.keep(members["parameters"]) { node throws(InputErrors) in
            spec.axes = try definition.values(in: node) { parameter, node throws(InputErrors) in
                try parameter.values(from: node)
            }
            spec.zips = []
            if let zip = members["zip"] {
                spec.zips = try ParameterZip.list(in: zip, of: definition, given: Set(spec.axes.keys))
            }
            try spec.checkProduct(line: node.value.line)
        }
        mistakes.keep(members["backends"]) { node throws(InputErrors) in
            spec.backends = try backends(node, spec.shape)
        }
        mistakes.keep(members["sample_kinds"]) { node throws(InputErrors) in
            spec.sampleKinds = Set(
                try node.texts("kinds of sample", among: SampleKind.allCases.map(\.rawValue)).compactMap(
                    SampleKind.init(rawValue:)))
        }
        try mistakes.check()
        return spec
    }

    private func backends(_ node: JSONNode, _ shape: Shape?) throws(InputErrors) -> [BackendID] {
        guard case .array(let elements) = node.value.content else {
            throw node.wrongType(expected: "a list of backends")
        }
        var backends: [BackendID] = []
        var seen: Set<BackendID> = []
        for (index, element) in elements.enumerated() {
            let node = JSONNode(file: node.file, path: "\(node.path)[\(index)]", value: element)
            let backend = try BackendID(checking: node, for: shape, program == nil ? .recorded : .known)
            if !seen.insert(backend).inserted {
                throw node.error("\(backend.rawValue) appears twice in the list", remedy: Self.makeAnew)
            }
            backends.append(backend)
        }
        return backends
    }

    // MARK: Cells

    private func cells(_ node: JSONNode, of specs: [WorkloadSpec]?) throws(InputErrors) -> [PlanFile.PlannedCell] {
        let mistakes = Mistakes()
        let elements = try node.elements("a list of cells")
        guard elements.count <= WorkloadSpec.cellLimit else {
            throw node.error("\(elements.count) cells", remedy: "a run has at most \(WorkloadSpec.cellLimit)")
        }
        let specs = specs.map { Dictionary($0.map { ($0.name, $0) }) { first, _ in first } }
        var (cells, ids): ([PlanFile.PlannedCell], Set<String>) = ([], [])
        for element in elements {
            let read = mistakes.keep { () throws(InputErrors) in try cell(element, of: specs) }
            guard let cell = read else { continue }
            if !ids.insert(cell.id).inserted {
                mistakes.note(
                    element.mistake("the cell \(JSONText.excerpt(cell.id)) is there twice", remedy: Self.makeAnew))
            }
            cells.append(cell)
        }
        try mistakes.check()
        return cells
    }

    /// - Parameter specs: by their names; nil if they could not be read.
    private func cell(
        _ node: JSONNode, of specs: [String: WorkloadSpec]?
    ) throws(InputErrors) -> PlanFile.PlannedCell {
        let mistakes = Mistakes()
        let members = try node.object("a cell", known: Self.cellKeys, required: Self.cellKeys, mistakes)
        let id = mistakes.keep(members["cell_id"]) { node throws(InputErrors) in
            try node.sentence("a cell_id", limit: PlanFile.cellIDLimit)
        }
        let workload = mistakes.keep(members["workload"]) { node throws(InputErrors) in
            try node.sentence("a workload's name", limit: TextLimits.name)
        }
        let sha256 = mistakes.keep(members["workload_sha256"]) { node throws(InputErrors) in try node.digest() }
        let samples = mistakes.keep(members["samples"]) { node throws(InputErrors) in
            try node.count("a number of samples", in: 0...1_000_000)
        }
        let time = mistakes.keep(members["estimated_ns"]) { node throws(InputErrors) in
            try node.count("a time in nanoseconds", in: 0...PlanFile.timeLimit)
        }
        let sides = mistakes.keep(members["sides"]) { node throws(InputErrors) in
            try node.texts("sides", among: Side.allCases.map(\.rawValue)).compactMap(Side.init(rawValue:))
        }
        let blocks = mistakes.keep(members["blocks"], self.blocks)
        let spec = workload.flatMap { specs?[$0] }
        if let workload, let specs, spec == nil {
            mistakes.note(
                members["workload"]!.mistake(
                    "unknown workload \(JSONText.excerpt(workload))",
                    // Of many, a suggestion for each of many cells would take long.
                    remedy: specs.count > 20
                        ? Self.makeAnew : Suggestion.remedy(for: workload, among: specs.keys.sorted())))
        }
        if let spec, let sha256, spec.sha256 != sha256 {
            mistakes.note(
                members["workload_sha256"]!.mistake(
                    "this is not the digest of the plan's workload \(spec.name)", remedy: Self.makeAnew))
        }
        let backends = mistakes.keep(members["backends"]) { node throws(InputErrors) in
            try self.backends(node, spec?.shape)
        }
        var parameters: [String: ParameterValue]?
        if let spec {
            parameters = mistakes.keep(members["parameters"]) { node throws(InputErrors) in
                try ShapeDefinition.of(spec.shape).values(in: node) { parameter, node throws(InputErrors) in
                    try parameter.value(from: node)
                }
            }
        }
        try mistakes.check()
        return PlanFile.PlannedCell(
            id: id!, workload: workload!, workloadSHA256: sha256!, parameters: parameters ?? [:], backends: backends!,
            sides: sides!, blocks: blocks!, samples: samples!, estimatedNanoseconds: Int64(time!))
    }

    private func blocks(_ node: JSONNode) throws(InputErrors) -> [SampleKind: Int] {
        let mistakes = Mistakes()
        let members = try node.object("numbers of blocks", known: SampleKind.allCases.map(\.rawValue), mistakes)
        var blocks: [SampleKind: Int] = [:]
        for kind in SampleKind.allCases {
            blocks[kind] = mistakes.keep(members[kind.rawValue]) { node throws(InputErrors) in
                try node.count("a number of blocks", in: 1...1000)
            }
        }
        try mistakes.check()
        return blocks
    }
}

extension PlanFile {
    /// The longest `cell_id`, in scalars; and the longest time of a cell, some 116 days, in nanoseconds.
    static let cellIDLimit = 20_000
    static let timeLimit = 10_000_000_000_000_000
}

extension JSONNode {
    /// A whole number within bounds.
    func count(_ what: String, in range: ClosedRange<Int>) throws(InputErrors) -> Int {
        guard case .number(let number) = value.content else { throw wrongType(expected: what) }
        guard number.isWhole, let integer = number.integer, range.contains(integer) else {
            throw error(
                "\(JSONText.excerpt(number.text)) is not \(what)",
                remedy: "expected is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    /// A SHA-256, 64 hexadecimal digits.
    func digest() throws(InputErrors) -> String {
        let text = try string("a SHA-256")
        let digits = "0123456789abcdef".utf8
        guard text.utf8.count == 64, text.utf8.allSatisfy(digits.contains) else {
            throw error("\(JSONText.excerpt(text)) is no SHA-256", remedy: "expected are 64 hexadecimal digits")
        }
        return text
    }

    fileprivate func seed() throws(InputErrors) -> UInt64 {
        guard case .number(let number) = value.content, let seed = UInt64(number.text) else {
            throw wrongType(expected: "a whole number from 0 to \(UInt64.max)")
        }
        return seed
    }

    func flag() throws(InputErrors) -> Bool {
        guard case .boolean(let flag) = value.content else { throw wrongType(expected: "true or false") }
        return flag
    }

    /// Words of a set, each once; there may be none.
    fileprivate func texts(_ what: String, among known: [String]) throws(InputErrors) -> [String] {
        guard case .array(let elements) = value.content else { throw wrongType(expected: "a list of \(what)") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            let node = JSONNode(file: file, path: "\(path)[\(index)]", value: element)
            let text = try node.choice(what, among: known)
            if texts.contains(text) { throw node.error("\(text) appears twice", remedy: "keep one of the two") }
            texts.append(text)
        }
        return texts
    }
}
