import Glibc

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

    /// How likely a figure that is worse by just the margin may pass when it has so many blocks: alpha with one stage, and
    /// a part of it with several, of which all together are alpha (Bonferroni).
    ///
    /// A stage takes an even part of what those before it have left. n blocks cannot tell with a probability of error below
    /// 2⁻ⁿ: a stage takes that if it is more, as long as a fifth is left to the later ones. Where it is not, nothing passes.
    public static func passTail(ofBlocks blocks: Int, _ stages: [Int], alpha: Double) -> Double {
        var rest = alpha
        for (index, stage) in stages.enumerated() {
            let share = rest / Double(stages.count - index)
            let least = exp2(-Double(stage))
            let tail = least > share && least <= 0.8 * rest ? least : share
            if blocks <= stage || index == stages.count - 1 { return tail }
            if least <= tail { rest -= tail }
        }
        return rest
    }
}
