/// Classes that figures are told apart by: priority levels, thread priority values, or roles.
public struct OperationClasses: Sendable, Equatable {
    /// `priority`, `thread_priority` or `role`.
    public var label: String
    /// In ascending order of urgency.
    public var keys: [String]
    /// The raw queue priority, or the thread priority, of each class.
    public var values: [Double]
    /// The class of each operation.
    public var ofOperation: [UInt8]

    /// As written in the column `class`.
    public func name(_ index: Int) -> String { "\(label)=\(keys[index])" }
}

extension OperationClasses {
    /// Draws a class for every operation by weight. A weight of 0 leaves a class out.
    init(label: String, levels: [(key: String, value: Double, weight: Double)], operations: Int, seed: Int) {
        let used = levels.filter { $0.weight > 0 }
        let total = used.reduce(0) { $0 + $1.weight }
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var drawn: [UInt8] = []
        drawn.reserveCapacity(operations)
        for _ in 0..<operations {
            var rest = generator.unit() * total
            var index = 0
            while index < used.count - 1, rest >= used[index].weight {
                rest -= used[index].weight
                index += 1
            }
            drawn.append(UInt8(index))
        }
        self.init(label: label, keys: used.map(\.key), values: used.map(\.value), ofOperation: drawn)
    }
}
