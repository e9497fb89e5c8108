import OpBenchBackends
import OpBenchModel

/// An event of a run.
public enum RunEvent: Sendable {
    /// `total` counts all samples that are certain, including those of earlier processes; `isLeast` if there may be
    /// more. The estimate covers the remaining samples. A run for a precision may end before its budget is spent.
    case started(
        total: Int, isLeast: Bool = false, estimatedSeconds: Double, budgetSeconds: Double?,
        isForPrecision: Bool = false)
    case calibrating
    /// A stage has ended. `total` is the number of samples of the whole run if all of the next stage's are needed. The
    /// estimate covers the remaining samples.
    case narrowed(total: Int, estimatedSeconds: Double)
    /// The run has chosen more samples, perhaps not the last. The estimate covers only them.
    case extended(estimatedSeconds: Double)
    /// The number of cells that a run for a precision still improves, and the greatest relative distance of an
    /// interval's end from its figure.
    case imprecise(cells: Int, distance: Double)
    /// `index` counts from 0 over all samples of the run, including those of earlier processes.
    case sampleStarted(index: Int, total: Int, cellID: String, backend: BackendID, kind: SampleKind, block: Int)
    /// Sent once for each sample, with the rows of its repeat if there was interference. The estimate is the plan's,
    /// which is part of the estimates above.
    case sampleFinished(index: Int, status: SampleStatus, rows: [SampleRow], estimatedSeconds: Double)
    /// More rows are on disk: of a sample, its repeat or an omission; at the beginning of a resumed run, those of earlier
    /// processes. The event has all rows so far, in order.
    case rowsSaved([SampleRow])
    case warning(String)
    /// Sent before the first sample: the minimum blocks of all cells are likely to take longer than the budget.
    case budgetIsShort(budgetSeconds: Double, estimatedSeconds: Double)
    /// The run was already finished: nothing was done and no file touched.
    case foundFinished
    /// The run has all its samples, or was cancelled.
    case finished
}

/// The source of a run's samples.
struct SampleSource: Sendable {
    /// Takes a sample with a program, in a separate process.
    let take: @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    /// Reads the conditions around a sample.
    let readCovariates: @Sendable () -> Covariates
    /// Determines what the machine has for samples of a kind.
    let means: @Sendable (SampleKind) -> ProfileMeans.Answer
    /// By kind, what the machine lacks for the run's samples.
    var lacks: [SampleKind: ProfileMeans.Answer] = [:]
}
