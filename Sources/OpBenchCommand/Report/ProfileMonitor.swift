import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// What a profiler's events set off: progress on standard error, each cell's summary on standard output.
///
/// Not thread-safe; the profiler sends its events one after the other.
final class ProfileMonitor {
    private var display: ProgressDisplay
    private let estimatedSeconds: Double
    /// Whether the user named the kinds: what cannot be done then is a failure.
    private let areKindsAskedFor: Bool
    private(set) var hasFailures = false

    init(_ options: ProfileOptions, targets: Int, isSilent: Bool) {
        display = ProgressDisplay(style: isSilent ? .silent : StandardError.isTerminal ? .bar : .lines)
        areKindsAskedFor = options.kinds != nil
        let kinds = options.kinds?.count ?? ProfileKind.allCases.count
        // A sample, and about as long to make its files.
        estimatedSeconds = Double(targets * (kinds + 1)) * 2 * options.seconds
    }

    func handle(_ event: ProfileEvent) throws {
        switch event {
        case .calibrating: break
        case .sampleStarted(let target, let kind, let index, let total):
            display.step(
                "\(target.backend.rawValue) \(kind?.rawValue ?? "unprofiled"), \(target.cell.id)", done: index,
                total: total, estimatedSeconds: estimatedSeconds)
        case .finished(let profiled):
            display.eraseBar()
            if profiled.sections.contains(where: { $0.hasFailed(isAskedFor: areKindsAskedFor) }) { hasFailures = true }
            try StandardOutput.write(ProfileSummary(profiled).text)
        case .unsupported(let target, let reason):
            warn("unsupported (\(reason)): \(target.backend.rawValue), \(target.cell.id)")
        case .failed(let target, let reason):
            hasFailures = true
            warn("\(reason): \(target.backend.rawValue), \(target.cell.id)")
        }
    }

    func warn(_ text: String) { display.warn(text) }

    /// Ends the display, however the work ended.
    func finish() { display.eraseBar() }
}

extension ProfileSection {
    fileprivate func hasFailed(isAskedFor: Bool) -> Bool {
        switch lack {
        case nil: false
        case .impossible: isAskedFor
        case .failed: true
        }
    }
}
