import OpBenchModel

/// The parts of one sweep, found to go together.
public struct PartsMerge: Sendable {
    public let sweepSHA256: String
    /// As the parts have them.
    public let specs: [WorkloadSpec]
    /// `base` and `head` where two builds were compared; else none.
    public let sides: [Side]
    /// By their shards.
    let parts: [FinishedPart]
    /// Shards that have no part here.
    public let missing: [Shard]

    /// How many parts there are.
    public var count: Int { parts.count }

    /// The names of the machines, each once.
    public var machines: [String] { Set(parts.map(\.seal.host)).sorted() }

    /// Reads the parts and checks that they are whole, of one sweep, each there once, and each cell of one machine.
    ///
    /// - Parameters:
    ///   - folders: the parts'.
    ///   - allowsMissing: whether shards may be missing.
    ///   - command: the line for a shell, of the words that measure a shard.
    /// - Throws: `InputErrors` with all that is wrong; a missing shard with the command that measures it.
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
        self.parts = parts
        sweepSHA256 = first.sweepSHA256
        missing = areOfOneSweep ? Self.missing(seals.map(\.seal.shard), parts, mistakes) : []
        if !allowsMissing, let part = parts.first {
            for shard in missing {
                mistakes.note(
                    InputError(
                        file: "shard \(shard)", message: "there is no finished part of it",
                        remedy: "to measure it: \(command(Self.words(for: shard, as: part.facts.arguments)))"))
            }
        }
        try mistakes.check()
        let facts = parts[0].facts
        sides = facts.builds == nil ? [] : Side.allCases
        do { specs = try facts.decodedWorkloads(of: parts[0].folder) } catch { throw InputErrors(error) }
    }

    private static let nothing = InputError(file: "merge", message: "no part", remedy: "name the folders of parts")

    /// The command line of a part, for another shard.
    private static func words(for shard: Shard, as arguments: [String]) -> [String] {
        let option = "--shard"
        var words = Array(arguments.dropFirst())
        for (index, word) in words.enumerated() {
            if word == option, index + 1 < words.count { words[index + 1] = shard.description }
            if word.hasPrefix(option + "=") { words[index] = "\(option)=\(shard)" }
        }
        return words
    }

    /// Whether all are of the first one's sweep and number of shards, and none is there twice.
    private static func checkSweep(_ parts: [(folder: String, seal: PartSeal)], _ others: Mistakes) -> Bool {
        let mistakes = Mistakes()
        let first = parts[0]
        var folders: [Shard: String] = [:]
        for (folder, seal) in parts {
            if seal.shard.count != first.seal.shard.count {
                mistakes.note(
                    InputError(
                        file: folder,
                        message: "the part is shard \(seal.shard), \(first.folder) is \(first.seal.shard)",
                        remedy: "merge the parts of one number of shards"))
            } else if seal.sweepSHA256 != first.seal.sweepSHA256 {
                mistakes.note(
                    InputError(
                        file: folder,
                        message:
                            "the part is of the sweep \(seal.sweepSHA256.prefix(12)), \(first.folder) of the sweep "
                            + "\(first.seal.sweepSHA256.prefix(12))",
                        remedy: "merge parts of equal workloads and options, measured by one opbench"))
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

    /// The shards that have no part. What all parts hold together has the digest that names the sweep; so nothing is missing
    /// where the others have no cell.
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
                    file: "merge", message: "what the parts hold together is not the sweep that they name",
                    remedy: "restore the parts, or run them again"))
        }
        return absent
    }

    /// The samples of all parts, by their places in the whole.
    static func mergedOrder(of parts: [FinishedPart]) -> [String] {
        parts.flatMap(\.facts.identity.order).map { (index: PlannedName($0).index, text: $0) }
            .sorted { $0.index < $1.index }.map(\.text)
    }
}
