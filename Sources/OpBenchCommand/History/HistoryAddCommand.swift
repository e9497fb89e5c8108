import ArgumentParser
import OpBenchAnalysis
import OpBenchHistory
import OpBenchModel
import OpBenchRunner

/// `opbench history add RUN…`
struct HistoryAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add the figures of finished runs to a history.",
        discussion: """
            Runs that are already in the history are skipped. A run that is there with other figures is refused unless \
            --replace is given. Every run is read before anything is written; then all are added, or none.

            EXAMPLES
              opbench history add night
              opbench history add results/*T* --file nightly.csv
              opbench history add night --replace
            """)

    @Argument(
        help: ArgumentHelp("Runs: folders, or ids under results/ and results/baseline/.", valueName: "run"),
        completion: .run)
    var runs: [String]

    @Flag(help: "Replace runs that the history has with other figures.")
    var replace = false

    @OptionGroup var place: HistoryPlace

    func run() throws {
        let entries = try read()
        let additions = try History.add(entries, to: place.path, isReplacing: replace)
        for (entry, addition) in zip(entries, additions) {
            let figures = counted(entry.figures.count, "figure")
            let words =
                switch addition {
                case .added: "added \(entry.run.id): \(figures)"
                case .replaced: "replaced \(entry.run.id): \(figures)"
                case .known: "\(entry.run.id) is already in the history"
                }
            StandardError.say("opbench: \(words)")
        }
    }

    /// All named runs, without duplicates.
    private func read() throws -> [History.Entry] {
        var entries: [History.Entry] = []
        let mistakes = Mistakes()
        for name in runs {
            do throws(InputError) {
                for entry in try History.Entry.all(of: try MeasuredRun(name, in: place.results.folder)) {
                    guard let twin = entries.first(where: { $0.run.id == entry.run.id }) else {
                        entries.append(entry)
                        continue
                    }
                    guard twin == entry else {
                        throw InputError(
                            file: name, message: "another run of this call has the id \"\(entry.run.id)\", too",
                            remedy: "name one of the two")
                    }
                }
            } catch {
                mistakes.note(error)
            }
        }
        try mistakes.check()
        return entries
    }
}

extension History.Entry {
    /// One entry per kind of host, since series are of one kind: a run on one kind is one entry, a merged run may be
    /// several. They are numbered in the order of their classes: `sweep.1`, `sweep.2`.
    fileprivate static func all(of recorded: MeasuredRun) throws(InputError) -> [History.Entry] {
        let kinds = (recorded.facts?.hostKinds ?? []).sorted {
            ($0.hostClass, $0.allocator, $0.configuration) < ($1.hostClass, $1.allocator, $1.configuration)
        }
        guard kinds.count > 1 else {
            return [try History.Entry(recorded, recorded.samples, recorded.facts?.hostKind)]
        }
        let hosts = recorded.hostsOfCells
        var entries: [History.Entry] = []
        for (index, kind) in kinds.enumerated() {
            let rows = recorded.samples.filter { hosts[$0.cellID] == kind }
            entries.append(try History.Entry(recorded, rows, kind, suffix: ".\(index + 1)"))
        }
        return entries
    }

    private init(
        _ recorded: MeasuredRun, _ rows: [SampleRow], _ kind: HostKind?, suffix: String = ""
    ) throws(InputError) {
        let facts = try recorded.finished()
        let figures = RunFigure.all(of: rows)
        guard !figures.isEmpty else {
            throw InputError(
                file: recorded.name, message: "no sample of the run has figures", remedy: "measure again")
        }
        let host = kind ?? facts.hostKind
        self.init(
            run: HistoryRun(
                id: recorded.samples[0].runID + suffix, startedUTC: rows.map(\.timestampUTC).min()!,
                commit: facts.commit ?? "", isDirty: facts.isDirty, host: host,
                surroundings: facts.surroundings(on: host)),
            figures: figures)
    }
}
