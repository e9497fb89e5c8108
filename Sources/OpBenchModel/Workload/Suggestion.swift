/// Known names in errors: the nearest, and few of the others.
public enum Suggestion {
    /// Closed sets, such as the kinds of sample, are shown whole.
    private static let limit = 6

    /// The remedy for an unknown name.
    ///
    /// - Parameter command: the command that prints all known names.
    public static func remedy(for name: String, among known: [String], from command: String? = nil) -> String {
        guard let nearest = nearest(to: name, among: known) else { return "known are " + list(known, from: command) }
        let ordered = known.count <= limit ? known : ranked(known, by: name).map(\.name)
        return "did you mean \"\(nearest)\"? known are " + list(ordered, from: command)
    }

    /// At most six of the names, the number of the others, and the command that prints them all.
    public static func list(_ names: [String], from command: String? = nil) -> String {
        let shown = names.prefix(limit).joined(separator: ", ")
        if names.count <= limit { return shown }
        return "\(shown) and \(names.count - limit) more" + (command.map { ": \($0)" } ?? "")
    }

    /// The known name with the smallest edit distance, if that is small for its length.
    public static func nearest(to name: String, among known: [String]) -> String? {
        guard let best = ranked(known, by: name).first else { return nil }
        return best.edits <= max(1, best.name.unicodeScalars.count / 2) ? best.name : nil
    }

    /// The names by edit distance, nearest first; equally near names stay in order.
    private static func ranked(_ known: [String], by name: String) -> [(name: String, edits: Int)] {
        let written = Array(name.lowercased().unicodeScalars.prefix(64))
        return known.map { (name: $0, edits: edits(from: written, to: Array($0.unicodeScalars))) }
            .sorted { $0.edits < $1.edits }
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment), one row of the table at
    /// a time.
    private static func edits(from source: [Unicode.Scalar], to target: [Unicode.Scalar]) -> Int {
        var (beforePrevious, previous) = ([Int](), Array(0...target.count))
        for (index, scalar) in source.enumerated() {
            var row = [index + 1]
            for column in target.indices {
                let substituted = previous[column] + (scalar == target[column] ? 0 : 1)
                var least = min(substituted, previous[column + 1] + 1, row[column] + 1)
                let isSwap =
                    index > 0 && column > 0 && scalar == target[column - 1] && source[index - 1] == target[column]
                if isSwap { least = min(least, beforePrevious[column - 1] + 1) }
                row.append(least)
            }
            (beforePrevious, previous) = (previous, row)
        }
        return previous[target.count]
    }
}
