import Foundation
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// Finds the commands that settle the inconclusive figures of one comparison.
struct Settling: Sendable {
    enum Compared: Sendable {
        /// Two runs of their own.
        case runs(base: RecordedRun, head: RecordedRun)
        /// One run of two interleaved builds.
        case sides(RecordedRun)
        /// Runs of different cells, each by itself.
        case goals([RecordedRun])

        var runs: [RecordedRun] {
            switch self {
            case .runs(let base, let head): [base, head]
            case .sides(let run): [run]
            case .goals(let runs): runs
            }
        }
    }

    let compared: Compared
    /// The folder to look runs up in.
    let folder: String
    /// The arguments that compare runs of these names as it was done here, but for the policy.
    let comparing: @Sendable (_ names: [String]) -> [String]
    /// The policy file that it was done by.
    let policy: String?
    /// What measures and judges two builds again, given the number of blocks: see `ShellWords`.
    var script = ShellWords.comparingScript

    /// One for each thing to be done.
    func settlements(of rows: [some JudgedRow]) -> [Settlement] {
        Doubt.Remedy.allCases.compactMap { remedy in
            let doubtful = rows.filter { $0.doubt?.remedy == remedy }
            guard !doubtful.isEmpty else { return nil }
            return settlement(remedy, of: doubtful)
        }
    }

    /// The rows with the commands that settle those of them which are inconclusive.
    func settled<Row: JudgedRow>(_ rows: [Row]) -> [Row] { settled(rows, by: settlements(of: rows)) }

    /// - Parameter settlements: of all these rows, or of those of them that are printed.
    func settled<Row: JudgedRow>(_ rows: [Row], by settlements: [Settlement]) -> [Row] {
        let commands = Dictionary(uniqueKeysWithValues: settlements.map { ($0.remedy, $0.command) })
        return rows.map { row in
            guard let remedy = row.doubt?.remedy else { return row }
            var row = row
            // A policy names each of its figures: that of one figure is as short as this row.
            let command = remedy == .rule ? settlement(remedy, of: [row]).command : commands[remedy] ?? ""
            row.settledBy = command.utf8.count <= Self.longestCommand ? command : ""
            return row
        }
    }

    /// In bytes: what every row repeats.
    private static let longestCommand = 4096

    /// The most frequent reasons are named: the table has all of them.
    private static let mostReasons = 3

    private func settlement(_ remedy: Doubt.Remedy, of rows: [some JudgedRow]) -> Settlement {
        let doubts = rows.compactMap(\.doubt)
        let (advice, commands) = self.advice(remedy, of: rows)
        let reasons = Dictionary(grouping: doubts, by: \.words).mapValues(\.count)
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var counted = reasons.prefix(Self.mostReasons).map { reasons.count == 1 ? $0.key : "\($0.value) × \($0.key)" }
        let others = reasons.dropFirst(Self.mostReasons).reduce(0) { $0 + $1.value }
        if others > 0 { counted.append("\(others) for other reasons") }
        let figures = doubts.count == 1 ? "1 figure is" : "\(doubts.count) figures are"
        return Settlement(
            remedy: remedy, finding: "\(figures) inconclusive (\(counted.joined(separator: "; ")))", advice: advice,
            commands: commands)
    }

    private func advice(_ remedy: Doubt.Remedy, of rows: [some JudgedRow]) -> (words: String, commands: [String]) {
        // With how many the figures are likely to be settled, where their number matters.
        let blocks = rows.compactMap { $0.doubt?.enough }.max() ?? 0
        // Of the runs that the figures are of, where each is judged by itself.
        let runIDs = Set(rows.map(\.runID))
        switch remedy {
        case .moreBlocks:
            return ("\(blocks) blocks\(ofWhat) may tell\(builds(blocks))\(unknownFiles)", again(blocks: blocks, runIDs))
        case .fewerBlocks:
            return (
                "the exact test takes no more than \(blocks) pairs of blocks\(unknownFiles)",
                again(blocks: blocks, runIDs)
            )
        case .noiseFloor:
            return (
                "runs of different times drift apart, and nobody has measured how much here; three calibrations tell"
                    + unknownFiles, calibrations
            )
        case .sharperComparison:
            let sharper = sharper(runIDs, of: Set(rows.map(\.metric)))
            return ("no possible number of blocks is likely to tell; \(sharper.advice)", sharper.commands)
        case .rule:
            let file = AllowingPolicy.freeName()
            let text = AllowingPolicy.text(for: rows)
            return (
                "there is no ratio to 0; a goal without `against` bounds the figure itself, here by what was measured",
                ["printf '%s\\n' \(ShellWords.quoted(text)) > \(file)", compare(names, policy: file)]
            )
        }
    }

    // MARK: What was compared

    private var names: [String] { compared.runs.map(\.name) }

    private var ofWhat: String {
        if case .runs = compared { " on each side" } else { "" }
    }

    /// - Parameter run: that is to be taken again, by the program that took it.
    private func call(_ arguments: [String], as run: RecordedRun?) -> String {
        run?.otherProgram.map { ShellWords.joined([$0] + arguments) } ?? ShellWords.ofThisProgram(arguments)
    }

    private func compare(_ names: [String], policy: String?) -> String {
        ShellWords.ofThisProgram(comparing(names) + Words.option("--policy", policy))
    }

    // MARK: More blocks

    /// A run to be taken anew.
    private struct Again {
        let run: RecordedRun
        let command: RecordedCommand?
        let blocks: Int
        let runID: String
        /// By which it is found among the runs of `folder`.
        let name: String

        /// - Parameter other: a run that is taken anew as well.
        init(_ run: RecordedRun, blocks: Int, folder: String, besides other: Again? = nil) {
            self.run = run
            self.blocks = blocks
            command = RecordedCommand(run.facts?.arguments ?? [])
            let directory = command?.directory ?? folder
            func name(_ id: String) -> String { directory == folder ? id : "\(directory)/\(id)" }
            runID = RunIdentifier.free("\(run.samples[0].runID.prefix(80))-\(blocks)", in: directory) {
                name($0) != other?.name
            }
            self.name = name(runID)
        }

        func words(calibration: String? = nil) -> [String] {
            if let command {
                return command.again(
                    blocks: blocks, runID: runID, calibration: calibration, commits: run.facts?.builds?.commits)
            }
            // All that is known where nobody recorded the command.
            return ["run", "--blocks", String(blocks), "--run-id", runID] + run.files
        }
    }

    private func again(blocks: Int, _ runIDs: Set<String>) -> [String] {
        switch compared {
        case .goals(let runs):
            var (commands, names): ([String], [String]) = ([], [])
            var latest: Again?
            for run in runs {
                guard runIDs.contains(run.samples[0].runID) else {
                    names.append(run.name)
                    continue
                }
                let again = Again(run, blocks: blocks, folder: folder, besides: latest)
                commands.append(call(again.words(), as: run))
                names.append(again.name)
                latest = again
            }
            return commands + [compare(names, policy: policy)]
        case .sides(let run):
            if let script = scriptOfSides { return ["\(script) --blocks \(blocks)"] }
            let again = Again(run, blocks: blocks, folder: folder)
            return [call(again.words(), as: run), compare([again.name], policy: policy)]
        case .runs(let base, let head):
            let (newBase, newHead) = renewed(base, head, blocks: blocks)
            var commands: [String] = []
            // The same work for both: that of the run which stays, or which comes first.
            if let newBase {
                commands.append(call(newBase.words(calibration: newHead == nil ? head.name : nil), as: base))
            }
            if let newHead { commands.append(call(newHead.words(calibration: newBase?.name ?? base.name), as: head)) }
            return commands + [compare([newBase?.name ?? base.name, newHead?.name ?? head.name], policy: policy)]
        }
    }

    /// The runs that do not have so many blocks yet; both if they do, but not of the figure in question.
    private func renewed(_ base: RecordedRun, _ head: RecordedRun, blocks: Int) -> (base: Again?, head: Again?) {
        let short = [base, head].map { $0.blockCount < blocks }
        let both = !short.contains(true)
        let newBase = short[0] || both ? Again(base, blocks: blocks, folder: folder) : nil
        let newHead = short[1] || both ? Again(head, blocks: blocks, folder: folder, besides: newBase) : nil
        return (newBase, newHead)
    }

    /// Which build is to take which run, where they are known to differ.
    private func builds(_ blocks: Int) -> String {
        guard case .runs(let base, let head) = compared, let old = base.facts?.commit, let new = head.facts?.commit,
            old != new
        else { return "" }
        let (newBase, newHead) = renewed(base, head, blocks: blocks)
        let parts = [(newBase, old), (newHead, new)].compactMap { again, commit in
            again.map { "\($0.runID) is to be measured by the build of commit \(commit.prefix(10))" }
        }
        return "; " + parts.joined(separator: ", ")
    }

    // MARK: Other remedies

    /// The run whose command is given again for both.
    private var judged: RecordedRun? {
        switch compared {
        case .runs(_, let head): head
        case .sides(let run): run
        case .goals(let runs): runs.first
        }
    }

    private var recorded: RecordedCommand? { judged.flatMap { RecordedCommand($0.facts?.arguments ?? []) } }

    /// Where a run tells of no workloads, its user has to.
    private var unknownFiles: String {
        judged?.facts == nil ? "; FILE stands for the workloads, which no run.json beside the rows names" : ""
    }

    private var calibrations: [String] {
        let words = recorded?.calibrating(in: folder) ?? ["calibrate"] + (judged?.files ?? [])
        return ["for time in 1 2 3; do \(call(words, as: judged)); done", compare(names, policy: policy)]
    }

    /// Two runs are interleaved, if what they measured can be had again. What cannot be interleaved, or is, is measured
    /// again on a machine with less noise, by as many blocks as there can be.
    ///
    /// - Parameter metrics: that are in doubt.
    private func sharper(_ runIDs: Set<String>, of metrics: Set<String>) -> (advice: String, commands: [String]) {
        if case .runs(let base, let head) = compared, let builds = builds(base, head) {
            let runID = RunIdentifier.free("\(head.samples[0].runID.prefix(80))-ab", in: recorded?.directory ?? folder)
            let options = builds.options + ["--run-id", runID] + Words.option("--policy", policy)
            let command =
                recorded?.interleaved(builds.programs, options) ?? ["ab"] + options + builds.programs + head.files
            return (
                "interleaving the two \(builds.what) tells most",
                [call(command, as: judged), compare([name(runID)], policy: policy)]
            )
        }
        let (most, what) = mostBlocks
        let quieter = "what tells most is \(most) blocks on a quieter machine"
        let policies = "a wider \(what) in --policy" + otherPolicy(instead: metrics)
        return (
            "\(quieter), or \(policies)\(unknownFiles)",
            (scriptOfSides == nil ? [ShellWords.ofThisProgram(["doctor"])] : []) + again(blocks: most, runIDs)
        )
    }

    /// Times on the clock count the wait for a processor, which CPU time does not.
    private func otherPolicy(instead metrics: Set<String>) -> String {
        guard case .sides = compared, metrics.contains(Metric.time.name) else { return "" }
        return ", or one that judges cpu_time in place of time, as scripts/ci/policy.json does"
    }

    private var scriptOfSides: String? {
        if case .sides = compared { script } else { nil }
    }

    private var mostBlocks: (count: Int, bound: String) {
        switch compared {
        case .runs: (BlockStages.mostOfRun, "margin")
        case .sides: (signFlipLimit, "margin")
        case .goals: (BlockStages.mostOfRun, "bound")
        }
    }

    /// The arguments by which `ab` gets the builds of two runs: their commits or, if they are of one commit or of changed
    /// sources, the programs, as long as these are what they were.
    private func builds(
        _ base: RecordedRun, _ head: RecordedRun
    ) -> (what: String, options: [String], programs: [String])? {
        guard let old = base.facts, let new = head.facts else { return nil }
        if let from = old.commit, let to = new.commit, from != to, !old.isDirty, !new.isDirty {
            return ("commits", ["--base-ref", from, "--head-ref", to], [])
        }
        guard let from = old.executable, let to = new.executable, from.path != to.path || from.sha256 == to.sha256,
            [from, to].allSatisfy({ FileManager.default.isExecutableFile(atPath: $0.path) })
        else { return nil }
        return ("programs", [], [from.path, to.path])
    }

    /// A run's name as it is found from the folder of runs.
    private func name(_ runID: String) -> String {
        let directory = recorded?.directory ?? folder
        return directory == folder ? runID : "\(directory)/\(runID)"
    }
}

extension RecordedRun {
    /// The program that took the run, if that is another one than this, which may lack its backends: its file, or where
    /// that is gone what it was called by.
    fileprivate var otherProgram: String? {
        func name(_ path: String) -> Substring? { path.split(separator: "/").last }
        guard let facts, let called = facts.arguments.first else { return nil }
        let path = facts.executable?.path
        guard let own = OwnProgram.path.flatMap(name), let other = name(path ?? called), other != own else {
            return nil
        }
        let isThere = path.map { FileManager.default.isExecutableFile(atPath: $0) } ?? false
        return isThere ? path : called
    }

    /// The workloads, as far as anybody knows.
    fileprivate var files: [String] { facts?.workloads.map(\.file) ?? ["FILE"] }

    /// How many blocks of throughput samples there are.
    fileprivate var blockCount: Int {
        Set(samples.lazy.filter { $0.metric == Metric.time.name && $0.phase == "total" }.map(\.block)).count
    }
}
