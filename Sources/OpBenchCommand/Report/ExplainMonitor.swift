import Foundation
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// Handles an explainer's events: progress on standard error, each cell's explanation on standard output and, on
/// request, in files.
///
/// Not thread-safe; the explainer sends one event at a time.
final class ExplainMonitor {
    private var display: ProgressDisplay
    private let estimatedSeconds: Double
    private let compared: [CompareRow]
    private let output: ExplanationFolder?
    private(set) var hasFailures = false
    /// The explanations of all cells so far.
    private(set) var markdown = ""

    /// - Parameter compared: the comparison that chose the targets.
    init(
        _ options: ProfileOptions, targets: Int, turns: Int, compared: [CompareRow], output: ExplanationFolder?,
        isSilent: Bool
    ) {
        self.compared = compared
        display = ProgressDisplay(style: isSilent ? .silent : StandardError.isTerminal ? .bar : .lines)
        estimatedSeconds = Double(targets * turns * 2) * (5 * options.seconds + 2)
        self.output = output
    }

    func handle(_ event: ExplainEvent) throws {
        switch event {
        case .sampleStarted(let target, let side, let what, let index, let total):
            display.step(
                "\(target.backends.name(of: side)) \(what), \(target.title)", done: index, total: total,
                estimatedSeconds: estimatedSeconds)
        case .finished(let cell):
            display.eraseBar()
            let (title, backends) = (cell.target.title, cell.target.backends)
            let turns = cell.explanation.turns
            let measured = MeasuredChange.all(of: cell.target, in: compared)
            let heading =
                backends.areTwo
                ? "\(title), \(counted(turns, "turn")) of each backend"
                : "\(title), \(counted(turns, "turn")) of each build, \(backends.names)"
            let lines = [heading] + (cell.explanation.lines(measured: measured) + cell.notes).map { "  \($0)" }
            let files = try output?.write(cell, lines) ?? []
            let width = TableWidth.ofTerminal()
            let text = (lines + files.map { "  \($0)" }).map { line in
                let escaped = TerminalText.escaped(line, limit: TerminalText.messageLimit, keepsScopes: true)
                return WrappedText.paragraph(escaped, width: width, hanging: 6)
            }
            try StandardOutput.write(text.joined() + "\n")
            markdown += "### \(MarkdownText.cell(title))\n\n"
            markdown += cell.explanation.markdown(measured: measured) + "\n"
        case .failed(let target, let reason):
            hasFailures = true
            display.warn("\(reason): \(target.title)")
        }
    }

    /// Ends the display, whether the work succeeded or failed.
    func finish() { display.eraseBar() }
}

/// A new or empty folder for explanations and the stacks behind them.
final class ExplanationFolder: Sendable {
    private let folder: WrittenFolder

    /// The end of the names of files with explanations as text.
    static let textSuffix = "-explanation.txt"

    /// - Throws: `InputError` if it cannot be made, or is not empty.
    init(_ path: String) throws {
        folder = try WrittenFolder.makeEmpty(path, remedy: "name another folder with --output")
    }

    /// - Parameter lines: the explanation, after its heading.
    /// - Returns: the paths of the files.
    func write(_ cell: ExplainedCell, _ lines: [String]) throws -> [String] {
        let backends = cell.target.backends
        let stem = ProfileNames.stem(
            of: cell.target.cell, on: backends.areTwo ? [backends.base, backends.head] : [backends.base],
            among: Set(try folder.names()))
        let explanation = (name: stem + Self.textSuffix, text: lines.map { $0 + "\n" }.joined())
        return try ([explanation] + cell.stacks.map { (name: "\(stem)-\($0.name)", text: $0.text) }).map { file in
            try folder.replace(file.name, by: file.text)
            return folder.file(file.name)
        }
    }
}
