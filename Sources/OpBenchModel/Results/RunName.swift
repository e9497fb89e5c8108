/// The name of a run or a baseline: of its folder, and a field of CSV files.
public enum RunName {
    /// The file of a history in a folder of runs, a name that no run can have.
    public static let historyFile = "history.sqlite"

    private static let lengthLimit = 100

    static let schema: Schema =
        ["pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": .integer(lengthLimit)] + .oneLine

    public static let rule =
        "use 1 to \(lengthLimit) of a–z, A–Z, 0–9, `.`, `_` and `-`, beginning with a letter or digit"

    public static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetterOrDigit(first), name.utf8.count <= lengthLimit else { return false }
        return name.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
