import OpBenchModel

/// The parts of one plan, found to go together.
public struct PartsMerge: Sendable {
    public let plan: PlanFile
    /// By their shards.
    let parts: [FinishedPart]
    /// Shards that have cells, and no part here.
    public let missing: [Shard]

    /// How many parts there are.
    public var count: Int { parts.count }

    /// The names of the machines, each once.
    public var machines: [String] { Set(parts.map(\.seal.host)).sorted() }

    /// How the command that measures a shard is told.
    public typealias Rerun = (_ shard: Shard, _ planFile: String, _ output: String) -> String

    /// Reads the parts and checks that they are whole, of one plan, each there once, and each cell of one machine.
    ///
    /// - Parameters:
    ///   - folders: the parts'.
    ///   - allowsMissing: whether shards may be missing.
    /// - Throws: `InputErrors` with all that is wrong; a missing shard with the command that measures it.
    public init(_ folders: [String], allowsMissing: Bool, rerun: Rerun) throws(InputErrors) {
        let mistakes = Mistakes()
        var seals: [(folder: String, seal: PartSeal)] = []
        for folder in folders {
            let seal = mistakes.keep { () throws(InputErrors) in
                try PartSeal(in: folder, requiring: PartFolder.required)
            }
            if let seal { seals.append((folder, seal)) }
        }
        guard let first = seals.first else { throw mistakes.gathered ?? InputErrors(Self.nothing) }
        let belongTogether = Self.belongTogether(seals, mistakes)
        var intact: [(folder: String, seal: PartSeal)] = []
        for part in seals where mistakes.keep({ () throws(InputErrors) in try part.seal.check(in: part.folder) }) != nil
        {
            intact.append(part)
        }
        // Of parts of one plan the first intact one tells it.
        let planned = intact.first.flatMap { part in
            mistakes.keep { () throws(InputErrors) in try Self.plan(of: part.folder, part.seal) }
        }
        var parts: [FinishedPart] = []
        if let planned {
            for part in intact where part.seal.planSHA256 == planned.sha256 {
                let read = mistakes.keep { () throws(InputErrors) in
                    try FinishedPart(part.folder, part.seal, of: planned)
                }
                if let read { parts.append(read) }
            }
        }
        Self.checkPrograms(parts, mistakes)
        let present = Set(seals.filter { $0.seal.planSHA256 == first.seal.planSHA256 }.map(\.seal.shard))
        missing = planned.map { Self.missing(of: $0, first.seal.shard.count, present) } ?? []
        if !allowsMissing, belongTogether, let intact = intact.first {
            for shard in missing {
                let output = WrittenFolder.holding(WrittenFolder.withoutSlashes(intact.folder))
                let command = rerun(shard, "\(intact.folder)/\(PlanFile.fileName)", output)
                mistakes.note(
                    InputError(
                        file: "shard \(shard)", message: "there is no finished part of it",
                        remedy: "to measure it: \(command)"))
            }
        }
        try mistakes.check()
        plan = planned!
        self.parts = parts.sorted { $0.seal.shard < $1.seal.shard }
    }

    private static let nothing = InputError(file: "merge", message: "no part", remedy: "name the folders of parts")

    /// Whether all are of the first one's plan and number of shards, and none is there twice.
    private static func belongTogether(
        _ parts: [(folder: String, seal: PartSeal)], _ others: Mistakes
    ) -> Bool {
        let mistakes = Mistakes()
        let first = parts[0]
        var folders: [Shard: String] = [:]
        for (folder, seal) in parts {
            if seal.planSHA256 != first.seal.planSHA256 {
                mistakes.note(
                    InputError(
                        file: folder,
                        message: "the part is of the plan \(seal.planSHA256.prefix(12)), \(first.folder) of the plan "
                            + "\(first.seal.planSHA256.prefix(12))",
                        remedy: "merge the parts of one plan"))
            } else if seal.shard.count != first.seal.shard.count {
                mistakes.note(
                    InputError(
                        file: folder,
                        message: "the part is shard \(seal.shard), \(first.folder) is \(first.seal.shard)",
                        remedy: "merge the parts of one number of shards"))
            } else if let other = folders.updateValue(folder, forKey: seal.shard) {
                mistakes.note(
                    InputError(
                        file: folder, message: "the part is shard \(seal.shard), and so is \(other)",
                        remedy: "name each shard once"))
            }
        }
        if let gathered = mistakes.gathered { others.note(gathered) }
        return mistakes.gathered == nil
    }

    private static func plan(of folder: String, _ seal: PartSeal) throws(InputErrors) -> PlanFile {
        let file = "\(folder)/\(PlanFile.fileName)"
        let plan = try PlanFile.load(file: file, for: nil)
        guard plan.sha256 == seal.planSHA256 else {
            throw InputErrors(
                InputError(
                    file: file, message: "the plan is \(plan.sha256.prefix(12)), and the part of another one",
                    remedy: "restore it, or remove the part and run its shard \(seal.shard) again"))
        }
        return plan
    }

    /// A plan may have been made by a build that does not know its commit; the parts' programs may know theirs.
    private static func checkPrograms(_ parts: [FinishedPart], _ mistakes: Mistakes) {
        func commit(_ part: FinishedPart) -> String? { part.manifest.executable?.description.commit }
        guard let known = parts.first(where: { commit($0) != nil }) else { return }
        for part in parts where commit(part) != nil && commit(part) != commit(known) {
            mistakes.note(
                InputError(
                    file: part.folder,
                    message:
                        "the part was measured by the opbench of commit \(commit(part) ?? ""), \(known.folder) by that of "
                        + "\(commit(known) ?? "")",
                    remedy: "measure all parts by one opbench"))
        }
    }

    /// A shard without cells is not missed.
    private static func missing(of plan: PlanFile, _ count: Int, _ present: Set<Shard>) -> [Shard] {
        plan.balance(count: count).shards.enumerated().compactMap { offset, shard in
            let name = Shard(index: offset + 1, count: count)
            return shard.cellIDs.isEmpty || present.contains(name) ? nil : name
        }
    }
}
