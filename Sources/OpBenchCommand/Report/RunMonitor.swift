import OpBenchModel
import OpBenchRunner

/// What a run's events set off: progress on standard error, the summary file kept up to date.
///
/// Not thread-safe; the runner sends its events one after the other.
final class RunMonitor {
    private var display: ProgressDisplay
    private(set) var file: SummaryFile?

    /// - Parameter file: nil for a run without a summary.
    init(file: SummaryFile?, style: ProgressDisplay.Style) {
        display = ProgressDisplay(style: style)
        self.file = file
    }

    func handle(_ event: RunEvent) {
        display.handle(event)
        guard case .rowsSaved = event else { return }
        // The rows are what must be kept; a summary that fails now is tried again, and its failure told, at the end.
        try? file?.updateNowAndThen()
    }

    func updateFile() throws { try file?.update() }

    func warn(_ text: String) { display.warn(text) }

    /// Ends the display, however the run ended.
    func finish() { display.eraseBar() }
}
