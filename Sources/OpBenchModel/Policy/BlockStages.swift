/// How many blocks two interleaved builds get: declared before anything is measured, so that looking at the figures
/// on the way costs a known part of alpha.
public enum BlockStages {
    /// Seven blocks screen: a cell needs no more if all its judged figures pass and none looks improved. A regression
    /// or an improvement needs fifteen. A cell that is still open then, and likely to be settled, continues to
    /// twenty-five, and to forty, the most that the exact test takes.
    public static let standard = [7, 15, 25, 40]

    /// A run of a hundred blocks takes fifteen times as long as one of seven: more are not to be borne.
    public static let mostOfRun = 100

    /// At how many of the stages a regression may be found: alpha is shared out evenly among them (Bonferroni), so that
    /// all looks together raise no more false alarms than one would.
    public static func looks(_ stages: [Int], minBlocks: Int) -> Int { max(1, stages.count { $0 >= minBlocks }) }
}
