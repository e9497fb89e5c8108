/// What a workload does, by its name in workload files and rows. Each shape has its own parameters (`ShapeDefinition`).
///
/// A shape's file declares its name, and the list of shapes (`ShapeDefinition.all`) says which there are.
public struct Shape: Sendable, Hashable, Codable {
    public let rawValue: String

    /// - Parameter name: in small letters, digits and underscores.
    package init(_ name: String) { rawValue = name }
}
