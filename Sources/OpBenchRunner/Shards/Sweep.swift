import Foundation
import OpBenchModel

/// The common properties of all parts of a sweep: everything that decides what is measured, and the cells of each
/// shard. Its digest names the sweep, so parts that differ in any of it are never merged.
///
/// It contains nothing about machines or times, and all its lists are ordered: the same workloads, options, number of
/// shards and opbench make the same sweep anywhere.
struct Sweep: Encodable {
    var opbench: OpBenchFacts?
    /// The commit of the measuring program; nil if not recorded, and if two builds are compared.
    var commit: String?
    var seed: UInt64
    var isQuick: Bool
    var timeoutNanoseconds: Int64?
    var memoryBytes: Int?
    /// Names and digests, in the order of the files.
    var workloads: [[String]]
    /// The digests of the two builds, and the defect injected into `head`.
    var builds: [String]
    /// The samples, as listed in `run.json`.
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

    /// The digest: 64 hexadecimal digits.
    var sha256: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and whole numbers can always be encoded as JSON.
        return SHA256.hexadecimal(of: Array(try! encoder.encode(self)))
    }
}

extension RunPlan {
    /// A shard's part of the plan. The cells of all shards depend only on the plan and the number of shards.
    ///
    /// Samples keep their ids and positions. Counts get only the blocks of every memory sample, so that all samples of
    /// the part are known beforehand.
    ///
    /// - Parameter builds: the two builds; nil for one program.
    public func part(_ shard: Shard, of builds: ComparedBuilds? = nil) -> RunPlan {
        let shards = shards(shard.count)
        let commit = builds == nil ? BuildDescription.own.commit : nil
        let own = Set(shards[shard.index - 1])
        var whole = self
        whole.keep { _ in true }
        let sweep = Sweep(
            RunFacts.identity(of: whole), opbench: .own, commit: commit, limits: options.limits,
            builds: builds, shards: shards)
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
                Int64((options.estimate(of: sample) * 1e9).rounded()))
        }
        let balance = ShardBalance(cells.map { ($0.id, costs[$0.id] ?? 0) }, count: count)
        return balance.shards.map { $0.cellIDs.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    }
}
