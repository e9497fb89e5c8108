import OpBenchModel

/// `--filter REGEX`: the cells whose id it matches somewhere.
struct CellFilter {
    let pattern: String
    private let regex: Regex<AnyRegexOutput>

    init(_ pattern: String) throws(InputError) {
        self.pattern = pattern
        do {
            regex = try Regex(pattern)
        } catch {
            throw InputError(
                file: "--filter", message: "\"\(pattern)\" is not a regular expression: \(error)",
                remedy: "escape characters such as ( [ * + ? with a backslash to mean themselves")
        }
    }

    func matches(_ cellID: String) -> Bool { cellID.contains(regex) }
}
