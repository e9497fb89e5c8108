/// The side that keeps operations in order, in chains, graphs and refilled queues: the queue or the bodies. Ratios are taken
/// within an axis: on the two, programs do different things for the same order.
public enum Axis: String, Sendable, Hashable, CaseIterable {
    /// The queue, which was told: by dependencies, completion blocks, barriers or groups. The queue or its library holds what
    /// waits.
    case declared
    /// The bodies: the last of those that an operation waits for submits it.
    case byHand = "by_hand"

    /// For people.
    package var words: String { self == .declared ? "declared" : "by hand" }
}

extension Axis {
    /// The axis that the flags of samples name; nil where no operation follows another, or the phases of a sequence differ.
    package init?(_ flags: [String]) {
        let named = Self.all(in: flags)
        guard named.count == 1 else { return nil }
        self = named[0]
    }

    /// All that the flags of samples name.
    package static func all(in flags: [String]) -> [Axis] { allCases.filter { flags.contains($0.rawValue) } }
}

extension WorkloadPlan {
    /// Whether operations follow one another.
    package var isOrdered: Bool { chains != nil || graph != nil || isRefill }
}
