/// Promises of a backend beyond running each operation once and after its predecessors, which all must do. Only a
/// broken promise makes a sample `invalid`. For backends without the promise, the same figures are only reported.
///
/// A plan names the promises that its shape is about. A backend without them does something else, and a comparison of
/// its time means nothing: its samples have the flag `unpromised`.
package struct Guarantees: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Never runs more operations at once than an explicit limit allows.
    package static let limit = Guarantees(rawValue: 1)
    /// At limit 1, never starts an operation before a more urgent one that is ready.
    package static let priorityOrder = Guarantees(rawValue: 2)
    /// Starts at most one operation per running slot after suspend has returned.
    package static let suspension = Guarantees(rawValue: 4)
    /// Never runs an operation at a lower nice value than one of higher thread priority, and runs those of 0.25 and
    /// less above the process's nice value.
    package static let threadPriorities = Guarantees(rawValue: 8)
}
