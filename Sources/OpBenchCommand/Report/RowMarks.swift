import OpBenchModel

/// Letters beside a row of the summary that restrict its interpretation. A capital is the more serious form.
enum RowMark: Character, CaseIterable {
    case noisy = "n"
    case mostlyNoisy = "N"
    case short = "s"
    case mostlyShort = "S"
    case overloaded = "o"
    case mostlyOverloaded = "O"
    case unsteady = "u"
    case bimodal = "m"
    case quick = "q"
    case tooFewBlocks = "b"

    static let column = "note"

    /// The marks of a row, in order. Only the backend's row has them, not its classes.
    static func marks(of row: SummaryRow, isQuick: Bool) -> [RowMark] {
        guard row.operationClass.isEmpty, row.samples > 0 else { return [] }
        var marks: [RowMark] = []
        if let quality = row.quality {
            func add(_ count: Int, of all: Int, _ some: RowMark, _ most: RowMark) {
                if count > 0 { marks.append(2 * count > all ? most : some) }
            }
            add(quality.noisy, of: quality.samples, .noisy, .mostlyNoisy)
            add(quality.short, of: quality.throughputSamples, .short, .mostlyShort)
            add(quality.overloaded, of: quality.latencySamples, .overloaded, .mostlyOverloaded)
        }
        if row.isUnsteady { marks.append(.unsteady) }
        if row.modes.low != nil { marks.append(.bimodal) }
        if isQuick { marks.append(.quick) }
        // Counts need no more than two samples that agree.
        let isTimed = row.quality.map { $0.throughputSamples + $0.latencySamples > 0 } ?? true
        if !isTimed { return marks }
        if row.samples < usualBlocks { marks.append(.tooFewBlocks) }
        return marks
    }

    private static let usualBlocks = BlockStages.standard[0]

    /// The two forms of each restriction, equal for one without a more serious form; its name after a number of results;
    /// and whether already the milder form is worth mentioning.
    typealias Pair = (some: RowMark, most: RowMark, words: String, isSerious: Bool)

    static let pairs: [Pair] = [
        (.noisy, .mostlyNoisy, "mostly noisy", false),
        (.short, .mostlyShort, "mostly too short", false),
        (.overloaded, .mostlyOverloaded, "overloaded", true),
        (.bimodal, .bimodal, "bimodal", true),
        (.quick, .quick, "quick", true),
        (.tooFewBlocks, .tooFewBlocks, "of few blocks", true),
    ]

    var meaning: String {
        switch self {
        case .noisy: "noisy: something else used the machine during some samples"
        case .mostlyNoisy: "noisy: something else used the machine during most samples"
        case .unsteady:
            "unsteady: the rounds of the timed samples changed their level in more samples than those of other results, "
                + "beyond chance"
        case .bimodal: "bimodal: the times of the samples fall into two groups, and the median into one by chance"
        case .short: "short: some timed samples lasted less than a sample should"
        case .mostlyShort: "short: most timed samples lasted less than a sample should"
        case .overloaded: "overloaded: in some samples operations ended more slowly than they arrived"
        case .mostlyOverloaded:
            "overloaded: operations ended more slowly than they arrived; latencies reflect the length of the sample"
        case .quick:
            "quick: few short samples show a direction and prove nothing; without --quick, figures have intervals"
        case .tooFewBlocks: "too few blocks: fewer than \(Self.usualBlocks)"
        }
    }
}
