import OpBenchAnalysis
import OpBenchModel

/// A table of the sources of variance of the total time; the last line names the main one, with its remedy.
enum VarianceTable {
    /// - Parameter width: nil for no limit.
    static func text(of findings: [VarianceFinding], width: Int? = nil) -> String {
        guard let main = VarianceFinding.main(of: findings) else { return "" }
        let advice = "\(Quantities.percent(main.share)) of the variance of a block's ratio is \(words(main.source))"
        return "\n" + Table(columns, findings).text(width: width) + "\n"
            + WrappedText.paragraph(advice, width: width, hanging: 2)
    }

    static let columns: [Table<VarianceFinding>.Column] = [
        .init("variance of", isText: true, "The cell and the backend whose total time varies.") {
            "\($0.cellID), \($0.backend.rawValue)"
        },
        .init("rounds", "The standard deviation that the rounds of a sample leave in its mean.") {
            deviation($0.components.rounds)
        },
        .init("processes", "The standard deviation between processes of one program, beyond that.") {
            deviation($0.components.processes)
        },
        .init(
            "layouts",
            """
            The standard deviation between layouts of one build; needs two blocks of each: --layouts 15 --blocks 30.
            """
        ) { deviation($0.components.layouts) },
        .init("drift", "The standard deviation between blocks, which both sides share: ratios exclude it.") {
            deviation($0.components.blocks)
        },
    ]

    private static func deviation(_ variance: Double?) -> String {
        variance.map { Quantities.percent($0.squareRoot()) } ?? Quantities.absent
    }

    /// The place of the source, and the remedy.
    private static func words(_ source: VarianceComponents.Source) -> String {
        switch source {
        case .rounds: "between rounds of a sample: longer samples help, with more operations in each"
        case .processes: "between processes: more blocks help"
        case .layouts: "between layouts: more layouts help, not more blocks of one"
        }
    }
}
