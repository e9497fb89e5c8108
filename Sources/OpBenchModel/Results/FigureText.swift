/// A figure as text and back without loss: the shortest decimals that name the same Double, `.` as the point, no
/// needless `.0`.
public enum FigureText {
    public static func write(_ figure: Double) -> String {
        let text = figure.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// nil for anything but a finite decimal number.
    static func read(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
        guard let figure = Double(text), figure.isFinite else { return nil }
        return figure
    }
}
