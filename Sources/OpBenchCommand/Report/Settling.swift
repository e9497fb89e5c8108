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

    /// One for each thing to be done.
    func settlements(of rows: [some JudgedRow]) -> [Settlement] {
        Doubt.Remedy.allCases.compactMap { remedy in
            let doubtful = rows.filter { $0.doubt?.remedy == remedy }
            guard !doubtful.isEmpty else { return nil }
            return settlement(remedy, of: doubtful.compactMap(\.doubt), runIDs: Set(doubtful.map(\.runID)))
        }
    }

    private func settlement(_ remedy: Doubt.Remedy, of doubts: [Doubt], runIDs: Set<String>) -> Settlement {
        let enough = doubts.compactMap(\.enough).max() ?? 0
        let (advice, commands) = self.advice(remedy, blocks: enough, runIDs: runIDs)
        let reasons = Dictionary(grouping: doubts, by: \.words).mapValues(\.count)
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let counted = reasons.map { reasons.count == 1 ? $0.key : "\($0.value) × \($0.key)" }
            .joined(separator: "; ")
        let figures = doubts.count == 1 ? "1 figure is" : "\(doubts.count) figures are"
        return Settlement(
            remedy: remedy, finding: "\(figures) inconclusive (\(counted))", advice: advice, commands: commands)
    }

    /// - Parameters:
    ///   - blocks: with how many the figures are likely to be settled, where their number matters.
    ///   - runIDs: of the runs that the figures are of, where each is judged by itself.
    private func advice(
        _ remedy: Doubt.Remedy, blocks: Int, runIDs: Set<String>
    ) -> (words: String, commands: [String]) {
        switch remedy {
        case .moreBlocks:
            ("\(blocks) blocks\(ofWhat) may tell\(builds(blocks))", again(blocks: blocks, runIDs))
        case .fewerBlocks:
            ("the exact test takes no more than \(blocks) pairs of blocks", again(blocks: blocks, runIDs))
        case .noiseFloor:
            (
                "runs of different times drift apart, and nobody has measured how much here; three calibrations tell",
                calibrations
            )
        case .sharperComparison:
            ("no possible number of blocks is likely to tell; \(sharper.advice)", sharper.commands)
        case .rule:
            (withoutRatio, [compare(names, policy: "FILE")])
        }
    }

    // MARK: What was compared

    private var names: [String] { compared.runs.map(\.name) }

    private var withoutRatio: String {
        if case .goals = compared { return "what is 0 has no ratio; a goal without `against` bounds the figure itself" }
        return "what rises from 0 has no ratio; a policy's rule with `min_absolute` judges the difference"
    }

    private var ofWhat: String {
        if case .runs = compared { " on each side" } else { "" }
    }

    private func call(_ arguments: [String]) -> String { ShellWords.ofThisProgram(arguments) }

    private func compare(_ names: [String], policy: String?) -> String {
        call(comparing(names) + Words.option("--policy", policy))
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
            let stem = "\(run.samples[0].runID.prefix(80))-\(blocks)"
            func name(_ id: String) -> String { directory == folder ? id : "\(directory)/\(id)" }
            // Not one that is there already.
            let free = ([stem] + (2...99).map { "\(stem)-\($0)" }).first {
                name($0) != other?.name && !FileManager.default.fileExists(atPath: "\(directory)/\($0)")
            }
            runID = free ?? stem
            self.name = name(runID)
        }

        func words(calibration: String? = nil) -> [String] {
            if let command { return command.again(blocks: blocks, runID: runID, calibration: calibration) }
            // All that is known where nobody recorded the command.
            let files = run.facts?.workloads.map(\.file) ?? ["FILE"]
            return ["run", "--blocks", String(blocks), "--run-id", runID] + files
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
                commands.append(call(again.words()))
                names.append(again.name)
                latest = again
            }
            return commands + [compare(names, policy: policy)]
        case .sides(let run):
            let again = Again(run, blocks: blocks, folder: folder)
            return [call(again.words()), compare([again.name], policy: policy)]
        case .runs(let base, let head):
            let (newBase, newHead) = renewed(base, head, blocks: blocks)
            var commands: [String] = []
            // The same work for both: that of the run which stays, or which comes first.
            if let newBase { commands.append(call(newBase.words(calibration: newHead == nil ? head.name : nil))) }
            if let newHead { commands.append(call(newHead.words(calibration: newBase?.name ?? base.name))) }
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

    private var recorded: RecordedCommand? {
        switch compared {
        case .runs(_, let head): RecordedCommand(head.facts?.arguments ?? [])
        case .sides(let run): RecordedCommand(run.facts?.arguments ?? [])
        case .goals(let runs): RecordedCommand(runs.first?.facts?.arguments ?? [])
        }
    }

    private var calibrations: [String] {
        let words = recorded?.calibrating(in: folder) ?? ["calibrate", "FILE"]
        return ["for time in 1 2 3; do \(call(words)); done", compare(names, policy: policy)]
    }

    private var sharper: (advice: String, commands: [String]) {
        switch compared {
        case .runs:
            let words = recorded?.interleaved(base: "OLD", head: "NEW") ?? ["ab", "OLD", "NEW", "FILE"]
            return ("interleaving the two built programs, OLD and NEW, tells most", [call(words)])
        case .sides:
            return ("a quieter machine does, or a wider margin in --policy", [call(["doctor"])])
        case .goals:
            return ("a quieter machine does, or another bound in --policy", [call(["doctor"])])
        }
    }
}

extension RecordedRun {
    /// How many blocks of throughput samples there are.
    fileprivate var blockCount: Int {
        Set(samples.lazy.filter { $0.metric == Metric.time.name && $0.phase == "total" }.map(\.block)).count
    }
}
