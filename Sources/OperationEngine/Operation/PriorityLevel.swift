/// The index of a queue priority, from 0 (very low) to 4 (very high), and one level above them.
struct PriorityLevel: Equatable {
    let rawValue: UInt8

    /// Cancelled operations that finish without main and take no slot (contract J9).
    static let slotless = PriorityLevel(rawValue: 5)
    static let normal = PriorityLevel(rawValue: 2)
    static let lowest = PriorityLevel(rawValue: 0)
}
