import OpBenchModel

/// Judged figures, which the page shows first: a gate's outcome, or the verdicts of an A/B run or of goals. All texts
/// are shown as they are; the page escapes them.
public struct JudgedFigures: Sendable {
    /// The operands of the ratios.
    public enum Kind: String, Sendable { case baseline, sides, goals }

    public var kind: Kind
    /// The judged runs and the reference: `today against the baseline main`.
    public var title: String
    /// The outcome in the gate's word.
    public var outcome: String
    /// A row without a verdict is of a figure that no rule matches.
    package var table: Table<CompareRow>
    /// The facts around the code that differ between the sides, one line each.
    public var surroundings: [String]
    /// The actions for inconclusive figures, one line each.
    public var remedies: [String]

    package init(
        kind: Kind, title: String, outcome: String, table: Table<CompareRow>, surroundings: [String] = [],
        remedies: [String] = []
    ) {
        (self.kind, self.title, self.outcome, self.table) = (kind, title, outcome, table)
        (self.surroundings, self.remedies) = (surroundings, remedies)
    }
}
