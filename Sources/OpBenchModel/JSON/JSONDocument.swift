/// JSON that Foundation makes values of.
public enum JSONDocument {
    /// Reads the text of a file that holds one JSON value, by the strict rules of `JSONParser`.
    ///
    /// - Parameter limit: in bytes.
    /// - Throws: `InputError` if the file cannot be read, is too large, or is not JSON.
    public static func text(of file: String, limit: Int) throws(InputError) -> String {
        let text = try TextFile.read(file, limit: limit)
        try check(text, file: file)
        return text
    }

    /// As `text(of:limit:)`, of a text that was read before; `file` is what errors name.
    package static func check(_ text: String, file: String) throws(InputError) {
        try JSONParser.check(text, file: file)
    }

    /// Where Foundation found what it could not make a value of: `$.builds.base.path`; empty where it does not say.
    package static func path(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "" }
        let keys: [any CodingKey] =
            switch error {
            case .keyNotFound(let key, let context): context.codingPath + [key]
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            @unknown default: []
            }
        return keys.reduce(into: "$") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? JSONNode.step(key.stringValue)
        }
    }
}
