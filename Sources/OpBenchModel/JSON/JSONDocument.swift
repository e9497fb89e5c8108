/// JSON that Foundation makes values of.
public enum JSONDocument {
    /// Reads the text of a file that holds one JSON value, by the strict rules of `JSONParser`.
    ///
    /// - Parameter limit: in bytes.
    /// - Throws: `InputError` if the file cannot be read, is too large, or is not JSON.
    public static func text(of file: String, limit: Int) throws(InputError) -> String {
        let text = try TextFile.read(file, limit: limit)
        try JSONParser.check(text, file: file)
        return text
    }
}
