/// Promises of a backend beyond running each operation once and after its predecessors, which every backend must do.
/// Only a broken promise makes a sample `invalid`. For backends without the promise, the same figures are only
/// reported.
///
/// A plan names the promises that its shape is about. A backend without them does something else, so its time is not
/// comparable: its samples have the flag `unpromised`.
package struct BackendGuarantees: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Never runs more operations at once than an explicit limit allows.
    package static let limit = BackendGuarantees(rawValue: 1)
    /// At limit 1, never starts an operation before a more urgent one that is ready.
    package static let priorityOrder = BackendGuarantees(rawValue: 2)
    /// Starts at most one operation per running slot after suspend has returned.
    package static let suspension = BackendGuarantees(rawValue: 4)
    /// Never runs an operation at a lower nice value than one of higher thread priority, and runs operations of
    /// priority 0.25 and less above the process's nice value.
    package static let threadPriorities = BackendGuarantees(rawValue: 8)
}

/// The side that keeps operations in order, in chains, graphs and refilled queues: the queue or the bodies. Ratios are
/// taken within an axis, because programs on the two axes do different things to get the same order.
public enum Axis: String, Sendable, Hashable, CaseIterable {
    /// The queue, which gets the order as dependencies, completion blocks, barriers or groups. The queue or its library
    /// holds the waiting operations.
    case declared
    /// The bodies: the last predecessor of an operation submits it.
    case byHand = "by_hand"

    /// The name for people.
    package var words: String { self == .declared ? "declared" : "by hand" }

    package var flag: SampleFlag { self == .declared ? .declared : .byHand }
}

extension Axis {
    /// The axis that the flags of samples name; nil if no operation follows another.
    package init?(_ flags: [SampleFlag]) {
        guard let named = Self.allCases.first(where: { flags.contains($0.flag) }) else { return nil }
        self = named
    }
}
