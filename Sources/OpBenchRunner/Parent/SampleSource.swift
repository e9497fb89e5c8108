/// Where a run's samples come from.
struct SampleSource: Sendable {
    /// Takes a sample by a program, in a process of its own.
    let take: @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    /// Reads what surrounds samples.
    let readCovariates: @Sendable () -> Covariates
}
