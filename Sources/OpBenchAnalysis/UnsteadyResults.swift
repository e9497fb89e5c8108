import OpBenchModel

extension [SummaryRow] {
    /// The error rate of the marks of one run: in so many runs of equal backends some result is marked.
    private static let alpha = 0.05

    /// The rows of a run, of which those are marked whose samples are unsteady more often than the others of the run,
    /// beyond chance.
    ///
    /// A machine changes its speed while it measures, so that rounds of any program change their level, on some machines
    /// in a third of all samples. So each result is compared with the rest of its own run: by Fisher's exact test,
    /// one-sided, on the numbers of its unsteady and steady samples and of all others, adjusted for the number of
    /// results (Holm).
    public func markingUnsteady() -> [SummaryRow] {
        let tested = indices.filter { self[$0].operationClass.isEmpty && self[$0].quality?.levelled ?? 0 > 0 }
        let counts = tested.map { (unsteady: self[$0].quality!.unsteady, all: self[$0].quality!.levelled) }
        let (unsteady, all) = counts.reduce((0, 0)) { ($0.0 + $1.unsteady, $0.1 + $1.all) }
        let adjusted = holmAdjusted(
            counts.map { hypergeometricTail(from: $0.unsteady, drawing: $0.all, of: all, marked: unsteady) })
        var rows = self
        for (index, probability) in zip(tested, adjusted) { rows[index].isUnsteady = probability < Self.alpha }
        return rows
    }
}
