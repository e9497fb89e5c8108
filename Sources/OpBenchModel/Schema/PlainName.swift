/// The names of workloads, of their parts, and of bodies.
enum PlainName {
    static func isValid(_ text: String, atMost limit: Int = 64) -> Bool {
        let lettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789".unicodeScalars
        let scalars = text.unicodeScalars
        guard let first = scalars.first, lettersAndDigits.contains(first), scalars.count <= limit else { return false }
        return scalars.allSatisfy { lettersAndDigits.contains($0) || "._-".unicodeScalars.contains($0) }
    }
}

extension Format<String> {
    /// The name of a workload or of a part of one.
    static func name(of thing: String, atMost limit: Int) -> Format {
        let pattern: Schema = ["pattern": "^[a-z0-9][a-z0-9._-]*$", "maxLength": .integer(limit)]
        return text("a name as a string").checked(pattern + .oneLine) { text, node throws(InputErrors) in
            guard PlainName.isValid(text, atMost: limit) else {
                throw node.error(
                    "\(JSONText.excerpt(text)) is not a valid \(thing) name",
                    remedy: "use 1 to \(limit) of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit")
            }
            return text
        }
    }
}
