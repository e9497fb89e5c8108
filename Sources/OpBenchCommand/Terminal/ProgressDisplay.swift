import OpBenchModel
import OpBenchRunner

/// Shows the progress of a run on standard error. Not thread-safe; used only by the receiver of the run's events.
struct ProgressDisplay {
    enum Style {
        /// One line that is rewritten, for a terminal.
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
    /// Nil while the run chooses more samples.
    private var total: Int? = 0
    private var done = 0
    private var samplesStarted: Instant?
    private var timeLeft = TimeLeft(estimatedSeconds: 0)
    /// Whether the run takes a given time on any machine.
    private var hasBudget = false
    /// The time when a budget is spent; the run does not end earlier.
    private var budgetEnd: Instant?
    /// How far a run for a precision is from it; empty for other runs.
    private var imprecision = ""
    private var barIsShown = false

    private static let lineInterval = Duration.seconds(10)
    private static let barLength = 20
    private static let clearLine = "\r\u{1B}[2K"

    /// - Parameters:
    ///   - write: receives the text, including line ends and control sequences.
    ///   - width: the terminal's width in columns, read at every redraw.
    ///   - now: the time, which stops while the machine sleeps.
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
        case .started(let total, let isLeast, let estimatedSeconds, let budgetSeconds, let isForPrecision):
            self.total = total
            timeLeft = TimeLeft(estimatedSeconds: estimatedSeconds)
            hasBudget = budgetSeconds != nil
            let wait = { Quantities.wait(seconds: max(estimatedSeconds, $0)) }
            if isForPrecision {
                let most = wait(budgetSeconds ?? 0)
                say("\(counted(total, "sample")), about \(wait(0)), and more for the precision; \(most) at most")
            } else {
                budgetEnd = budgetSeconds.map { now().advanced(by: .seconds($0)) }
                let least = isLeast ? "at least " : ""
                say("\(least)\(counted(total, "sample")), about \(wait(budgetSeconds ?? 0))")
            }
        case .narrowed(let total, let estimatedSeconds):
            if total > done { say("still needed: \(counted(total - done, "sample"))") }
            self.total = total
            timeLeft.replan(estimatedSeconds: estimatedSeconds)
        case .extended(let estimatedSeconds):
            total = nil
            timeLeft.replan(estimatedSeconds: estimatedSeconds)
        case .imprecise(let cells, let distance):
            imprecision = "±\(Quantities.percent(distance)) in the widest of \(counted(cells, "cell")); "
        case .calibrating:
            show("calibrating the work", important: false)
        case .sampleStarted(let index, _, let cellID, let backend, let kind, _):
            let isFirst = samplesStarted == nil
            samplesStarted = samplesStarted ?? now()
            done = index
            show("\(imprecision)\(backend.rawValue) \(kind.rawValue), \(cellID)", important: isFirst)
        case .sampleFinished(_, let status, let rows, let estimatedSeconds):
            done += 1
            if status == .skipped {
                timeLeft.drop(estimatedSeconds: estimatedSeconds)
            } else {
                let elapsed = seconds(since: samplesStarted ?? started)
                timeLeft.finish(estimatedSeconds: estimatedSeconds, elapsed: elapsed)
                let words = timeLeft.busyMachine(isNoisy: rows.contains { $0.flags.contains(.noisy) })
                if let words, !hasBudget { say(words) }
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
        case .foundFinished:
            say("the run is finished; nothing to measure, no files changed")
        case .finished:
            eraseBar()
            let part = total == nil ? "" : "\(done) of "
            let wait = Quantities.wait(seconds: seconds(since: started))
            say("\(part)\(counted(total ?? done, "sample")) in \(wait)")
        }
    }

    /// Shows that another step begins, for work other than a run.
    ///
    /// - Parameters:
    ///   - estimatedSeconds: the estimate for all steps; only the first call's counts.
    ///   - isLong: whether no other step comes for long, so that a log needs a line.
    mutating func step(_ what: String, done: Int, total: Int, estimatedSeconds: Double, isLong: Bool = false) {
        if let samplesStarted {
            let part = Double(done - self.done) / Double(max(1, total))
            timeLeft.finish(estimatedSeconds: estimatedSeconds * part, elapsed: seconds(since: samplesStarted))
        } else {
            timeLeft = TimeLeft(estimatedSeconds: estimatedSeconds)
            samplesStarted = now()
        }
        (self.done, self.total) = (done, total)
        show(what, important: isLong || done == 0)
    }

    /// A sample's problem in one line; nil if there is none.
    private static func trouble(_ status: SampleStatus, _ rows: [SampleRow]) -> String? {
        switch status {
        case .ok, .unsupported, .skipped: return nil
        case .invalid, .timeout, .crashed:
            guard let row = rows.first(where: { $0.metric == Metric.status.name }) ?? rows.first else { return nil }
            let notes = row.notes.isEmpty ? "" : " (\(row.notes))"
            return "\(status.rawValue)\(notes): \(row.backend.rawValue), \(row.cellID)"
        }
    }

    /// A diagnostic, in any style, on a separate line.
    mutating func warn(_ text: String) {
        eraseBar()
        write("opbench: warning: \(TerminalText.escaped(text, limit: TerminalText.messageLimit))\n")
    }

    /// Removes the bar, so that something else can be printed.
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

    /// Shows the current work: at once in the bar, in a log if it is important or the last line is old.
    private mutating func show(_ what: String, important: Bool) {
        switch style {
        case .silent: return
        case .bar:
            write(Self.clearLine + bar(what).prefix(max(20, width() - 1)))
            barIsShown = true
        case .lines:
            guard important || lastLine.duration(to: now()) >= Self.lineInterval else { return }
            say("\(total.map { "\(done)/\($0)" } ?? "\(done)") done, \(wait) left; now \(what)")
        }
    }

    private func bar(_ what: String) -> String {
        guard let total else { return "\(done) done, \(wait) left  \(what)" }
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

/// Estimates the remaining time of a run: at first from the plan, then increasingly from the finished samples.
///
/// Samples count by the plan's estimates, not by number: some cells take a thousand times as long as others.
struct TimeLeft {
    /// The plan's estimates for finished and for remaining work, in seconds.
    private var done = 0.0
    private var left: Double
    /// The time that the finished work took, in seconds.
    private var elapsed = 0.0
    private var finished = 0
    private var noisy = 0
    private var isBusySaid = false

    /// Fewer samples, or less than a tenth of the run, do not determine its pace, because they come in random order.
    private static let leastSamples = 8
    private static let leastPart = 0.1
    /// Smaller deviations from the plan are not reported.
    private static let leastFactor = 1.25

    /// - Parameter estimatedSeconds: the plan's estimate for all remaining work.
    init(estimatedSeconds: Double) { left = estimatedSeconds }

    /// Records finished work.
    ///
    /// - Parameters:
    ///   - estimatedSeconds: the plan's estimate for it.
    ///   - elapsed: the seconds since the beginning.
    mutating func finish(estimatedSeconds: Double, elapsed: Double) {
        done += estimatedSeconds
        left = max(0, left - estimatedSeconds)
        self.elapsed = elapsed
    }

    /// Detects, once, that the work takes longer than planned because something else uses the machine. The plan's
    /// estimate assumes an idle machine; without this, the remaining time would grow from sample to sample without an
    /// explanation.
    ///
    /// - Parameter isNoisy: whether something else used the machine during the sample that was just recorded.
    /// - Returns: a message to print now; nearly always nil.
    mutating func busyMachine(isNoisy: Bool) -> String? {
        finished += 1
        if isNoisy { noisy += 1 }
        guard !isBusySaid, left > 0, finished >= Self.leastSamples, done >= Self.leastPart * (done + left),
            2 * noisy > finished, elapsed >= Self.leastFactor * done
        else { return nil }
        isBusySaid = true
        let tenths = (elapsed / done * 10).rounded() / 10
        let wait = Quantities.wait(seconds: (done + left) * elapsed / done)
        return "the machine is busy: this takes about \(tenths)× as long, \(wait) in all"
    }

    /// Drops work that was skipped, which does not affect the pace.
    mutating func drop(estimatedSeconds: Double) { left = max(0, left - estimatedSeconds) }

    /// Replaces the estimate for the remaining work.
    mutating func replan(estimatedSeconds: Double) { left = estimatedSeconds }

    /// The remaining time in seconds; never below 0.
    var seconds: Double {
        guard done > 0, left > 0 else { return left }
        // The samples of a run come in random order within blocks, so that a tenth of them represents the rest.
        let trust = min(1, 10 * done / (done + left))
        return left * (1 - trust + trust * elapsed / done)
    }
}
