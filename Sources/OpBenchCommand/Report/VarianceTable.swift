import OpBenchAnalysis
import OpBenchModel

/// A table of the sources of variance of the total time; the last line names the main one, with its remedy.
enum VarianceTable {
    /// - Parameter width: nil for no limit.
    static func text(of findings: [VarianceFinding], width: Int? = nil) -> String {
        guard let main = VarianceFinding.main(of: findings) else { return "" }
        let lines = findings.map { finding in PrintedTable.Line.row(columns.map { $0.text(finding) }) }
        let table = PrintedTable(columns.map { .init(title: $0.title, isText: $0.isText) }, lines: lines)
        let advice =
            "\(Quantities.percent(main.share)) of the variance of a block's ratio is \(place(of: main.source)): "
            + remedy(for: main.source)
        return "\n" + table.text(width: width) + "\n" + WrappedText.paragraph(advice, width: width, hanging: 2)
    }

    /// A column, with its explanation.
    struct Column: Sendable {
        let title: String
        var isText = false
        let meaning: String
        let text: @Sendable (VarianceFinding) -> String
    }

    static let columns: [Column] = [
        .init(title: "variance of", isText: true, meaning: "The cell and the backend whose total time varies.") {
            "\($0.cellID), \($0.backend.rawValue)"
        },
        .init(title: "rounds", meaning: "The standard deviation that the rounds of a sample leave in its mean.") {
            deviation($0.components.rounds)
        },
        .init(title: "processes", meaning: "The standard deviation between processes of one program, beyond that.") {
            deviation($0.components.processes)
        },
        .init(
            title: "layouts",
            meaning: """
                The standard deviation between layouts of one build; needs two blocks of each: --layouts 15 --blocks 30.
                """
        ) { deviation($0.components.layouts) },
        .init(
            title: "drift", meaning: "The standard deviation between blocks, which both sides share: ratios exclude it."
        ) { deviation($0.components.blocks) },
    ]

    private static func deviation(_ variance: Double?) -> String {
        variance.map { Quantities.percent($0.squareRoot()) } ?? Quantities.absent
    }

    private static func place(of source: VarianceComponents.Source) -> String {
        switch source {
        case .rounds: "between rounds of a sample"
        case .processes: "between processes"
        case .layouts: "between layouts"
        }
    }

    private static func remedy(for source: VarianceComponents.Source) -> String {
        switch source {
        case .rounds: "longer samples help, with more operations in each"
        case .processes: "more blocks help"
        case .layouts: "more layouts help, not more blocks of one"
        }
    }
}
