import Glibc

/// Readable forms of figures: three significant digits and a suitable unit. Independent of the locale.
package enum Quantities {
    /// The text for an absent figure.
    package static let absent = "-"

    /// A duration, given in nanoseconds: `87 ns`, `1.25 µs`, `40.1 ms`, `3.2 s`.
    package static func time(_ nanoseconds: Double) -> String { durations.text(nanoseconds) }

    package static func time(_ nanoseconds: some BinaryInteger) -> String { time(Double(nanoseconds)) }

    /// A duration measured with a clock of the given resolution, both in nanoseconds: `< 20 ns` for durations below the
    /// resolution, else as `time`.
    package static func time(_ nanoseconds: Double, resolution: Double) -> String {
        nanoseconds < resolution ? "< " + time(resolution) : time(nanoseconds)
    }

    /// A waiting time, given in seconds and rounded up: `12 s`, `3 min 5 s`, `1 h 2 min`, `1 d 2 h`.
    package static func wait(seconds: Double) -> String {
        guard !seconds.isNaN else { return absent }
        let whole = Int(max(0, min(seconds, longestWait)).rounded(.up))
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        let minutes = (whole + 59) / 60
        if minutes < 24 * 60 { return "\(minutes / 60) h \(minutes % 60) min" }
        let hours = (minutes + 59) / 60
        return "\(hours / 24) d \(hours % 24) h"
    }

    /// The longest wait that is shown: a hundred years.
    private static let longestWait = 36_525 * 86_400.0

    /// An amount of memory: `96 B`, `1.21 KiB`, `12.0 MiB`.
    package static func bytes(_ count: Double) -> String { amounts.text(count) }

    /// A plain number: `0.012`, `2`, `14.3`, `1.2M`.
    package static func count(_ number: Double) -> String { counts.text(number) }

    /// A number with two of the digits that differ from another: `2.0015` beside 2.0018.
    private static func distinct(_ number: Double, from other: Double) -> String {
        let decimals = (0...8).first { fixed(number, decimals: $0) != fixed(other, decimals: $0) } ?? 8
        return fixed(number, decimals: decimals + 1)
    }

    /// A ratio, to two decimals and below a tenth to three digits: `0.61×`, `154×`, `0.00253×`.
    package static func ratio(_ ratio: Double) -> String { factor(ratio) + "×" }

    /// The ends of a ratio's interval: `0.74–1.09`.
    package static func ratioInterval(_ low: Double, _ high: Double) -> String { "\(factor(low))–\(factor(high))" }

    private static func factor(_ ratio: Double) -> String {
        guard abs(ratio) < 10 else { return digits(ratio) }
        guard ratio != 0, abs(ratio) < 0.0995 else { return fixed(ratio, decimals: 2) }
        var (decimals, scaled) = (3, abs(ratio))
        while scaled < 0.0995, decimals < 7 {
            scaled *= 10
            decimals += 1
        }
        return fixed(ratio, decimals: decimals)
    }

    /// A figure of a metric, per operation or round, in its unit.
    ///
    /// - Parameters:
    ///   - resolution: resolution of the clock that timed it, in nanoseconds. A mean over many operations may be less
    ///     than that, without being zero.
    ///   - other: the figure of the other side: of counts that barely vary, the digits that differ are shown.
    package static func figure(
        _ value: Double?, of metric: String, resolution: Double, beside other: Double? = nil
    ) -> String {
        guard let value else { return absent }
        let declared = Metric.named(metric)
        if let other, value != other, declared?.isDeterministic == true,
            figure(value, of: metric, resolution: resolution) == figure(other, of: metric, resolution: resolution)
        {
            return distinct(value, from: other) + (declared?.unit == .bytes ? " B" : "")
        }
        return switch declared?.unit {
        case .nanoseconds where declared?.basis == .sample || value == 0:
            time(value, resolution: resolution)
        case .nanoseconds: time(value)
        case .bytes: bytes(value)
        case .perSecond, .count: count(value)
        case .ratio, nil: ratio(value)
        }
    }

    /// A part of a whole: `5 %`, `12.3 %`.
    package static func percent(_ part: Double) -> String { digits(part * 100) + " %" }

    package static func percent(_ part: Double, of whole: Double) -> String {
        whole > 0 ? percent(part / whole) : absent
    }

    /// A figure with two significant digits; with three if its interval is narrow enough for them.
    ///
    /// - Parameters:
    ///   - width: the width of the 95 % interval; nil without one.
    ///   - resolution: see `figure`.
    package static func short(_ value: Double, width: Double?, in unit: Metric.Unit, resolution: Double) -> String {
        let isNarrow = width.map { $0 < abs(value) * narrow } ?? false
        let rounded = isNarrow ? value : significant(value)
        let digits = isNarrow ? digits : twoDigits
        return switch unit {
        case .nanoseconds where value < resolution: time(value, resolution: resolution)
        case .nanoseconds: durations.text(rounded, digits)
        case .bytes: amounts.text(rounded, digits)
        case .perSecond: counts.text(rounded, digits) + "/s"
        case .count: counts.text(rounded) { $0 == $0.rounded() ? Quantities.digits($0) : digits($0) }
        // The difference from 1 is of interest.
        case .ratio where (0.9..<1.1).contains(value): ratio(value)
        case .ratio: abs(rounded) < 0.0995 ? ratio(rounded) : digits(rounded) + "×"
        }
    }

    /// The relative width of an interval that deserves a third digit.
    private static let narrow = 0.02

    /// Rounds to two significant digits.
    private static func significant(_ value: Double) -> Double {
        guard value != 0, value.isFinite else { return value }
        let unit = pow(10, floor(log10(abs(value))) - 1)
        return (value / unit).rounded() * unit
    }

    /// A p-value: `0.031`, `<0.001`.
    package static func probability(_ probability: Double) -> String {
        probability < 0.001 ? "<0.001" : fixed(probability, decimals: 3)
    }

    /// The ends of an interval of a metric's figure, in the unit of the figure's text: `634–740` for `712 ns`.
    package static func interval(_ low: Double, _ high: Double, around figure: Double, of metric: String) -> String {
        interval(low, high, around: figure, in: Metric.named(metric)?.unit ?? .ratio)
    }

    package static func interval(_ low: Double, _ high: Double, around figure: Double, in unit: Metric.Unit) -> String {
        switch unit {
        case .nanoseconds: durations.interval(low, high, around: figure)
        case .bytes: amounts.interval(low, high, around: figure)
        case .perSecond, .count: counts.interval(low, high, around: figure)
        case .ratio: ratioInterval(low, high)
        }
    }

    /// A relative change: `−6 %`, `+0.4 %`, `0 %`.
    package static func change(_ part: Double) -> String {
        let percent = abs(part) * 100
        let tenths = fixed(percent, decimals: 1)
        let isWhole = percent >= 9.95 || tenths.hasSuffix(".0")
        let text = isWhole ? fixed(percent, decimals: 0) : tenths
        return (text == "0" ? "" : part < 0 ? "−" : "+") + text + " %"
    }

    private static let durations = Units(step: 1000, names: [" ns", " µs", " ms", " s"])
    private static let amounts = Units(step: 1024, names: [" B", " KiB", " MiB", " GiB", " TiB"])
    private static let counts = Units(step: 1000, names: ["", "k", "M", "G", "T"])

    /// Units of one kind, each larger than the previous one by the same factor.
    private struct Units {
        let step: Double
        let names: [String]

        func text(_ figure: Double, _ digits: (Double) -> String = Quantities.digits) -> String {
            guard figure.isFinite else { return absent }
            let (divisor, name) = unit(of: figure)
            return digits(figure / divisor) + name
        }

        /// The ends of an interval, in the unit of the figure between them.
        func interval(_ low: Double, _ high: Double, around figure: Double) -> String {
            let divisor = unit(of: figure).divisor
            return "\(digits(low / divisor))–\(digits(high / divisor))"
        }

        private func unit(of figure: Double) -> (divisor: Double, name: String) {
            var (divisor, unit) = (1.0, 0)
            // 999.5 would be written as 1000.
            while abs(figure) / divisor >= step - 0.5, unit < names.count - 1 {
                divisor *= step
                unit += 1
            }
            return (divisor, names[unit])
        }
    }

    /// Three significant digits, without a zero fraction.
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

    /// Two significant digits, of a figure that is rounded to them.
    private static func twoDigits(_ figure: Double) -> String {
        switch abs(figure) {
        case ..<0.0005: "0"
        case ..<0.0995: fixed(figure, decimals: 3)
        case ..<0.995: fixed(figure, decimals: 2)
        case ..<9.95: fixed(figure, decimals: 1)
        default: fixed(figure, decimals: 0)
        }
    }

    /// A fixed number of decimals, without Foundation's formatter, which depends on the locale.
    package static func fixed(_ figure: Double, decimals: Int) -> String {
        guard figure.isFinite else { return figure.description }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let shifted = (abs(figure) * scale).rounded()
        guard shifted < 9e15 else { return figure.description }
        let whole = Int(shifted) / Int(scale)
        let sign = figure < 0 && shifted != 0 ? "−" : ""
        guard decimals > 0 else { return sign + String(whole) }
        let fraction = String(Int(shifted) % Int(scale))
        return sign + "\(whole)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
