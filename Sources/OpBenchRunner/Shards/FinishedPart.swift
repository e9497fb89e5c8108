import OpBenchModel

/// A finished part of a plan, found to be whole.
struct FinishedPart: Sendable {
    let folder: String
    let seal: PartSeal
    let manifest: RunManifest
    let progress: RunManifest.Progress
    /// The ids of its cells, sorted; those of which nothing could be measured as well.
    let cells: [String]

    /// Reads a part's description, and proves that it is of the plan and that its files are what was measured.
    ///
    /// - Parameters:
    ///   - seal: what the folder's `part.json` says.
    ///   - plan: the part's.
    /// - Throws: `InputErrors` with all that is wrong.
    init(_ folder: String, _ seal: PartSeal, of plan: PlanFile) throws(InputErrors) {
        (self.folder, self.seal, cells) = (folder, seal, plan.cells(of: seal.shard).sorted())
        let file = "\(folder)/\(RunManifest.fileName)"
        let mistakes = Mistakes()
        guard let read = mistakes.keepFirst({ () throws(InputError) in try RunManifest.readWithProgress(file) }),
            let progress = read.progress
        else {
            throw mistakes.gathered
                ?? InputErrors(Self.foreign(file, "progress", "it does not say how far it has come", seal))
        }
        (manifest, self.progress) = (read.manifest, progress)
        let claims = [
            ("plan_sha256", manifest.planSHA256, seal.planSHA256), ("shard", manifest.shard, seal.shard.description),
            ("host", manifest.host.host, seal.host), ("state", progress.state, RunManifest.Progress.finished),
        ]
        for (member, own, sealed) in claims where own != sealed {
            mistakes.note(Self.foreign(file, member, "its \(member) is \"\(own ?? "")\", and not \"\(sealed)\"", seal))
        }
        checkOrder(file, plan, mistakes)
        try mistakes.check()
        try checkRows()
    }

    private static func foreign(
        _ file: String, _ path: String, _ message: String, _ seal: PartSeal
    ) -> InputError {
        InputError(
            file: file, path: path, message: message,
            remedy: "restore it, or remove the part and run its shard \(seal.shard) again")
    }

    /// The cells and the number of samples are those that the plan gives to the shard.
    private func checkOrder(_ file: String, _ plan: PlanFile, _ mistakes: Mistakes) {
        let ids = Set(cells)
        let planned = plan.cells.filter { ids.contains($0.id) && $0.samples > 0 }
        let names = manifest.identity.order.map(PlannedName.init)
        guard Set(names.map { String($0.cellID) }) == Set(planned.map(\.id)),
            Set(names.map(\.id)).count == names.count, names.count == planned.reduce(0, { $0 + $1.samples })
        else {
            mistakes.note(
                Self.foreign(file, "order", "its samples are not those of shard \(seal.shard) of the plan", seal))
            return
        }
    }

    /// Every sample is there, of the cell that it shall be of, and was taken by the one machine.
    private func checkRows() throws(InputErrors) {
        let file = "\(folder)/\(SampleRow.fileName)"
        var cells: [Substring: Substring] = [:]
        for name in manifest.identity.order.map(PlannedName.init) { cells[name.id] = name.cellID }
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
                } else if row.runID != manifest.runID || !isOmission && cells[id] != row.cellID[...] {
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

    /// As the merged run tells of it.
    var merged: MergedPart {
        MergedPart(
            shard: seal.shard.description, startedUTC: manifest.startedUTC, endedUTC: progress.endedUTC,
            calibration: manifest.calibration, machine: manifest.host,
            cells: cells)
    }
}
