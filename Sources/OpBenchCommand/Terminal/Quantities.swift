import OpBenchModel

/// Figures as a person reads them: three significant digits and a unit that fits.
enum Quantities {
    /// What stands where a figure is absent.
    static let absent = "-"

    /// A length of time, given in nanoseconds: `87 ns`, `1.25 µs`, `40.1 ms`, `3.2 s`.
    static func duration(nanoseconds: Double) -> String {
        scaled(nanoseconds, by: 1000, units: ["ns", "µs", "ms", "s"])
    }

    /// A length of time for people who wait, given in seconds: `12s`, `3m05s`, `1h02m`.
    static func wait(seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 3.6e8)).rounded(.up))
        if whole < 60 { return "\(whole)s" }
        if whole < 3600 { return "\(whole / 60)m\(twoDigits(whole % 60))s" }
        return "\(whole / 3600)h\(twoDigits(whole % 3600 / 60))m"
    }

    /// An amount of memory: `96 B`, `1.21 KiB`, `12.0 MiB`.
    static func bytes(_ count: Double) -> String {
        scaled(count, by: 1024, units: ["B", "KiB", "MiB", "GiB", "TiB"])
    }

    /// A plain number: `0.012`, `2`, `14.3`, `1.2M`.
    static func count(_ number: Double) -> String {
        abs(number) < 1000 ? digits(number) : scaled(number, by: 1000, units: ["", "k", "M", "G", "T"], separator: "")
    }

    /// A ratio: `0.61×`.
    static func ratio(_ ratio: Double) -> String { factor(ratio) + "×" }

    /// The ends of a ratio's interval: `0.74–1.09`.
    static func ratioInterval(_ low: Double, _ high: Double) -> String { "\(factor(low))–\(factor(high))" }

    private static func factor(_ ratio: Double) -> String {
        abs(ratio) < 10 ? fixed(ratio, decimals: 2) : digits(ratio)
    }

    /// A ratio that may be far below 1, to three digits: `0.00253×`, `0.45×`.
    static func fineRatio(_ ratio: Double) -> String { fineFactor(ratio) + "×" }

    /// The ends of its interval: `0.00241–0.00262`.
    static func fineRatioInterval(_ low: Double, _ high: Double) -> String { "\(fineFactor(low))–\(fineFactor(high))" }

    private static func fineFactor(_ ratio: Double) -> String {
        var (decimals, scaled) = (3, abs(ratio))
        while scaled > 0, scaled < 0.0995, decimals < 7 {
            scaled *= 10
            decimals += 1
        }
        return decimals == 3 ? digits(ratio) : fixed(ratio, decimals: decimals)
    }

    /// A figure of a metric, per operation or round, in its unit.
    ///
    /// - Parameter resolution: of the clock that timed it, in nanoseconds. A mean over many operations may be less than
    ///   that, but is not none.
    static func figure(_ value: Double?, of metric: String, resolution: Double) -> String {
        guard let value else { return absent }
        let declared = Metric.named(metric)
        return switch declared?.unit {
        case .nanoseconds where declared?.basis == .sample || value == 0:
            time(nanoseconds: value, resolution: resolution)
        case .nanoseconds: duration(nanoseconds: value)
        case .bytes: bytes(value)
        case .perSecond, .count: count(value)
        case .ratio, nil: ratio(value)
        }
    }

    /// A part of a whole: `5 %`.
    static func percent(_ part: Double) -> String { digits(part * 100) + " %" }

    /// A p-value: `0.031`, `<0.001`.
    static func probability(_ probability: Double) -> String {
        probability < 0.001 ? "<0.001" : fixed(probability, decimals: 3)
    }

    /// The ends of an interval, each as far from the figure as it is, since few intervals are symmetric: `−6 % +79 %`.
    static func interval(low: Double, high: Double, around figure: Double) -> String {
        guard figure != 0 else { return absent }
        return "\(change(low / figure - 1)) \(change(high / figure - 1))"
    }

    /// A part more or less: `−6 %`, `+0.4 %`, `0 %`.
    static func change(_ part: Double) -> String {
        let percent = abs(part) * 100
        let tenths = fixed(percent, decimals: 1)
        let isWhole = percent >= 9.95 || tenths.hasSuffix(".0")
        let text = isWhole ? fixed(percent, decimals: 0) : tenths
        return (text == "0" ? "" : part < 0 ? "−" : "+") + text + " %"
    }

    /// A length of time that a clock of that resolution told, both in nanoseconds: `< 20 ns` for what it cannot tell from
    /// none, else as `duration`.
    static func time(nanoseconds: Double, resolution: Double) -> String {
        nanoseconds < resolution
            ? "< " + duration(nanoseconds: resolution) : duration(nanoseconds: nanoseconds)
    }

    private static func scaled(_ figure: Double, by step: Double, units: [String], separator: String = " ") -> String {
        var figure = figure
        var unit = 0
        // 999.5 would be written as 1000.
        while abs(figure) >= step - 0.5, unit < units.count - 1 {
            figure /= step
            unit += 1
        }
        return digits(figure) + separator + units[unit]
    }

    /// Three significant digits, without a fraction that says nothing.
    private static func digits(_ figure: Double) -> String {
        if figure == figure.rounded() && abs(figure) < 1e6 { return fixed(figure, decimals: 0) }
        return switch abs(figure) {
        case ..<0.0005: "0"
        case ..<0.0995: fixed(figure, decimals: 3)
        case ..<9.995: fixed(figure, decimals: 2)
        case ..<99.95: fixed(figure, decimals: 1)
        default: fixed(figure, decimals: 0)
        }
    }

    /// Without Foundation's formatter, which follows the locale.
    private static func fixed(_ figure: Double, decimals: Int) -> String {
        guard figure.isFinite else { return figure.description }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let shifted = (abs(figure) * scale).rounded()
        guard shifted < 9e15 else { return figure.description }
        let whole = Int(shifted) / Int(scale)
        let sign = figure < 0 && shifted != 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(whole) }
        let fraction = String(Int(shifted) % Int(scale))
        return sign + "\(whole)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
