import OpBenchModel

/// What happens in a run, as it happens.
public enum RunEvent: Sendable {
    /// `total` are all samples that are certain, those of an earlier part included; the estimate is of those that are left.
    case started(total: Int, estimatedSeconds: Double, budgetSeconds: Double?)
    case calibrating
    /// A stage has ended, and so many samples will have been taken in the whole run if all of the next one's stand. The
    /// estimate is of those that are left.
    case narrowed(total: Int, estimatedSeconds: Double)
    /// A budget leaves time for more: so many samples will have been taken with those chosen now, which the estimate is of.
    case extended(total: Int, estimatedSeconds: Double)
    /// `index` counts from 0 over all samples of the run, those of an earlier part included.
    case sampleStarted(index: Int, total: Int, cellID: String, backend: BackendID, kind: SampleKind, block: Int)
    /// Once for each sample, with the rows of its repeat if it was taken under interference. The estimate is what the plan
    /// thought of it, as part of those above.
    case sampleFinished(index: Int, status: SampleStatus, rows: [SampleRow], estimatedSeconds: Double)
    /// Rows are on disk: those of a sample or of its repeat; of what is not measured; first those of an earlier process, where
    /// a run is continued.
    case rowsSaved([SampleRow])
    case warning(String)
    /// Before the first sample: those that every cell gets are likely to take longer than the budget.
    case budgetIsShort(budgetSeconds: Double, estimatedSeconds: Double)
    case finished(RunOutcome)
}

/// How a run ended.
public struct RunOutcome: Sendable, Equatable {
    /// The run's own folder.
    public var folder: String
    /// Samples taken now, repeats of noisy ones included.
    public var samplesTaken: Int
    /// Whether the task was cancelled before the last sample. What was measured is kept.
    public var isCancelled: Bool
    /// Whether the run was finished before, so that nothing was done and no file of it was touched.
    public var wasFinished: Bool

    public init(folder: String, samplesTaken: Int, isCancelled: Bool, wasFinished: Bool = false) {
        self.folder = folder
        self.samplesTaken = samplesTaken
        self.isCancelled = isCancelled
        self.wasFinished = wasFinished
    }
}
