import OpBenchModel

/// A finished part of a sweep that is complete.
struct FinishedPart: Sendable {
    let folder: String
    let seal: PartSeal
    let facts: RunFacts
    let progress: RunFacts.Progress
    /// The ids of its cells, sorted, including cells where nothing could be measured.
    let cells: [String]

    /// Reads a part's description, and checks that it matches the seal and that its rows are the planned ones.
    ///
    /// - Parameter seal: the contents of the folder's `part.json`; the files have been checked against it.
    /// - Throws: `InputErrors` with all mistakes.
    init(_ folder: String, _ seal: PartSeal) throws(InputErrors) {
        (self.folder, self.seal) = (folder, seal)
        let file = "\(folder)/\(RunFacts.fileName)"
        let mistakes = Mistakes()
        guard let read = mistakes.keepFirst({ () throws(InputError) in try RunFacts.decode(file) }),
            let progress = read.progress, let cells = read.sweep?.cells
        else {
            throw mistakes.gathered
                ?? InputErrors(Self.foreign(file, "sweep", "it does not record its sweep", seal))
        }
        (facts, self.progress, self.cells) = (read, progress, cells)
        let claims = [
            ("sweep.sha256", read.sweep?.sha256, seal.sweepSHA256),
            ("sweep.shard", read.sweep?.shard?.description, seal.shard.description),
            ("host.name", read.host.host, seal.host), ("progress.state", progress.state.rawValue, "finished"),
        ]
        for (member, own, sealed) in claims where own != sealed {
            mistakes.note(Self.foreign(file, member, "its \(member) is \"\(own ?? "")\", not \"\(sealed)\"", seal))
        }
        let names = read.identity.order.map(PlannedName.init)
        if Set(names.map(\.id)).count != names.count || !Set(names.map { String($0.cellID) }).isSubset(of: cells) {
            mistakes.note(Self.foreign(file, "plan.order", "its samples do not match its cells", seal))
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

    /// Checks that every sample is there, belongs to its planned cell, and was taken by the sealed machine.
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
                        "the sample \(row.sampleID) is from the machine \"\(row.host)\", the part from \"\(seal.host)\"",
                        seal)
                } else if row.runID != facts.runID || !isOmission && cells[id] != row.cellID[...] {
                    wrong = Self.foreign(
                        file, "column sample_id", "the sample \(row.sampleID) does not belong to the part", seal)
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

    /// The part's entry in the merged run's `run.json`.
    var merged: RunFacts.MergedPart {
        RunFacts.MergedPart(
            shard: seal.shard.description, startedUTC: facts.startedUTC, endedUTC: progress.endedUTC,
            calibration: facts.calibration, machine: facts.host, cells: cells)
    }
}
