/// What a backend promises beyond running each operation once and after its predecessors, to which all are bound. Only
/// a broken promise makes a sample `invalid`; of the others the same figures are reported, no more.
///
/// A plan names those that its shape is about. A backend that does not give them does something else, and how its time
/// compares says nothing: its samples have the flag `unpromised`.
package struct Guarantees: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Never more operations at once than an explicit limit.
    package static let limit = Guarantees(rawValue: 1)
    /// At limit 1, never past a more urgent operation that is ready.
    package static let priorityOrder = Guarantees(rawValue: 2)
    /// After suspend has returned, at most one start per running slot.
    package static let suspension = Guarantees(rawValue: 4)
    /// Never at a lower nice value than an operation of higher thread priority; those of 0.25 and less above the process's.
    package static let threadPriorities = Guarantees(rawValue: 8)
}
