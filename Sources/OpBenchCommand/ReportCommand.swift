import ArgumentParser
import Foundation
import OpBenchAnalysis
import OpBenchModel
import OpBenchPage
import OpBenchRunner

/// `opbench report RUN…`
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write an HTML report of recorded runs.",
        discussion: """
            The page is one self-contained HTML file that works offline. It begins with the results in sentences and \
            the ratios of all cells; a click on a cell shows its samples and latencies. Before them are verdicts, if \
            there are any: of the runs against a --baseline, of the two builds of a run of `opbench ab`, or of the \
            goals of a --policy. The table of all figures, the workloads' texts and the machine are folded. Exits with \
            0 whatever the verdicts; `opbench gate` turns them into an exit code.

            EXAMPLES
              opbench report
              opbench report night --title "The night before the release"
              opbench report today --baseline main --output today.html
              opbench report two-builds --open no
              opbench report monday tuesday --policy goals.json
            """)

    @Argument(
        help: ArgumentHelp(
            "Runs: folders, or ids under results/ and results/baseline/; by default the latest run.", valueName: "run"),
        completion: .run)
    var runs: [String] = []

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The file to write.", discussion: "By default, report.html in the folder of the first run.",
            valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("The page's title; by default what is compared.", valueName: "text"))
    var title: String?

    @Option(
        help: ArgumentHelp(
            "Open the page in a browser: yes or no; by default yes on a desktop's terminal.", valueName: "choice"))
    var open: Opening?

    @Option(help: ArgumentHelp("The run to judge the others against.", valueName: "run"), completion: .run)
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "A policy file (JSON): rules for two sides, or goals for each run; by default as in `compare` and `ab`.",
            valueName: "file"), completion: .json)
    var policy: String?

    @OptionGroup var results: ResultsOption

    enum Opening: String, CaseIterable, ExpressibleByArgument { case yes, no }

    func run() throws {
        let recorded = try MeasuredRun.named(runs, in: results.folder, isTornAllowed: true)
        let output = output ?? "\(recorded.first?.folder ?? results.folder)/report.html"
        let file = try ReportFile(output)
        let base = try baseline.map { try MeasuredRun($0, in: results.folder, isTornAllowed: true) }
        let judging = PageJudging(runs: recorded, baseline: base, policy: policy, folder: results.folder)
        let verdicts = try judging.verdicts()
        var pages = try recorded.map { try $0.page() }
        for index in pages.indices.dropFirst() {
            let lines = MeasuredRun.surroundingChanges(recorded[0], recorded[index]).lines
            pages[index].sentences += lines.map { "differs from \(recorded[0].name) around the code: \($0)" }
        }
        let page = ReportPage(
            title: title ?? Self.title(of: pages), verdicts: verdicts,
            advice: verdicts.isEmpty ? judging.advice : [], runs: pages,
            maker: "Made by opbench \(ProgramVersion.number).")
        let html = page.html
        try ReportFile.write([(file: file, text: html)])
        let size = Quantities.bytes(Double(html.utf8.count))
        let outcomes = verdicts.isEmpty ? "" : ": " + verdicts.map(\.outcome).joined(separator: ", ")
        let path = URL(filePath: output).standardizedFileURL.path
        StandardError.say("opbench: wrote \(TerminalText.escaped(path)), \(size)\(outcomes)")
        if opens { Self.showInBrowser(path) }
    }

    /// Names what is compared: the runs, or the backends of the only one.
    private static func title(of runs: [PageRun]) -> String {
        let backends = runs.flatMap { $0.summary.lazy.map(\.backend.family).uniqued() }.uniqued()
        let names = runs.count > 1 ? runs.map(\.name) : backends
        guard names.count > 1 else { return names.joined() }
        let rest = names.count <= 5 ? names.dropFirst().joined(separator: ", ") : "\(names.count - 1) others"
        return "\(names[0]) compared with \(rest)"
    }

    private var opens: Bool {
        if let open { return open == .yes }
        let environment = ProcessInfo.processInfo.environment
        let hasDesktop = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
        return hasDesktop && StandardOutput.isTerminal && StandardError.isTerminal && environment["CI"] == nil
    }

    /// Opens the desktop's browser. The page is already written, so a failure is only a warning.
    private static func showInBrowser(_ path: String) {
        let opener = Process()
        opener.executableURL = URL(filePath: "/usr/bin/env")
        opener.arguments = ["xdg-open", URL(filePath: path).path]
        (opener.standardOutput, opener.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        do {
            try opener.run()
            opener.waitUntilExit()
        } catch {
            StandardError.say("opbench: warning: no browser could be opened: \(error)")
            return
        }
        if opener.terminationStatus != 0 {
            StandardError.say("opbench: warning: xdg-open could not open the page; open \(path) in a browser")
        }
    }
}
