/// One phase of a sequence, as a file gives it.
public struct Phase: Sendable, Hashable {
    public var name: String
    public var shape: Shape
    /// The parameters that the file names.
    public var values: [String: ParameterValue]

    public init(name: String, shape: Shape, values: [String: ParameterValue]) {
        (self.name, self.shape, self.values) = (name, shape, values)
    }

    /// The most phases of a sequence, and the longest name.
    static let countLimit = 16
    static let nameLimit = 32
}

extension Phase: CustomStringConvertible {
    /// As in `cell_id`: `trickle:wakeup/operations:100/pause_ns:100000`.
    public var description: String {
        (["\(name):\(shape.rawValue)"] + values.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" })
            .joined(separator: "/")
    }
}
