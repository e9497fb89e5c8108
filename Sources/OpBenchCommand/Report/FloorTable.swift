import OpBenchAnalysis
import OpBenchModel

/// A table of noise floors; headings name the cells with their backends.
enum FloorTable {
    /// - Parameters:
    ///   - showsAll: whether to show more than the floors of the total time.
    ///   - width: nil for no limit.
    static func text(of rows: [NoiseFloorRow], showsAll: Bool, width: Int?) -> String {
        let shown = rows.filter { showsAll || $0.phase == "total" && ["time", "time_ratio"].contains($0.metric) }
        guard !shown.isEmpty else { return "no figure has the six blocks that a noise floor needs\n" }
        var others: [ComparisonKind: [[String]: NoiseFloorRow]] = [:]
        for row in shown { others[row.comparison, default: [:]][key(row)] = row }
        var lines: [PrintedTable.Line] = []
        var place: [String] = []
        for row in shown where row.comparison == .paired {
            if place != [row.cellID, row.backend.rawValue] {
                place = [row.cellID, row.backend.rawValue]
                lines.append(.heading("\(row.cellID), \(row.backend.rawValue)"))
            }
            lines.append(.row(columns.map { $0.text(row, others[$0.comparison]?[key(row)]) }))
        }
        return PrintedTable(columns.map { .init(title: $0.title, isText: $0.isText) }, lines: lines).text(width: width)
    }

    /// A column of a figure's floors, with its explanation.
    struct Column: Sendable {
        let title: String
        var isText = false
        let meaning: String
        /// The kind of the other floor.
        var comparison = ComparisonKind.unpaired
        /// The text, from the floor between interleaved builds and, if there is one, another floor of the figure.
        let text: @Sendable (NoiseFloorRow, NoiseFloorRow?) -> String
    }

    static let columns: [Column] = [
        .init(title: "figure", isText: true, meaning: "The metric, with its phase, statistic and class.") { row, _ in
            "  " + row.figure.title
        },
        .init(title: "interleaved", meaning: "99 % of comparisons of identical interleaved builds stay below this.") {
            row, _ in floor(row)
        },
        .init(
            title: "layouts", meaning: "The same for builds that were linked in several layouts (`--layouts`).",
            comparison: .layouts
        ) { _, other in other.map(floor) ?? Quantities.absent },
        .init(title: "blocks", meaning: "The number of blocks behind the floor.") { row, _ in String(row.blocks) },
        .init(title: "runs apart", meaning: "The largest shift between any two runs of one build.") { _, other in
            other.map(floor) ?? Quantities.absent
        },
        .init(title: "runs", meaning: "The number of runs behind the shift.") { row, _ in String(row.runs) },
    ]

    private static func floor(_ row: NoiseFloorRow) -> String {
        row.noiseFloor.map(Quantities.percent) ?? Quantities.absent
    }

    private static func key(_ row: NoiseFloorRow) -> [String] {
        [row.cellID, row.backend.rawValue, row.figure.title]
    }
}
