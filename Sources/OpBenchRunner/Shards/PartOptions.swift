import OpBenchModel

/// That a run is a part of a plan, and which.
public struct PartOptions: Sendable {
    public let shard: Shard
    /// The plan's file: each part has a copy of it, so that parts can be merged by themselves.
    let planText: String
    public let planSHA256: String

    public init(_ plan: PlanFile, _ shard: Shard) {
        self.shard = shard
        planText = plan.text
        planSHA256 = plan.sha256
    }

    /// The part's name, and its folder's when it is finished.
    public var name: String { shard.partName(plan: planSHA256) }
}
