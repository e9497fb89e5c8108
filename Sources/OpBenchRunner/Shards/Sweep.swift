import Foundation
import OpBenchModel

/// What all parts of a sweep have in common: everything that decides what is measured, and which cells each shard has. Its
/// digest names the sweep, so that parts that differ in any of it are never merged.
///
/// It holds nothing of a machine or a time, and every list in it has an order: the same workloads, options, number of shards
/// and opbench make the same sweep anywhere.
struct Sweep: Encodable {
    var opbench: OpBenchFacts?
    /// Of the program that measures; nil where it does not say, and where two builds are compared.
    var commit: String?
    var seed: UInt64
    var isQuick: Bool
    var timeoutNanoseconds: Int64
    var memoryBytes: Int?
    /// Name and digest, in the order of the files.
    var workloads: [[String]]
    /// The digests of the two builds, and what `head` is made worse by.
    var builds: [String]
    /// The samples, as `run.json` lists them.
    var order: [String]
    /// The ids of the cells of each shard, sorted.
    var shards: [[String]]

    init(
        _ identity: RunFacts.Identity, opbench: OpBenchFacts?, commit: String?, limits: SampleLimits,
        builds: ComparedBuilds?, shards: [[String]]
    ) {
        (self.opbench, self.commit, self.shards) = (opbench, commit, shards)
        (seed, isQuick, timeoutNanoseconds) = (identity.seed, identity.isQuick, identity.timeoutNanoseconds)
        memoryBytes = limits.memoryBytes
        workloads = identity.workloads.map { [$0.name, $0.sha256] }
        self.builds =
            builds.map { builds in
                let injected = builds.injected
                return [
                    builds.base.sha256 ?? "", builds.head.sha256 ?? "", "\(injected.slowdown)",
                    "\(injected.allocations)",
                ]
            } ?? []
        order = identity.order
    }

    /// 64 hexadecimal digits.
    var sha256: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and whole numbers, which always have a form in JSON.
        return SHA256.hexadecimal(of: Array(try! encoder.encode(self)))
    }
}

extension RunPlan {
    /// The part of the plan that a shard is. The cells of all shards follow from the plan and their number alone.
    ///
    /// Samples keep the ids and places that they have in the whole. Counts get the blocks of every memory sample and no more,
    /// so that each sample of the part is known beforehand.
    public func part(_ shard: Shard) -> RunPlan {
        let shards = shards(shard.count)
        let commit = options.builds == nil ? BuildDescription.own.commit : nil
        let own = Set(shards[shard.index - 1])
        var whole = self
        whole.keep { _ in true }
        let sweep = Sweep(
            RunFacts.identity(of: whole), opbench: .own, commit: commit, limits: options.limits,
            builds: options.builds, shards: shards)
        var part = self
        part.keep { own.contains($0.id) }
        let sha256 = sweep.sha256
        part.options.sweep = SweepFacts(sha256: sha256, commit: commit, shard: shard, cells: shards[shard.index - 1])
        part.options.runID = shard.partName(sweep: sha256)
        return part
    }

    /// The ids of the cells of each shard, sorted.
    private func shards(_ count: Int) -> [[String]] {
        var costs: [String: Int64] = [:]
        for sample in samples {
            costs[sample.cell.id, default: 0].addClamped(
                Int64((SampleEstimate.seconds(of: sample, options) * 1e9).rounded()))
        }
        let balance = ShardBalance(cells.map { ($0.id, costs[$0.id] ?? 0) }, count: count)
        return balance.shards.map { $0.cellIDs.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    }
}
