import OpBenchModel

/// A finished part of a sweep, found to be whole.
struct FinishedPart: Sendable {
    let folder: String
    let seal: PartSeal
    let facts: RunFacts
    let progress: RunFacts.Progress
    /// The ids of its cells, sorted; those of which nothing could be measured as well.
    let cells: [String]

    /// Reads a part's description, and proves that it is the sealed one's and that its rows are what was to be measured.
    ///
    /// - Parameter seal: what the folder's `part.json` says; the files are as it says.
    /// - Throws: `InputErrors` with all that is wrong.
    init(_ folder: String, _ seal: PartSeal) throws(InputErrors) {
        (self.folder, self.seal) = (folder, seal)
        let file = "\(folder)/\(RunFacts.fileName)"
        let mistakes = Mistakes()
        guard let read = mistakes.keepFirst({ () throws(InputError) in try RunFacts.decode(file) }),
            let progress = read.progress, let cells = read.sweep?.cells
        else {
            throw mistakes.gathered
                ?? InputErrors(Self.foreign(file, "sweep", "it does not say what it is a part of", seal))
        }
        (facts, self.progress, self.cells) = (read, progress, cells)
        let claims = [
            ("sweep.sha256", read.sweep?.sha256, seal.sweepSHA256),
            ("sweep.shard", read.sweep?.shard?.description, seal.shard.description),
            ("host", read.host.host, seal.host), ("state", progress.state, RunFacts.Progress.finished),
        ]
        for (member, own, sealed) in claims where own != sealed {
            mistakes.note(Self.foreign(file, member, "its \(member) is \"\(own ?? "")\", and not \"\(sealed)\"", seal))
        }
        let names = read.identity.order.map(PlannedName.init)
        if Set(names.map(\.id)).count != names.count || !Set(names.map { String($0.cellID) }).isSubset(of: cells) {
            mistakes.note(Self.foreign(file, "order", "its samples are not those of its cells, each once", seal))
        }
        try mistakes.check()
        try checkRows(names)
    }

    private static func foreign(
        _ file: String, _ path: String, _ message: String, _ seal: PartSeal
    ) -> InputError {
        InputError(
            file: file, path: path, message: message,
            remedy: "restore it, or remove the part and run its shard \(seal.shard) again")
    }

    /// Every sample is there, of the cell that it shall be of, and was taken by the one machine.
    private func checkRows(_ names: [PlannedName]) throws(InputErrors) {
        let file = "\(folder)/\(SampleRow.fileName)"
        var cells: [Substring: Substring] = [:]
        for name in names { cells[name.id] = name.cellID }
        var done: Set<Substring> = []
        var wrong: InputError?
        var latest: (id: String, planned: Substring) = ("", "")
        let mistakes = Mistakes()
        mistakes.keepFirst { () throws(InputError) in
            try CSVFile.each(SampleRow.self, of: file) { row, _ in
                if wrong != nil { return }
                if row.sampleID != latest.id { latest = (row.sampleID, PlannedSample.repeatedID(of: row.sampleID)) }
                let id = latest.planned
                let isOmission = row.sampleID.hasPrefix("omitted-")
                if row.host != seal.host {
                    wrong = Self.foreign(
                        file, "column host",
                        "the sample \(row.sampleID) is of the machine \"\(row.host)\", the part of \"\(seal.host)\"",
                        seal)
                } else if row.runID != facts.runID || !isOmission && cells[id] != row.cellID[...] {
                    wrong = Self.foreign(
                        file, "column sample_id", "the sample \(row.sampleID) is not one of the part's", seal)
                }
                if row.metric == Metric.status.name, !isOmission { done.insert(id) }
            }
        }
        if let wrong { mistakes.note(wrong) }
        try mistakes.check()
        if let lost = cells.keys.filter({ !done.contains($0) }).min() {
            throw InputErrors(Self.foreign(file, "column sample_id", "the sample \(lost) is missing", seal))
        }
    }

    /// As the merged run's `run.json` has it.
    var merged: RunFacts.MergedPart {
        RunFacts.MergedPart(
            shard: seal.shard.description, startedUTC: facts.startedUTC, endedUTC: progress.endedUTC,
            calibration: facts.calibration, machine: facts.host, cells: cells)
    }
}
