import OpBenchModel
import OpBenchRunner

/// Tells on standard error how a run gets on. Not thread-safe: belongs to whoever receives the run's events.
struct ProgressDisplay {
    enum Style {
        /// One line that is written over and over, for a terminal.
        case bar
        /// Plain lines, one every ten seconds, for a log.
        case lines
        /// Warnings only.
        case silent
    }

    private let style: Style
    private let write: (String) -> Void
    private let width: () -> Int
    private let started = ContinuousClock.now
    private var lastLine = ContinuousClock.now
    private var total = 0
    private var done = 0
    private var samplesStarted: ContinuousClock.Instant?
    private var timeLeft = TimeLeft(total: 0, estimatedSeconds: 0)
    private var barIsShown = false

    private static let lineInterval = Duration.seconds(10)
    private static let barLength = 20
    private static let clearLine = "\r\u{1B}[2K"

    /// - Parameters:
    ///   - write: receives the text, line ends and control sequences included.
    ///   - width: the terminal's width in columns, asked for at every drawing.
    init(
        style: Style, write: @escaping (String) -> Void = StandardError.write,
        width: @escaping () -> Int = { StandardError.width }
    ) {
        self.style = style
        self.write = write
        self.width = width
    }

    mutating func handle(_ event: RunEvent) {
        switch event {
        case .started(let total, let estimatedSeconds):
            self.total = total
            timeLeft = TimeLeft(total: total, estimatedSeconds: estimatedSeconds)
            say("\(total) samples, about \(Quantities.wait(seconds: estimatedSeconds))")
        case .narrowed(let total):
            if total > done { say("\(total - done) of at most \(self.total - done) samples are still needed") }
            self.total = total
        case .extended(let total):
            self.total = total
        case .calibrating:
            show("calibrating the work", important: false)
        case .sampleStarted(let index, _, let cellID, let backend, let kind, _):
            samplesStarted = samplesStarted ?? .now
            done = index
            show("\(backend.rawValue) \(kind.rawValue), \(cellID)", important: index == 0)
        case .sampleFinished(_, let status, let rows):
            done += 1
            if let trouble = Self.trouble(status, rows) { warn(trouble) }
        case .rowsSaved:
            break
        case .warning(let text):
            warn(text)
        case .budgetIsShort(let budget, let estimate):
            warn(
                "the first blocks of all cells take about \(Quantities.wait(seconds: estimate)), longer than the "
                    + "budget of \(Quantities.wait(seconds: budget)); opbench takes them anyway")
        case .finished(let outcome) where outcome.wasFinished:
            say("the run is finished; nothing is measured and no file changes")
        case .finished:
            eraseBar()
            say("\(done) of \(total) samples in \(Quantities.wait(seconds: started.duration(to: .now).seconds))")
        }
    }

    /// Shows that another step of work of another kind than a run begins.
    ///
    /// - Parameter estimatedSeconds: of all steps together, asked for at the first.
    mutating func step(_ now: String, done: Int, total: Int, estimatedSeconds: Double) {
        if samplesStarted == nil { timeLeft = TimeLeft(total: total, estimatedSeconds: estimatedSeconds) }
        samplesStarted = samplesStarted ?? .now
        (self.done, self.total) = (done, total)
        show(now, important: done == 0)
    }

    /// What is wrong with a sample, in one line; nil if nothing is.
    private static func trouble(_ status: SampleStatus, _ rows: [SampleRow]) -> String? {
        switch status {
        case .ok, .unsupported, .skipped: return nil
        case .invalid, .timeout, .crashed:
            guard let row = rows.first(where: { $0.metric == Metric.status.name }) ?? rows.first else { return nil }
            let notes = row.notes.isEmpty ? "" : " (\(row.notes))"
            return "\(status.rawValue)\(notes): \(row.backend.rawValue), \(row.cellID)"
        }
    }

    /// A diagnostic, in any style, on a line of its own.
    mutating func warn(_ text: String) {
        eraseBar()
        write("opbench: warning: \(TerminalText.escaped(text, limit: TerminalText.messageLimit))\n")
    }

    /// Takes the bar away, so that something else can be written.
    mutating func eraseBar() {
        if barIsShown { write(Self.clearLine) }
        barIsShown = false
    }

    private mutating func say(_ text: String) {
        if style == .silent { return }
        eraseBar()
        write("opbench: \(text)\n")
        lastLine = .now
    }

    /// Shows what runs now: at once in the bar, in a log if it is important or the last line is long ago.
    private mutating func show(_ now: String, important: Bool) {
        switch style {
        case .silent: return
        case .bar:
            write(Self.clearLine + bar(now).prefix(max(20, width() - 1)))
            barIsShown = true
        case .lines:
            guard important || lastLine.duration(to: .now) >= Self.lineInterval else { return }
            say("\(done)/\(total) done, \(wait) left; now \(now)")
        }
    }

    private func bar(_ now: String) -> String {
        let filled = total == 0 ? 0 : min(Self.barLength, Self.barLength * done / total)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barLength - filled)
        return "[\(bar)] \(done)/\(total) \(wait) left  \(now)"
    }

    private var wait: String {
        let elapsed = samplesStarted.map { $0.duration(to: .now).seconds } ?? 0
        return Quantities.wait(seconds: timeLeft.seconds(done: done, elapsed: elapsed))
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
