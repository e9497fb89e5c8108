import Foundation

/// Every definition that does not fit the sources.
func check(_ mutations: [Mutation], root: URL) throws {
    var mistakes: [String] = []
    for (file, group) in Dictionary(grouping: mutations.enumerated(), by: \.element.file) {
        let source = try String(contentsOf: root.appending(path: "Sources/OperationEngine/\(file)"), encoding: .utf8)
        var schemata = Schemata(source: source)
        for (number, mutation) in group {
            do { try schemata.place(mutation, number: number) } catch { mistakes.append("\(error)") }
        }
    }
    if !mistakes.isEmpty { throw MutationReader.Mistake(description: mistakes.sorted().joined(separator: "\n")) }
}

/// `mutate run`: one build, one run for each mutation.
struct MutationRun {
    let root: URL
    let mutations: [Mutation]
    let results: ResultFile
    private var tier: Mutation.Tier?
    private var only: Set<String> = []
    private var from: String?
    private var isWide = false
    private var isTrusting = false

    init(root: URL, mutations: [Mutation], results: ResultFile, arguments: ArraySlice<String>) throws {
        self.root = root
        self.mutations = mutations
        self.results = results
        var rest = arguments
        while let option = rest.popFirst() {
            if option == "--wide" || option == "--trusting" {
                if option == "--wide" { isWide = true } else { isTrusting = true }
                continue
            }
            guard let value = rest.popFirst() else { throw MutationReader.Mistake(description: "\(option) of what?") }
            switch option {
            case "--tier": tier = Mutation.Tier(rawValue: value)
            case "--only": only = Set(value.split(separator: ",").map(String.init))
            case "--from": from = value
            default: throw MutationReader.Mistake(description: "unknown option \(option)")
            }
        }
    }

    private func isSelected(_ mutation: Mutation) -> Bool {
        (tier == nil || mutation.tier == tier) && (only.isEmpty || only.contains(mutation.name))
    }

    func run() throws {
        let scratch = root.appending(path: ".build-mutate")
        let tree = MutatedTree(of: root, in: scratch)
        let selected = mutations.enumerated().filter { isSelected($0.element) }.map {
            (number: $0.offset, mutation: $0.element)
        }
        try tree.update(with: selected)
        var judge = Judge(tree: tree, products: tree.root.appending(path: ".build/debug"))
        try build(tree)
        let hasTests = selected.contains { $0.mutation.tier == .contract }
        let catalog = hasTests ? try judge.listTests() : nil
        if !isTrusting, hasTests {
            let plain = try judge.runTests(filter: TestCatalog.contractFilter, number: nil)
            if plain.hasCrashed { throw MutationReader.Mistake(description: "the tests crash without any mutation") }
            judge.unreliable = Set(plain.failed)
            print("without a mutation \(plain.failed.count) tests fail: \(plain.failed)")
        }
        var hasBegun = from == nil
        for (number, mutation) in selected {
            if mutation.name == from { hasBegun = true }
            guard hasBegun else { continue }
            let begin = Date()
            let notice =
                if mutation.tier == .contract, let catalog {
                    try judge.test(mutation, number: number, catalog: catalog, isWide: isWide)
                } else {
                    try judge.explore(mutation, number: number)
                }
            let verdict = Verdict(mutation: mutation, notice: notice, seconds: Date().timeIntervalSince(begin))
            let what = notice.by.isEmpty ? "SURVIVED" : "caught by \(notice.by.count): \(notice.by[0])"
            print("\(mutation.name) (\(Int(verdict.seconds)) s): \(what)")
            fflush(nil)
            try results.store(verdict, known: mutations)
        }
    }

    private func build(_ tree: MutatedTree) throws {
        let build = try Program(
            path: "swift", arguments: ["build"] + (tier == .protocol ? ["--product", "explore"] : ["--build-tests"]),
            folder: tree.root,
            environment: ["OPBENCH_ENGINE_ONLY": "1"]
        ).run()
        guard build.status == 0 else {
            let errors = build.output.split(separator: "\n").filter { $0.contains("error:") }.prefix(60)
            throw MutationReader.Mistake(
                description: "the mutated engine does not build:\n\(errors.joined(separator: "\n"))")
        }
    }
}

/// mutations.csv: what noticed each mutation when it was last run here.
struct ResultFile {
    let url: URL
    private static let columns = "mutation,tier,file,lines_expected,caught,lines_caught,caught_by"

    /// Replaces the row of one mutation; the rows of mutations that exist no longer go.
    func store(_ verdict: Verdict, known: [Mutation]) throws {
        let mutation = verdict.mutation
        var rows = try self.rows()
        rows[mutation.name] = [
            mutation.name, mutation.tier.rawValue, mutation.file,
            (mutation.lines + mutation.scenarios).joined(separator: " "),
            verdict.notice.by.isEmpty ? "no" : "yes", verdict.notice.lines.joined(separator: " "),
            verdict.notice.by.joined(separator: "; "),
        ]
        let lines = known.compactMap { rows[$0.name] }.map { $0.map(quoted).joined(separator: ",") }
        try ([Self.columns] + lines + [""]).joined(separator: "\n").write(to: url, atomically: true, encoding: .utf8)
    }

    func table() throws -> String {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw MutationReader.Mistake(description: "no results in \(url.path); scripts/mutate makes them")
        }
        let rows = try rows().values.sorted { ($0[1], $0[0]) < ($1[1], $1[0]) }
        let survivors = rows.filter { $0[4] == "no" }
        return rows.map { "\($0[4] == "yes" ? "caught  " : "SURVIVED")  \($0[0])  \($0[6].prefix(160))" }
            .joined(separator: "\n") + "\n\(rows.count) mutations, \(survivors.count) survived"
    }

    private func quoted(_ field: String) -> String {
        field.contains(where: { ",\"\n".contains($0) }) ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
    }

    private func rows() throws -> [String: [String]] {
        guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
        var rows: [String: [String]] = [:]
        for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n").dropFirst() {
            var fields = [""]
            var isQuoted = false
            for character in line {
                if character == "\"" {
                    isQuoted.toggle()
                    // A doubled quote inside of quotes toggles twice.
                    if isQuoted, fields[fields.count - 1].isEmpty == false { fields[fields.count - 1].append("\"") }
                } else if character == ",", !isQuoted {
                    fields.append("")
                } else {
                    fields[fields.count - 1].append(character)
                }
            }
            if fields.count == 7 { rows[fields[0]] = fields }
        }
        return rows
    }
}
