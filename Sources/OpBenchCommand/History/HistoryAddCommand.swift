#if Suite
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
                --replace is given. Every run is read before anything is written; each is then added as a whole or not at \
                all.

                EXAMPLES
                  opbench history add night
                  opbench history add results/*T* --database nightly.sqlite
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
            let isThere = try History.isThere(place.path)
            let measured = try read()
            if isThere, !replace {
                let history = try History(place.path, for: .reading)
                let mistakes = Mistakes()
                for run in measured where try history.prospect(of: run.run) == .refused { mistakes.note(run.refusal) }
                try history.close()
                try mistakes.check()
            }
            let history = try History(place.path, for: .adding)
            for run in measured {
                let addition = try history.add(run.run, figures: run.figures, isReplacing: replace)
                // Another process may have added another run with that id in the meantime.
                if addition == .refused { throw run.refusal }
                StandardError.say("opbench: \(run.words(for: addition))")
            }
            try history.close()
        }

        /// All named runs, without duplicates.
        private func read() throws -> [HistoryEntry] {
            var measured: [HistoryEntry] = []
            let mistakes = Mistakes()
            for name in runs {
                do throws(InputError) {
                    for run in try HistoryEntry.all(of: try MeasuredRun(name, in: place.folder)) {
                        guard let twin = measured.first(where: { $0.run.id == run.run.id }) else {
                            measured.append(run)
                            continue
                        }
                        guard twin.run.digest == run.run.digest else {
                            throw InputError(
                                file: name, message: "the run has the id \"\(run.run.id)\", as that of \(twin.name)",
                                remedy: "name one of the two")
                        }
                    }
                } catch {
                    mistakes.note(error)
                }
            }
            try mistakes.check()
            return measured
        }
    }

    /// A run in the form of history entries.
    private struct HistoryEntry {
        /// The name that the user gave.
        let name: String
        let run: HistoryRun
        let figures: [RunFigure]

        /// One entry per kind of host, since histories are kept by kind: a run on one kind is one entry, a merged run may
        /// be several. They are numbered in the order of their classes: `sweep.1`, `sweep.2`.
        static func all(of recorded: MeasuredRun) throws(InputError) -> [HistoryEntry] {
            let kinds = (recorded.facts?.hostKinds ?? []).sorted {
                ($0.hostClass, $0.allocator, $0.configuration) < ($1.hostClass, $1.allocator, $1.configuration)
            }
            guard kinds.count > 1 else {
                return [try HistoryEntry(recorded, recorded.samples, recorded.facts?.hostKind)]
            }
            let hosts = recorded.hostsOfCells
            var runs: [HistoryEntry] = []
            for (index, kind) in kinds.enumerated() {
                let rows = recorded.samples.filter { hosts[$0.cellID] == kind }
                runs.append(try HistoryEntry(recorded, rows, kind, suffix: ".\(index + 1)"))
            }
            return runs
        }

        private init(
            _ recorded: MeasuredRun, _ rows: [SampleRow], _ kind: HostKind?, suffix: String = ""
        ) throws(InputError) {
            let facts = try recorded.finished()
            name = recorded.name
            figures = RunFigure.all(of: rows)
            guard !figures.isEmpty else {
                throw InputError(
                    file: recorded.name, message: "no sample of the run has figures", remedy: "measure again")
            }
            let host = kind ?? facts.hostKind
            run = HistoryRun(
                id: recorded.samples[0].runID + suffix, startedUTC: rows.map(\.timestampUTC).min()!,
                commit: facts.commit, isDirty: facts.isDirty, host: host, surroundings: facts.surroundings(on: host),
                figures: figures)
        }

        var refusal: InputError {
            InputError(
                file: name, message: "the history has a run \"\(run.id)\" with other figures",
                remedy: "replace it with --replace")
        }

        func words(for addition: History.Addition) -> String {
            switch addition {
            case .added: "added \(run.id): \(counted(figures.count, "figure"))"
            case .replaced: "replaced \(run.id): \(counted(figures.count, "figure"))"
            case .known, .refused: "\(run.id) is already in the history"
            }
        }
    }
#endif
