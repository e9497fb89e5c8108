import OpBenchModel

/// The stages of an operation's life that are timed, as written in the column `stage` of `histograms.csv`.
enum LatencyStage: String, CaseIterable, Sendable {
    /// just before the submitting call → ready
    case ready
    /// ready → start
    case start
    /// start → end
    case run
    /// ready → end
    case end
    /// end → completion block entered
    case notified
    /// just before the submitting call → start
    case submit
    /// the intended instant of submitting → end, in an open loop
    case intended
    /// just before the submitting call → end, where the plan has a pace
    case service
    /// the intended instant of submitting → just before the submitting call
    case lag
    /// suspend returned → last start within the hold
    case quiesce
    /// resume called → first start
    case resume
}

extension LatencyStage {
    /// The metric of the rows.
    var metric: Metric {
        switch self {
        case .ready: .readyLatency
        case .start: .startLatency
        case .run: .runTime
        case .end: .endLatency
        case .notified: .notifyLatency
        case .submit: .submitLatency
        case .intended: .intendedLatency
        case .service: .serviceLatency
        case .lag: .submitLag
        case .quiesce: .quiesceTime
        case .resume: .resumeToStart
        }
    }
}
