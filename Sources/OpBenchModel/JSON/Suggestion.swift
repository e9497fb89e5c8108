/// "Did you mean": the nearest of the known names.
public enum Suggestion {
    /// What to tell the author of an unknown name.
    public static func remedy(for name: String, among known: [String]) -> String {
        let list = "known are " + known.joined(separator: ", ")
        guard let nearest = nearest(to: name, among: known) else { return list }
        return "did you mean \"\(nearest)\"? \(list)"
    }

    /// The known name that the fewest edits lead to, if they are few for its length.
    public static func nearest(to name: String, among known: [String]) -> String? {
        let written = Array(name.lowercased().unicodeScalars.prefix(64))
        let ranked = known.map { (name: $0, edits: edits(from: written, to: Array($0.unicodeScalars))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }) else { return nil }
        return best.edits <= max(1, best.name.unicodeScalars.count / 2) ? best.name : nil
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment), one row of the table at a
    /// time.
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
