import OpBenchModel

/// Summarises the rows of samples: one row per cell, backend and class, in the order in which they first appear.
public func summarize(_ rows: [SampleRow], ratioTo baseline: BackendID = .dispatch) -> [SummaryRow] {
    []
}
