import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// The commits of a search.
struct CommitHistory: Sendable {
    let repository: PackageRepository
    let good: PackageCommit
    /// The commits after the good one, the oldest first; the last is the bad one.
    let others: [DescribedCommit]

    /// The commit at a position: 0 is the good one.
    func commit(at position: Int) -> PackageCommit { position == 0 ? good : others[position - 1].commit }

    /// The history of the package in the current folder.
    ///
    /// - Parameter range: both names as the user wrote them.
    static func ofPackageHere(_ good: String, _ bad: String, range: String) throws -> CommitHistory {
        try CancellableWork.finish {
            let repository = try await PackageRepository.containing(".")
            let first = try await repository.commit(of: good, option: range)
            let last = try await repository.commit(of: bad, option: range)
            return CommitHistory(
                repository: repository, good: first,
                others: try await repository.commits(after: first, upTo: last, option: range))
        }
    }
}

/// The measurements of a search. Each step is a run of its own, in a folder `<run-id>-<step>-<commit>`.
struct BisectRun {
    private let history: CommitHistory
    private let builds: RefBuilds
    /// Names the runs: `runID` begins their names.
    private let options: RunOptions
    private let layouts: Int
    private let warnings: [String]
    private let isSilent: Bool
    private(set) var steps: [Step] = []

    /// A step, as the report shows it.
    struct Step {
        let base: PackageCommit
        let head: PackageCommit
        /// Nil if the commit was skipped.
        var judged: SearchedChange.Judged?
        /// Whether it compares the commit that was found with its parent.
        let isCheck: Bool
    }

    /// The end of a search.
    struct Found {
        /// The positions of which one is at fault.
        let suspects: ClosedRange<Int>
        /// Whether the last suspect differs from the commit before the first one by the change.
        let isConfirmed: Bool
        /// The run that compared these two.
        let folder: String

        var isOneCommit: Bool { isConfirmed && suspects.count == 1 }
    }

    /// - Parameters:
    ///   - options: of all runs; `runID` begins their names.
    ///   - layouts: the number of layouts in which each program is linked.
    ///   - warnings: those of the selection.
    init(
        _ history: CommitHistory, _ build: BuildOptions, options: RunOptions, layouts: Int, warnings: [String],
        isSilent: Bool
    ) {
        (self.history, builds) = (history, RefBuilds(of: history.repository, build))
        (self.options, self.layouts, self.warnings, self.isSilent) = (options, layouts, warnings, isSilent)
    }

    /// The longest name of a step's run.
    static func longestRunID(_ runID: String) -> String { "\(runID)-000-0123456789" }

    private func runID(_ step: Int, _ commit: PackageCommit) -> String {
        "\(options.runID)-\(step)-\(commit.shortID)"
    }

    /// Measures the bad end against the good one, in all cells.
    ///
    /// - Throws: also if one of the two cannot be measured.
    mutating func measureEnds(_ interleaved: InterleavedPlan) throws -> JudgedRun {
        steps.append(Step(base: history.good, head: history.commit(at: history.others.count), isCheck: false))
        return try measure(try buildLast(), interleaved)
    }

    /// Searches to the end.
    ///
    /// - Parameters:
    ///   - ends: the result of `measureEnds`.
    ///   - interleaved: the plan of the change's cell and backend.
    mutating func search(
        _ change: SearchedChange, between ends: JudgedRun, _ interleaved: InterleavedPlan
    ) throws -> Found {
        let last = history.others.count
        var search = Bisection(last: last)
        // The runs whose interval shows the verdict on a position, against the good end.
        var folders = [last: ends.run.folder]
        steps[0].judged = change.ends
        while true {
            while let position = search.next {
                guard let (judged, folder) = try step(0, position, change, interleaved, isCheck: false) else {
                    search.skip(position)
                    continue
                }
                search.take(judged.verdict, at: position, isCertain: judged.isCertain)
                if judged.isCertain { folders[position] = folder }
            }
            let (good, bad) = (search.good, search.bad)
            if good == 0, let folder = folders[bad] {
                return Found(suspects: search.suspects, isConfirmed: true, folder: folder)
            }
            let check = try step(good, bad, change, interleaved, isCheck: true)
            if let (judged, folder) = check, judged.isCertain {
                if judged.verdict == .bad {
                    return Found(suspects: search.suspects, isConfirmed: true, folder: folder)
                }
                if search.refute() { continue }
            }
            return Found(suspects: search.certainSuspects, isConfirmed: false, folder: check?.folder ?? "")
        }
    }

    /// Measures one commit against another.
    ///
    /// - Returns: nil if it cannot be measured.
    private mutating func step(
        _ base: Int, _ head: Int, _ change: SearchedChange, _ interleaved: InterleavedPlan, isCheck: Bool
    ) throws -> (judged: SearchedChange.Judged, folder: String)? {
        let head = history.commit(at: head)
        steps.append(Step(base: history.commit(at: base), head: head, isCheck: isCheck))
        let builds: ComparedBuilds
        do {
            builds = try buildLast()
        } catch {
            guard let reason = Self.reason(error, toSkip: head) else { throw error }
            StandardError.say("opbench: \(head.words) is skipped: \(reason)")
            return nil
        }
        let measured = try measure(builds, interleaved)
        guard let judged = change.judged(by: measured.rows) else {
            StandardError.say("opbench: \(head.words) is skipped: its samples lack \(change.row.figure.title)")
            return nil
        }
        steps[steps.count - 1].judged = judged
        return (judged, measured.run.folder)
    }

    /// The reason to skip a commit; nil if the error has another cause.
    private static func reason(_ error: any Error, toSkip commit: PackageCommit) -> String? {
        switch error {
        case let error as BuildError where error.commit?.id == commit.id:
            error.message.split(separator: "\n").first.map(String.init) ?? error.message
        // The good commit's program has taken samples already.
        case let error as InputError: error.message
        default: nil
        }
    }

    private func buildLast() throws -> ComparedBuilds {
        let (base, head) = (steps[steps.count - 1].base, steps[steps.count - 1].head)
        StandardError.say("opbench: step \(steps.count - 1): \(head.words) against \(base.words)")
        let ended = try CancellableWork.run { [builds, layouts] in
            await Result.catching {
                let built = try await builds.programs(base: base, head: head, layouts: layouts)
                return try await ComparedBuilds.examine(base: built.base, head: built.head)
            }
        }
        if let signal = ended.signal { throw interruption(by: signal) }
        return try ended.value.get()
    }

    /// Makes the last step's run, or continues it.
    private func measure(_ builds: ComparedBuilds, _ interleaved: InterleavedPlan) throws -> JudgedRun {
        let step = steps.count - 1
        let plan = interleaved.plan.named(
            runID(step, steps[step].head), resume: options.resume && (step == 0 || isBegun(step)))
        let execution = RunExecution(
            plan, by: .two(builds), judge: interleaved.judge, warnings: warnings, isSilent: isSilent,
            continuedBy: options.runID)
        let measured = try execution.run()
        if let signal = measured.signal { throw interruption(by: signal) }
        return measured
    }

    /// Whether the step's run has a folder, which can be resumed.
    private func isBegun(_ step: Int) -> Bool {
        access("\(options.directory)/\(runID(step, steps[step].head))/\(RunFacts.fileName)", F_OK) == 0
    }

    private func interruption(by signal: Int32) -> CommandOutcome {
        let remedy =
            isBegun(0)
            ? "to continue: \(ShellWords.continuing(options.arguments, as: options.runID))"
            : "nothing was measured yet"
        StandardError.say("opbench: interrupted; \(remedy)")
        return CommandOutcome(status: ExitStatus.interrupted(by: signal))
    }
}
