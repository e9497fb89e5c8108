/// Readable forms of figures. Independent of the locale.
public enum ProfileText {
    /// A duration in a suitable unit, with three digits: `950 ns`, `1.25 µs`, `31.4 ms`, `2.00 s`.
    public static func time(_ nanoseconds: Int64) -> String { time(Double(nanoseconds)) }

    public static func time(_ nanoseconds: Double) -> String {
        scaled(nanoseconds, by: 1000, ["ns", "µs", "ms", "s"])
    }

    /// Bytes in units of powers of 1,024.
    public static func bytes(_ count: Double) -> String { scaled(count, by: 1024, ["B", "KiB", "MiB", "GiB"]) }

    /// A count with separators, `1,234,567`; fractions below ten have two decimals.
    public static func count(_ count: Double) -> String {
        guard count.isFinite else { return "–" }
        if count.magnitude < 1e15, count.rounded() == count { return grouped(Int64(count)) }
        return count.magnitude < 1000 ? digits(count) : grouped(Int64(max(-1e18, min(1e18, count.rounded()))))
    }

    /// `12.3 %`.
    public static func share(_ part: Double, of whole: Double) -> String {
        guard whole > 0 else { return "–" }
        return fixed(part / whole * 100, decimals: 1) + " %"
    }

    /// Three digits: `1.25`, `31.4`, `950`.
    public static func digits(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        let magnitude = value.magnitude
        return fixed(value, decimals: magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0)
    }

    public static func fixed(_ value: Double, decimals: Int) -> String {
        guard value.isFinite, value.magnitude < 1e15 else { return "–" }
        let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
        let rounded = Int64((value.magnitude * scale).rounded())
        let sign = value < 0 && rounded > 0 ? "−" : ""
        guard decimals > 0 else { return sign + String(rounded) }
        let fraction = String(rounded % Int64(scale))
        return sign + String(rounded / Int64(scale)) + "." + String(repeating: "0", count: decimals - fraction.count)
            + fraction
    }

    private static func grouped(_ number: Int64) -> String {
        var digits = Array(String(number.magnitude))
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: place)
            place -= 3
        }
        return (number < 0 ? "−" : "") + String(digits)
    }

    private static func scaled(_ value: Double, by step: Double, _ units: [String]) -> String {
        guard value.isFinite else { return "–" }
        var (scaled, unit) = (value, 0)
        // Otherwise 999.6 would be printed as 1000.
        while scaled.magnitude >= step - 0.5, unit + 1 < units.count { (scaled, unit) = (scaled / step, unit + 1) }
        let isWhole = unit == 0 && scaled.rounded() == scaled
        return (isWhole ? fixed(scaled, decimals: 0) : digits(scaled)) + " " + units[unit]
    }
}

/// The kinds of profile.
public enum ProfileKind: String, CaseIterable, Codable, Sendable {
    /// The times and threads of every operation.
    case trace
    /// CPU time by function.
    case cpu
    /// The places and durations of threads' waits, and the wakers.
    case offcpu
    /// Allocations by stack.
    case heap
}
