import OpBenchModel

/// The parts of one sweep, checked to be compatible.
public struct PartsMerge: Sendable {
    public let sweepSHA256: String
    /// The workloads recorded in the parts.
    let specs: [WorkloadSpec]
    /// The parts, sorted by shard.
    let parts: [FinishedPart]
    /// Shards without a part here.
    public let missing: [Shard]

    /// The number of parts.
    public var count: Int { parts.count }

    /// The distinct names of the machines.
    public var machines: [String] { Set(parts.map(\.seal.host)).sorted() }

    /// Reads the parts and checks that each is complete, that they belong to one sweep, and that no part or cell
    /// appears twice.
    ///
    /// - Parameters:
    ///   - folders: the folders of the parts.
    ///   - allowsMissing: whether shards may be missing.
    ///   - command: makes a shell command line of the words that measure a shard.
    /// - Throws: `InputErrors` with all mistakes; a missing shard's error has the command that measures it.
    public init(
        _ folders: [String], allowsMissing: Bool, command: (_ words: [String]) -> String
    ) throws(InputErrors) {
        let mistakes = Mistakes()
        var seals: [(folder: String, seal: PartSeal)] = []
        for folder in folders {
            let seal = mistakes.keepFirst { () throws(InputError) in try PartSeal(in: folder) }
            if let seal { seals.append((folder, seal)) }
        }
        guard let first = seals.first?.seal else { throw mistakes.gathered ?? InputErrors(Self.nothing) }
        let areOfOneSweep = Self.checkSweep(seals, mistakes)
        var parts: [FinishedPart] = []
        for (folder, seal) in seals where seal.sweepSHA256 == first.sweepSHA256 && seal.shard.count == first.shard.count
        {
            guard mistakes.keep({ () throws(InputErrors) in try seal.check(in: folder) }) != nil else { continue }
            if let part = mistakes.keep({ () throws(InputErrors) in try FinishedPart(folder, seal) }) {
                parts.append(part)
            }
        }
        parts.sort { $0.seal.shard < $1.seal.shard }
        Self.checkPrograms(of: parts, mistakes)
        self.parts = parts
        sweepSHA256 = first.sweepSHA256
        missing = areOfOneSweep ? Self.missing(seals.map(\.seal.shard), parts, mistakes) : []
        if !allowsMissing, let part = parts.first {
            for shard in missing {
                mistakes.note(
                    InputError(
                        file: "shard \(shard)", message: "its part is missing",
                        remedy: "measure it: \(command(Self.words(for: shard, as: part.facts.arguments)))"))
            }
        }
        try mistakes.check()
        do { specs = try parts[0].facts.decodedWorkloads(of: parts[0].folder) } catch { throw InputErrors(error) }
    }

    private static let nothing = InputError(
        file: "merge", message: "there are no parts", remedy: "name the folders of parts")

    /// The command line of a part, changed to another shard.
    private static func words(for shard: Shard, as arguments: [String]) -> [String] {
        let option = "--shard"
        var words = Array(arguments.dropFirst())
        for (index, word) in words.enumerated() {
            if word == option, index + 1 < words.count { words[index + 1] = shard.description }
            if word.hasPrefix(option + "=") { words[index] = "\(option)=\(shard)" }
        }
        return words
    }

    /// Whether all parts have the first one's sweep and number of shards, and no part appears twice.
    private static func checkSweep(_ parts: [(folder: String, seal: PartSeal)], _ others: Mistakes) -> Bool {
        let mistakes = Mistakes()
        let first = parts[0]
        var folders: [Shard: String] = [:]
        for (folder, seal) in parts {
            if seal.shard.count != first.seal.shard.count {
                mistakes.note(
                    InputError(
                        file: folder,
                        message: "the part is shard \(seal.shard), but \(first.folder) is \(first.seal.shard)",
                        remedy: "merge parts with the same number of shards"))
            } else if seal.sweepSHA256 != first.seal.sweepSHA256 {
                mistakes.note(
                    InputError(
                        file: folder,
                        message:
                            "the part belongs to the sweep \(seal.sweepSHA256.prefix(12)), but \(first.folder) to "
                            + "\(first.seal.sweepSHA256.prefix(12))",
                        remedy: "merge parts with equal workloads and options, measured by the same opbench"))
            } else if let other = folders.updateValue(folder, forKey: seal.shard) {
                mistakes.note(
                    InputError(
                        file: folder, message: "the part is shard \(seal.shard), like \(other)",
                        remedy: "name each shard once"))
            }
        }
        if let gathered = mistakes.gathered { others.note(gathered) }
        return mistakes.gathered == nil
    }

    /// Checks that parts without a common commit have one program.
    private static func checkPrograms(of parts: [FinishedPart], _ mistakes: Mistakes) {
        for part in parts where part.facts.uncommittedProgram != parts[0].facts.uncommittedProgram {
            mistakes.note(
                InputError(
                    file: "\(part.folder)/\(RunFacts.fileName)", path: "$.executable.sha256",
                    message: "another program than in \(parts[0].folder) took the samples",
                    remedy: "run shard \(part.seal.shard) again with the same file, or all with one commit's program"))
        }
    }

    /// The shards without a part. The digest of the sweep covers the contents of all parts, so if it matches without
    /// them, the absent shards have no cells.
    private static func missing(_ present: [Shard], _ parts: [FinishedPart], _ mistakes: Mistakes) -> [Shard] {
        let count = present[0].count
        var cells = [[String]](repeating: [], count: count)
        for part in parts { cells[part.seal.shard.index - 1] = part.cells }
        if Set(cells.joined()).count != cells.reduce(0, { $0 + $1.count }) {
            mistakes.note(
                InputError(
                    file: "merge", message: "two parts have the same cell",
                    remedy: "restore the parts, or run them again"))
        }
        let known = Set(present)
        let absent = (1...count).map { Shard(index: $0, count: count) }.filter { !known.contains($0) }
        guard present.count == parts.count else { return absent }
        let facts = parts[0].facts
        var identity = facts.identity
        identity.order = mergedOrder(of: parts)
        let together = Sweep(
            identity, opbench: facts.opbench, commit: facts.sweep?.commit, limits: facts.limits, builds: facts.builds,
            shards: cells)
        if together.sha256 == parts[0].seal.sweepSHA256 { return [] }
        if present.count == count {
            mistakes.note(
                InputError(
                    file: "merge", message: "the contents of the parts do not match the digest of their sweep",
                    remedy: "restore the parts, or run them again"))
        }
        return absent
    }

    /// The samples of all parts, by their positions in the whole plan.
    static func mergedOrder(of parts: [FinishedPart]) -> [String] {
        parts.flatMap(\.facts.identity.order).map { (index: PlannedName($0).index, text: $0) }
            .sorted { $0.index < $1.index }.map(\.text)
    }
}
