import OpBenchModel

/// `--filter REGEX`: selects the cells whose id, or name with all parameters, contains a match.
struct CellFilter {
    let pattern: String
    private let regex: Regex<AnyRegexOutput>

    /// - Parameter option: the option that gave the pattern.
    init(_ pattern: String, option: String = "--filter") throws(InputError) {
        self.pattern = pattern
        do {
            regex = try Regex(pattern)
        } catch {
            throw InputError(
                file: option, message: "\"\(pattern)\" is not a regular expression: \(error)",
                remedy: "escape characters such as ( [ * + ? with a backslash to match them literally")
        }
    }

    func matches(_ cell: Cell) -> Bool { matches(cell.id) || matches(cell.fullName) }

    /// Matches one of a cell's names.
    func matches(_ name: String) -> Bool { name.contains(regex) }

    // MARK: Without a match

    /// The error if it matches none of the cells.
    func withoutMatch(among cells: [Cell]) -> InputError {
        let shown = Suggestion.list(cells.map { "\"\($0.id)\"" }, from: "opbench list FILE…")
        return InputError(
            file: "--filter", message: "\"\(pattern)\" matches no cell",
            remedy: (hint(among: cells).map { $0 + ($0.hasSuffix("?") ? " " : "; ") } ?? "")
                + "\(cells.count == 1 ? "the cell is" : "the cells are") \(shown)")
    }

    /// A hint: the name that a word of the pattern resembles, or the values of a parameter in the pattern.
    private func hint(among cells: [Cell]) -> String? {
        let parameters = Set(cells.flatMap(\.parameters.keys))
        let known = parameters.union(cells.map(\.workload)).sorted()
        for match in pattern.matches(of: /([a-z][a-z0-9_.-]*)(=?)/.ignoresCase()) {
            let word = String(match.1)
            if !match.2.isEmpty, let name = parameters.sorted().first(where: { $0.hasSuffix(word) }) {
                let values = cells.compactMap { $0.parameters[name]?.description }.uniqued()
                return "\(name) is \(Suggestion.list(values)) here"
            }
            if !known.contains(where: { $0.contains(word) }), let near = Suggestion.nearest(to: word, among: known) {
                return "did you mean \"\(near)\"?"
            }
        }
        return nil
    }
}
