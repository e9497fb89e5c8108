/// The name of a run or a baseline: of its folder, and a field of CSV files.
public enum RunName {
    private static let lengthLimit = 100

    static let schema: Schema =
        ["pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": .integer(lengthLimit)] + .oneLine

    public static let rule =
        "use 1 to \(lengthLimit) of a–z, A–Z, 0–9, `.`, `_` and `-`, beginning with a letter or digit"

    public static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isASCIILetterOrDigit, name.utf8.count <= lengthLimit else {
            return false
        }
        return name.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._-".utf8.contains($0) }
    }
}
