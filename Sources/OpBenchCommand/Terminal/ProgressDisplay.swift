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
    private let now: () -> Instant
    private let started: Instant
    private var lastLine: Instant
    private var total = 0
    private var done = 0
    private var samplesStarted: Instant?
    private var timeLeft = TimeLeft(estimatedSeconds: 0)
    private var busyMachine = BusyMachine(estimatedSeconds: 0)
    /// When a budget is spent, which is not before.
    private var budgetEnd: Instant?
    private var barIsShown = false

    private static let lineInterval = Duration.seconds(10)
    private static let barLength = 20
    private static let clearLine = "\r\u{1B}[2K"

    /// - Parameters:
    ///   - write: receives the text, line ends and control sequences included.
    ///   - width: the terminal's width in columns, asked for at every drawing.
    ///   - now: the time, which stands still while the machine sleeps.
    init(
        style: Style, write: @escaping (String) -> Void = StandardError.write,
        width: @escaping () -> Int = { StandardError.width }, now: @escaping () -> Instant = { .now }
    ) {
        self.style = style
        self.write = write
        self.width = width
        self.now = now
        started = now()
        lastLine = started
    }

    typealias Instant = SuspendingClock.Instant

    mutating func handle(_ event: RunEvent) {
        switch event {
        case .started(let total, let estimatedSeconds, let budgetSeconds):
            self.total = total
            timeLeft = TimeLeft(estimatedSeconds: estimatedSeconds)
            // With a budget a run takes as long as that says, on any machine.
            busyMachine = BusyMachine(estimatedSeconds: budgetSeconds == nil ? estimatedSeconds : 0)
            budgetEnd = budgetSeconds.map { now().advanced(by: .seconds($0)) }
            say("\(total) samples, about \(Quantities.wait(seconds: max(estimatedSeconds, budgetSeconds ?? 0)))")
        case .narrowed(let total, let estimatedSeconds):
            if total > done { say("\(total - done) of at most \(self.total - done) samples are still needed") }
            self.total = total
            replan(estimatedSeconds)
        case .extended(let total, let estimatedSeconds):
            self.total = total
            replan(estimatedSeconds)
        case .calibrating:
            show("calibrating the work", important: false)
        case .sampleStarted(let index, _, let cellID, let backend, let kind, _):
            let isFirst = samplesStarted == nil
            samplesStarted = samplesStarted ?? now()
            done = index
            show("\(backend.rawValue) \(kind.rawValue), \(cellID)", important: isFirst)
        case .sampleFinished(_, let status, let rows, let estimatedSeconds):
            done += 1
            if status == .skipped {
                timeLeft.drop(estimatedSeconds: estimatedSeconds)
            } else {
                let elapsed = seconds(since: samplesStarted ?? started)
                timeLeft.finish(estimatedSeconds: estimatedSeconds, elapsed: elapsed)
                let words = busyMachine.finish(rows, estimatedSeconds: estimatedSeconds, elapsed: elapsed)
                if let words { say(words) }
            }
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
            say("\(done) of \(total) samples in \(Quantities.wait(seconds: seconds(since: started)))")
        }
    }

    /// - Parameter estimatedSeconds: how long the plan thinks that all that is left takes.
    private mutating func replan(_ estimatedSeconds: Double) {
        timeLeft.replan(estimatedSeconds: estimatedSeconds)
        busyMachine.replan(estimatedSeconds: estimatedSeconds)
    }

    /// Shows that another step of work of another kind than a run begins.
    ///
    /// - Parameter estimatedSeconds: of all steps together, asked for at the first.
    mutating func step(_ what: String, done: Int, total: Int, estimatedSeconds: Double) {
        if let samplesStarted {
            let part = Double(done - self.done) / Double(max(1, total))
            timeLeft.finish(estimatedSeconds: estimatedSeconds * part, elapsed: seconds(since: samplesStarted))
        } else {
            timeLeft = TimeLeft(estimatedSeconds: estimatedSeconds)
            samplesStarted = now()
        }
        (self.done, self.total) = (done, total)
        show(what, important: done == 0)
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
        lastLine = now()
    }

    /// Shows what runs now: at once in the bar, in a log if it is important or the last line is long ago.
    private mutating func show(_ what: String, important: Bool) {
        switch style {
        case .silent: return
        case .bar:
            write(Self.clearLine + bar(what).prefix(max(20, width() - 1)))
            barIsShown = true
        case .lines:
            guard important || lastLine.duration(to: now()) >= Self.lineInterval else { return }
            say("\(done)/\(total) done, \(wait) left; now \(what)")
        }
    }

    private func bar(_ what: String) -> String {
        let filled = total == 0 ? 0 : min(Self.barLength, Self.barLength * done / total)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barLength - filled)
        return "[\(bar)] \(done)/\(total) \(wait) left  \(what)"
    }

    private var wait: String {
        let budget = budgetEnd.map { -seconds(since: $0) } ?? 0
        return Quantities.wait(seconds: max(timeLeft.seconds, budget))
    }

    private func seconds(since instant: Instant) -> Double { instant.duration(to: now()) / .seconds(1) }
}
