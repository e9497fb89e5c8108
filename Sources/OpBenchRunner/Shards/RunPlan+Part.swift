import Foundation
import OpBenchModel

extension RunPlan {
    /// A shard's part of the plan. The cells of all shards depend only on the plan and the number of shards.
    ///
    /// Samples keep their ids and positions. Counts get only the blocks of every memory sample, so that all samples of
    /// the part are known beforehand.
    ///
    /// - Parameter builds: the two builds; nil for one program.
    public func part(_ shard: Shard, of builds: ComparedBuilds? = nil) -> RunPlan {
        var whole = self
        whole.keep { _ in true }
        var costs: [String: Double] = [:]
        for sample in samples { costs[sample.cell.id, default: 0] += options.estimate(of: sample) }
        let dearest = cells.map { (cost: costs[$0.id] ?? 0, id: $0.id) }.sorted { ($1.cost, $0.id) < ($0.cost, $1.id) }
        let own = shard.share(of: dearest).map(\.id).sorted()
        var part = whole
        let isOwn = Set(own)
        part.keep { isOwn.contains($0.id) }
        let sweep = RunFacts.sweep(of: whole, builds)
        (part.sweep, part.shard) = (sweep, ShardFacts(part: shard, cells: own, allCells: cells.count))
        part.options.runID = shard.partName(sweep: sweep)
        return part
    }
}

extension RunFacts {
    /// The name of a sweep: the digest of everything that decides what is measured, so that parts which differ in any of
    /// it are never merged. It contains nothing about machines or times: the same workloads, options and opbench give
    /// the same name anywhere.
    ///
    /// - Parameters:
    ///   - plan: the whole plan.
    ///   - builds: the two builds; nil for one program.
    fileprivate static func sweep(of plan: RunPlan, _ builds: ComparedBuilds?) -> String {
        var identity = identity(of: plan)
        for index in identity.workloads.indices {
            // The path is the machine's, and the text has a digest.
            (identity.workloads[index].file, identity.workloads[index].text) = ("", "")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and whole numbers can always be encoded as JSON.
        var words: [String?] = [
            String(decoding: try! encoder.encode(identity), as: UTF8.self),
            OpBenchFacts.own.version, OpBenchFacts.own.commit,
        ]
        if let builds {
            let injected = builds.injected
            words += [builds.base.sha256, builds.head.sha256, "\(injected.slowdown)", "\(injected.allocations)"]
        } else {
            words.append(BuildDescription.own.commit)
        }
        return SHA256.hexadecimal(of: Array(words.map { $0 ?? "" }.joined(separator: "\n").utf8))
    }

    /// The name of the program that took a part's samples; nil if a commit names it.
    var uncommittedProgram: String? {
        if let commit = executable?.description.commit, !commit.hasSuffix("-dirty") { return nil }
        return executable?.identity
    }
}
