extension StringProtocol {
    /// The words in lines of at most `width` characters; a longer word has a line of its own.
    func filledLines(width: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.unicodeScalars.count + 1 + word.unicodeScalars.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
